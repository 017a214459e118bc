"""Commands on results: ``check`` against the config, ``diff`` of two folders, ``export`` of a blanket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import BlanketflowError, ConfigError, closest
from .options import AsJson, files
from .terminal import complain, heading, note, pour, show, show_json

if TYPE_CHECKING:
    from ..workflow.difference import Change


def check(
    configfile: Annotated[
        Path | None, typer.Option(help="the config (default: that of this folder)", autocompletion=files)
    ] = None,
    deep: Annotated[bool, typer.Option("--deep", help="read all content, also of files that have not changed")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="delete what is stale, damaged or left over")] = False,
) -> None:
    """List results that do not match the config.

    Compares the folder of results with the config as a run does before it starts, and lists what is missing, stale,
    damaged, misplaced, left over from removed selectors, or not made by blanketflow. The exit code is then 1.
    """
    from ..config.file import read_config_file
    from ..core.errors import BlanketflowError
    from ..workflow.output_folder import foreign_files
    from ..workflow.packaged_files import workflow_file
    from ..workflow.plan import make_plan
    from ..workflow.up_to_date import REASONS, check, left_over
    from .options import config_here

    configfile = configfile or config_here()
    plan = make_plan(read_config_file(configfile), Path(workflow_file("scripts")).joinpath)
    found = check(plan, plan.config.output, keep=not remove, deep=deep)
    left = left_over(plan, plan.config.output)
    foreign = [] if plan.config.allow_foreign_files else foreign_files(plan.config.output)
    for path in sorted(found.missing):
        show(f"{path}: missing")
    for path, reason in sorted(found.again.items()):
        show(f"{path}: {REASONS[reason]}")
    for path in found.foreign:
        show(f"{path}: of another program")
    for path in left:
        show(f"{path}: left over")
    for name in foreign:
        show(f"{plan.config.output}/{name}: not made by blanketflow")
    wrong = [*found.again, *left]
    if not (wrong or found.foreign or found.missing or foreign):
        note(f"{plan.config.output} holds {found.n_standing} results, all as {configfile} asks.")
        return
    if remove:
        for path in wrong:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise BlanketflowError(f"{path} cannot be removed ({error.strerror}).") from error
        note(f"{len(wrong)} files removed.")
    if found.missing:
        note(f"{len(found.missing)} files are missing. A run makes them.")
    found.refuse()
    if found.missing or foreign or not remove:
        raise typer.Exit(1)


# --- blanketflow diff: what changed between two folders of results ----------------------------------------------------

#: Largest number of printed changes of one kind; JSON has all.
_MOST = 12
EQUAL, DIFFERENT, TROUBLE = 0, 1, 2


def diff(
    before: Annotated[Path, typer.Argument(metavar="RUN_A", help="folder of results", autocompletion=files)],
    after: Annotated[Path, typer.Argument(metavar="RUN_B", help="folder of results", autocompletion=files)],
    as_json: AsJson = False,
) -> None:
    """Print what changed between two runs.

    Compares config, data, final blankets and mean scores. Exit code 0 if they are equal, 1 if something differs, 2 if a
    folder cannot be read. Versions of packages are listed but do not affect the exit code.
    """
    from ..workflow.difference import difference

    try:
        found = difference(before, after)
    except BlanketflowError as error:
        complain(str(error))
        raise typer.Exit(TROUBLE) from None
    kinds = ("config", "data", "blankets", "scores", "software")
    if as_json:
        plain = {kind: [vars(change) for change in getattr(found, kind)] for kind in kinds}
        show_json({"equal": found.is_none, **plain})
    else:
        for kind in kinds:
            _show(kind, getattr(found, kind))
    raise typer.Exit(EQUAL if found.is_none else DIFFERENT)


def _show(kind: str, changes: list[Change]) -> None:
    if not changes:
        show(f"{kind}: equal")
        return
    heading(kind)
    for change in changes[:_MOST]:
        show(f"  {change.words}")
    if len(changes) > _MOST:
        show(f"  ... and {len(changes) - _MOST} more (--json lists them)")


# --- blanketflow export: a blanket of a finished run, for use in other programs ---------------------------------------


def export(
    results: Annotated[Path, typer.Argument(help="folder of results", autocompletion=files)] = Path("results"),
    dataset: Annotated[str | None, typer.Option(help="id of the data set; optional if there is only one")] = None,
    selector: Annotated[str | None, typer.Option(help="id of the selector; optional if there is only one")] = None,
    to: Annotated[
        str,
        typer.Option(
            help="csv, json or pipeline of a blanket; latex, html, methods, bibtex, notebook, figures or crate of a run"
        ),
    ] = "csv",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="file to write instead of printing; a folder for figures or crate"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace what exists")] = False,
) -> None:
    """Print a blanket or what a paper says of a run.

    csv and json list the features of a final blanket, and pipeline is Python source with a function
    blanket_pipeline(model). latex and html are tables for papers, methods is a paragraph on what the run did, and
    bibtex has the references that it cites. notebook repeats the searches, figures are the report's charts as SVG and
    PDF, and crate is the run as a Workflow Run RO-Crate.
    """
    from ..reporting.export import FORMS, IN_FOLDER, OF_BLANKET, OF_RUN
    from ..workflow.read_results import read_blanket, read_run

    if to not in FORMS:
        raise ConfigError(f"--to is {to!r}, but must be one of {', '.join(FORMS)}. {closest(to, FORMS)}".rstrip())
    _check_output(output, to, to in IN_FOLDER, force)
    asked = results, dataset, selector
    made = OF_BLANKET[to](read_blanket(*asked)) if to in OF_BLANKET else OF_RUN[to](read_run(*asked))
    if output is None:
        pour(str(made))
    elif isinstance(made, str):
        _write(output, made)
        use = f" To use it: from {output.stem} import blanket_pipeline" if to == "pipeline" else ""
        note(f"Wrote {output}.{use}")
    else:
        for name, content in made.items():
            _write(output / name, content)
        note(f"Wrote {len(made)} files into {output}.")


def _check_output(output: Path | None, to: str, is_folder: bool, force: bool) -> None:
    if output is None:
        if is_folder:
            raise ConfigError(f"--to {to} writes several files. Name a folder for them, such as -o {to}.")
    elif output.exists():
        if not force:
            raise ConfigError(f"{output} already exists. Give another name with -o, or replace it with --force.")
        if output.is_dir() != is_folder:
            raise ConfigError(
                f"--to {to} writes a {'folder' if is_folder else 'file'}, but {output} is a "
                f"{'folder' if output.is_dir() else 'file'}. Give another name with -o."
            )


def _write(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    from ..data.artefacts import replacing

    with replacing(path) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
