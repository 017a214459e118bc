"""The command line: ``blanketflow inspect``, ``init``, ``select``, ``compare``, ``run``, ``export``, ``list``...

Related commands share a file. All output goes through `terminal`. Slow packages are imported inside the commands.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

_HELP = """Feature selection by Markov blankets.

Start with `blanketflow inspect data.csv --target y`.

Exit codes: 0 done, 1 failed (a message on stderr says why), 2 wrong usage. The command run returns Snakemake's code.
"""
#: Exit codes; `run` returns that of Snakemake.
DONE, FAILED, WRONG_USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 success, 1 failure, 2 wrong usage."""
    from ..core.errors import BlanketflowError
    from ..core.folders import OF_THE_DISK, not_written
    from ..core.messages import warnings_told
    from ..workflow.jobs import fewer_collections
    from .terminal import complain, complain_of, note, show_anything

    show_anything()
    try:
        with fewer_collections(), warnings_told(note):
            make_app()(args=[*(sys.argv[1:] if arguments is None else arguments)], prog_name="blanketflow")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else (DONE if ended.code is None else FAILED)
    except BlanketflowError as error:
        complain_of(error)
        return FAILED
    except OSError as error:
        if error.errno not in OF_THE_DISK:
            raise
        complain(str(not_written(error.filename or "a file", error)))
        return FAILED
    except MemoryError as error:
        complain(f"there is not enough memory ({error}). Use fewer rows, columns or repeats, or a larger machine.")
        return FAILED
    except KeyboardInterrupt:
        complain("stopped.")
        return 128 + 2  # the exit code that a shell reports for a command ended by SIGINT
    return DONE


def make_app() -> typer.Typer:
    """Return the application, with commands in the order in which a new user needs them.

    Its help is formatted with rich in a terminal and plain text elsewhere.
    """
    from . import compare, count_and_merge, discover, init, inspect, list_and_explain, results, run, select
    from .options import Repeated
    from .terminal import is_terminal

    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if is_terminal() else None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    app.command("inspect", cls=Repeated)(inspect.inspect)
    app.command("init", cls=Repeated)(init.init)
    app.command("select", cls=Repeated)(select.select)
    app.command("discover", cls=Repeated)(discover.discover)
    app.command("compare", cls=Repeated)(compare.compare)
    app.command("count", cls=Repeated)(count_and_merge.count)
    app.command("merge", cls=Repeated)(count_and_merge.merge)
    app.command("run", cls=run.PassedOn)(run.run)
    app.command("deploy")(init.deploy)
    app.command("check")(results.check)
    app.command("diff")(results.diff)
    app.command("export")(results.export)
    app.command("list")(list_and_explain.list_all)
    app.command("explain")(list_and_explain.explain)
    return app


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=lambda v: _version(v)),
    ] = False,
) -> None:
    """Options of the application."""


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        print(f"blanketflow {__version__}")
        raise typer.Exit
