"""Whether a run can write: its folder of results, and the folder of Snakemake's state."""

from __future__ import annotations

import os
from pathlib import Path

from ..core.errors import ConfigError, StorageError, shown
from ..core.folders import check_writable
from .layout import FOLDERS


def check_apart(output: str, dataset: str, path: str) -> None:
    """Raise `ConfigError` if a data set's file is one that the run itself makes."""
    inside = os.path.relpath(path, output).split(os.sep)
    if inside[0] in FOLDERS and "://" not in path:
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
    for path in (folder, *(folder / name for name in FOLDERS)):
        if path.is_dir() or path == folder:
            check_writable(path, "Name another folder under the key output.")


def check_state(folder: str | Path = ".snakemake") -> None:
    """Raise `StorageError` if Snakemake cannot keep its state in the folder of the run."""
    way_out = "Run in another folder (--directory): Snakemake keeps its state there."
    if Path(folder).exists() and not Path(folder).is_dir():
        raise StorageError(f"{folder} is a file. {way_out}")
    check_writable(folder, way_out)
