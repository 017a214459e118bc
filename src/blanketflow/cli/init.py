"""``blanketflow init`` and ``deploy``: write a commented starting config, or a project folder."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ConfigError, shown
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

    The config names columns to drop and suitable selectors with their cost. Its paths are relative to the folder in
    which the workflow runs. Without --target the likeliest column is used and marked as a guess.
    """
    from ..api.inspection import inspect_table
    from ..api.starting_config import dataset_id, starting_config
    from ..data.artefacts import write_text
    from ..workflow.plan import duration

    spec = dataset_spec(table, target or _guessed_target(table, data_set or ()), data_set or ())
    path = output or Path(f"{dataset_id(table)}.yaml")
    if path.exists() and not force:
        raise ConfigError(f"{path} already exists. Give another name with -o, or replace it with --force.")
    if path.parent != Path() and not path.parent.is_dir():
        raise ConfigError(f"there is no folder {path.parent} to write {path.name} into. Create it first.")
    found = starting_config(spec, inspect_table(spec))
    write_text(path, found.text)
    command = f"blanketflow run --configfile {shlex.quote(str(path))}"
    if as_json:
        show_json({"config": str(path), "dataset": found.dataset, "output": found.output, "seconds": found.seconds})
        return
    show(f"Wrote {path}. Read it and change what does not fit. It needs about {duration(found.seconds)} of CPU time.")
    show(f"Next:\n  {command}")
    show(f"The report will be {found.output}/report.html.")
    if not spec.get("source") and Path(table).is_absolute():
        note("The table's path is absolute, so the config works on this machine only.")


def _guessed_target(table: str, more: Sequence[str]) -> str | None:
    """Return the likeliest target column and print it; None if the keys or the source name one.

    Raises `ConfigError` if no column is likelier than others.
    """
    from ..api.inspection import inspect_columns

    seen = inspect_columns(dataset_spec(table, None, more))
    if seen.told:
        note(seen.told)
    if seen.target is not None:
        return None
    likely = seen.likely_targets()
    if not likely:
        raise ConfigError(f"no column of {table} looks like a target. Name it: --target {shown(seen.last.name)}.")
    others = ", ".join(repr(one.name) for one in likely[1:3])
    note(
        f"The target is a guess: {likely[0].name!r}, since {' and '.join(likely[0].reasons)}. If it is another column"
        f"{f', such as {others}' if others else ''}, name it: --target NAME --force."
    )
    return likely[0].name


# A project folder uses the installed workflow as a module.
_SNAKEFILE = """\
# This project's workflow: that of the installed blanketflow, and rules of your own.

from blanketflow.workflow.packaged_files import workflow_file


configfile: "config.yaml"


module blanketflow:
    snakefile:
        workflow_file("Snakefile")
    config:
        config


# Its rule `all` becomes the default target, as long as no other rule stands before this line.
use rule * from blanketflow


# Your own rules can follow, such as one that uses results/tables/blankets.csv:
# `blanketflow explain docs/module.md`.
"""

_README = """\
# A blanketflow project

    blanketflow init my.csv --target outcome -o config.yaml --force    # your own table in place of the example
    blanketflow run                                                    # ends with results/report.html
    blanketflow run --profile slurm      # on a cluster: profiles/slurm/config.yaml says what it needs

`snakemake --cores 4` runs it as well. `Snakefile` uses the workflow of the installed blanketflow as a module; rules of
your own go there. `profiles/default` holds settings that every run needs.
"""


def deploy(
    folder: Annotated[Path, typer.Argument(help="folder to write; it may exist")],
    slurm: Annotated[bool, typer.Option("--slurm", help="for a Slurm cluster: check what it needs")] = False,
) -> None:
    """Write a project folder.

    It has a config, a Snakefile that uses the installed workflow as a module, profiles, and a README.
    """
    from ..data.artefacts import write_text
    from ..workflow.packaged_files import workflow_file
    from .snakemake_plugins import check_executor

    if slurm:
        check_executor("slurm")
    config = Path(workflow_file("config/config.yaml")).read_text(encoding="utf-8")
    texts = {"Snakefile": _SNAKEFILE, "config.yaml": config, "README.md": _README}
    standing = [name for name in (*texts, "profiles") if (folder / name).exists()]
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is a file. Name a folder.")
    if standing:
        raise ConfigError(
            f"{folder} already holds {', '.join(standing)}, and nothing is overwritten. Name another folder."
        )
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(workflow_file("profiles"), folder / "profiles", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in texts.items():
        write_text(folder / name, text)
    show(f"Wrote {', '.join((*texts, 'profiles'))} into {folder}.")
    steps = [f"cd {shlex.quote(str(folder))}", "blanketflow run"]
    if slurm:
        steps[1:] = [
            "fill in slurm_account and slurm_partition in profiles/slurm/config.yaml",
            "blanketflow run --profile slurm",
        ]
        if shutil.which("sbatch") is None:
            note("sbatch is not on this machine. Run it on the login node of the cluster.")
    show("\n  ".join(["Next:", *steps]))
