"""Location of the Snakemake workflow: in the installed package, or beside it in a clone.

The only source is the repository's Snakefile and folders; envs/hatch_build.py copies them to ``packaged`` in the wheel.
"""

from __future__ import annotations

from pathlib import Path

from ..core.errors import ConfigError

#: The workflow in a wheel; absent in a clone, where it would be a second source.
PACKAGED = Path(__file__).parent / "packaged"
#: The repository, if the package is used from a clone.
CLONE = Path(__file__).parents[3]


def workflow_file(name: str = "Snakefile") -> str:
    """Return the absolute path of a file of the packaged Snakemake workflow, or of a folder such as ``profiles/slurm``.

    Raises `ConfigError` if it does not exist.

    >>> Path(workflow_file()).name, Path(workflow_file("profiles/slurm")).is_dir()
    ('Snakefile', True)
    """
    # The packaged one first: an installed package may lie inside a project with another workflow.
    folder = PACKAGED if PACKAGED.is_dir() else CLONE
    path = folder / name
    if not path.exists():
        raise ConfigError(
            f"the installed blanketflow has no {name} of the workflow at {folder}. Install it again: "
            "pip install --force-reinstall --no-deps blanketflow."
        )
    return str(path)
