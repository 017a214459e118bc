"""``blanketflow init``: a commented config to start from."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ConfigError
from .options import AsJson, DataSet, Table, Target, dataset_spec, files
from .terminal import note, show, show_json


def init(
    table: Table,
    target: Target = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="file to write (default: <table>.yaml)", autocompletion=files)
    ] = None,
    data_set: DataSet = None,
    force: Annotated[bool, typer.Option("--force", help="replace the file if it exists")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a commented config for a table.

    The config names columns to drop and suitable selectors with their cost. Paths in it are relative to the folder
    in which the workflow is run.
    """
    from ..api.inspection import inspect_table
    from ..api.starting_config import dataset_id, starting_config
    from ..data.artefacts import write_text
    from ..workflow.estimates.run_time import duration

    spec = dataset_spec(table, target, data_set or ())
    path = output or Path(f"{dataset_id(table)}.yaml")
    if path.exists() and not force:
        raise ConfigError(f"{path} already exists. Give another name with -o, or replace it with --force.")
    if path.parent != Path() and not path.parent.is_dir():
        raise ConfigError(f"there is no folder {path.parent} to write {path.name} into. Create it first.")
    found = starting_config(spec, inspect_table(spec))
    write_text(path, found.text)
    command = f"blanketflow run --cores 4 --configfile {shlex.quote(str(path))}"
    if as_json:
        show_json({"config": str(path), "dataset": found.dataset, "output": found.output, "seconds": found.seconds})
        return
    show(f"Wrote {path}. Read it and change what does not fit. It needs about {duration(found.seconds)} of CPU time.")
    show(f"Next:\n  {command}")
    show(f"The report will be {found.output}/report.html.")
    if not spec.get("source") and Path(table).is_absolute():
        note("The table's path is absolute, so the config works on this machine only.")
