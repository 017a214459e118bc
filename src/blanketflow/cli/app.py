"""The application: its commands, in the order in which a new user needs them."""

from __future__ import annotations

from typing import Annotated

import typer

from . import check, compare, count, deploy, diff, export, init, inspect, list_and_explain, merge, run, select
from .options import Repeated
from .terminal import is_terminal

_HELP = """Feature selection by Markov blankets.

Start with `blanketflow inspect data.csv --target y`.

Exit codes: 0 done, 1 failed (a message on stderr says why), 2 wrong usage. The command run returns Snakemake's code.
"""


def make_app() -> typer.Typer:
    """Return the application. Its help is formatted with rich in a terminal and is plain text elsewhere."""
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
    app.command("compare", cls=Repeated)(compare.compare)
    app.command("count", cls=Repeated)(count.count)
    app.command("merge", cls=Repeated)(merge.merge)
    app.command("run", cls=run.PassedOn)(run.run)
    app.command("deploy")(deploy.deploy)
    app.command("check")(check.check)
    app.command("diff")(diff.diff)
    app.command("export")(export.export)
    app.command("list")(list_and_explain.list_all)
    app.command("explain")(list_and_explain.explain)
    return app


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=lambda v: _version(v)),
    ] = False,
) -> None:
    """Options of the application itself."""


def _version(asked: bool) -> None:
    if asked:
        from .. import __version__

        print(f"blanketflow {__version__}")
        raise typer.Exit
