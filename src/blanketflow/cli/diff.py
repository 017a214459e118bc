"""``blanketflow diff``: what changed between two folders of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import BlanketflowError
from .options import AsJson, files
from .terminal import complain, heading, show, show_json

if TYPE_CHECKING:
    from ..workflow.difference import Change

#: Changes of one kind that are printed; JSON has them all.
_MOST = 12
EQUAL, DIFFERENT, TROUBLE = 0, 1, 2


def diff(
    before: Annotated[Path, typer.Argument(metavar="RUN_A", help="folder of results", autocompletion=files)],
    after: Annotated[Path, typer.Argument(metavar="RUN_B", help="folder of results", autocompletion=files)],
    as_json: AsJson = False,
) -> None:
    """Print what changed between two runs.

    Compares config, data, final blankets and mean scores. Exit code 0 if they are equal, 1 if something differs, 2 if a
    folder cannot be read. Versions of packages are told too, but decide nothing.
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
