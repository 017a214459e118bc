"""``blanketflow deploy``: a project folder of one's own, which uses the installed workflow as a module."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import ConfigError
from .terminal import show

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


# Your own rules can follow, such as one that uses results/tables/blankets.csv: docs/module.md.
"""

_README = """\
# A blanketflow project

    blanketflow init my.csv --target outcome -o config.yaml --force    # your own table in place of the example
    blanketflow run                                                    # ends with results/report.html
    blanketflow run --profile slurm      # on a cluster, after filling in two lines of profiles/slurm/config.yaml

`snakemake --cores 4` runs it as well. `Snakefile` uses the workflow of the installed blanketflow as a module; rules of
your own go there. `profiles/default` holds settings that every run needs.
"""


def deploy(folder: Annotated[Path, typer.Argument(help="folder to write; it may exist")]) -> None:
    """Write a project folder of your own.

    It holds a config, a Snakefile that uses the installed workflow as a module, profiles, and a README with the next
    steps.
    """
    from ..data.artefacts import write_text
    from ..workflow.packaged_files import workflow_file

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
    show(f"Next:\n  cd {shlex.quote(str(folder))}\n  blanketflow run")
