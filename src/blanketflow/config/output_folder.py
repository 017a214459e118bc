"""The folder of results, as the key `output` names it."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.errors import ConfigError, StorageError
from ..core.folders import check_writable
from ..core.shown import shown

#: Where outputs go otherwise, and what Snakemake would read as something else than a part of a path.
_ELSEWHERE, _READ_BY_SNAKEMAKE = "docs/object-storage.md", "{}<>"

#: Folders in it that are made.
OWN = ("benchmarks", "ci_test", "data", "evaluate", "figures", "logs", "select", "tables")


def checked_output(output: str) -> str:
    """Return the path of the folder without what it does not need.

    Parameters
    ----------
    output : str
        As the config has it, relative to the folder of the run or absolute.

    Raises
    ------
    ConfigError
        If it names no folder of its own, or Snakemake would not take it as it is.

    Examples
    --------
    >>> checked_output("results/first/")
    'results/first'
    """
    said = f"config: output is {shown(output)}"
    if "://" in output:
        raise ConfigError(f"{said}, a URL. Name a folder; {_ELSEWHERE} says how results get into object storage.")
    if output.startswith("~"):
        raise ConfigError(f"{said}, but ~ is not replaced by your home folder. Write the path in full.")
    taken = [c for c in output if c in _READ_BY_SNAKEMAKE or not c.isprintable()]
    if taken:
        raise ConfigError(f"{said}, but a path here has no {shown(taken[0])}. Choose another name.")
    name = output.rstrip("/").rpartition("/")[2]
    if name.strip() in ("", ".", ".."):
        raise ConfigError(f"{said}, which is no folder of its own. Name one, such as results.")
    return output.rstrip("/")


def check_apart(output: str, dataset: str, path: str) -> None:
    """Raise `ConfigError` if a data set's file is one that the run itself makes."""
    inside = os.path.relpath(path, output).split(os.sep)
    if inside[0] in OWN and "://" not in path:
        raise ConfigError(
            f"config: data set {dataset!r} has the path {shown(path)}, which is a result of this very run. "
            "Name another file, or another output."
        )


def check_folder(output: str) -> None:
    """Raise `ConfigError` if there is something else than a folder where results are to be."""
    for path in (Path(output), *Path(output).parents):
        if path.exists() and not path.is_dir():
            raise ConfigError(f"config: output is {shown(output)}, but {path} is a file. Choose another name.")


def check_results(output: str) -> None:
    """Raise `StorageError` if results cannot be written: into their folder, or into one that is already in it."""
    folder = Path(output)
    for path in (folder, *(folder / name for name in OWN)):
        if path.is_dir() or path == folder:
            check_writable(path, "Name another folder under the key output.")


def check_state(folder: str | Path = ".snakemake") -> None:
    """Raise `StorageError` if Snakemake cannot keep its state in the folder of the run."""
    way_out = "Run in another folder (--directory): Snakemake keeps its state there."
    if Path(folder).exists() and not Path(folder).is_dir():
        raise StorageError(f"{folder} is a file. {way_out}")
    check_writable(folder, way_out)
