"""``blanketflow check``: whether the results that stand are what the config asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import files
from .terminal import note, show


def check(
    configfile: Annotated[
        Path | None, typer.Option(help="the config (default: that of this folder)", autocompletion=files)
    ] = None,
    deep: Annotated[bool, typer.Option("--deep", help="read all content, also of files that have not changed")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="delete what is stale, damaged or left over")] = False,
) -> None:
    """List results that do not match the config.

    Compares the folder of results with what the config asks for, as a run does before it begins: what is missing,
    stale, damaged, in the wrong place, left over from removed selectors, or not made by blanketflow. Exit code 1 if
    there is any of it.
    """
    from ..config.file import read_config_file
    from ..core.errors import BlanketflowError
    from ..workflow.output_folder import foreign_files
    from ..workflow.packaged_files import workflow_file
    from ..workflow.plan import make_plan
    from ..workflow.standing import REASONS, check, left_over
    from .config_here import config_here

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
