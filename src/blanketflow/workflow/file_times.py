"""Times of files, by which Snakemake decides what is made again, where the clock was wrong."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from ..core.errors import DataError
from .layout import FOLDERS

#: Seconds by which clocks of machines may differ.
_TOLERANCE = 60


def check_times(dataset: str, paths: Sequence[str | Path]) -> None:
    """Raise `DataError` if a data set's file is from the future: what is made of it would never count as newer."""
    for path in paths:
        written = Path(path).stat().st_mtime
        if written > time.time() + _TOLERANCE:
            when = datetime.fromtimestamp(written).strftime("%Y-%m-%d %H:%M:%S")
            raise DataError(
                f"{dataset}: {path} is from the future ({when}): what is made of it would count as older. Set the "
                f"clock of this machine, or touch the file."
            )


def bring_back(output: str | Path) -> int:
    """Give results from the future times that have passed, in the same order, and return how many there were.

    They are there after a clock went back. What is made now would be older than what it is made of, and what depends
    on it would not be made again.
    """
    now = time.time_ns()
    late = {path: at for path, at in _times(Path(output)) if at > now}
    passed = {at: now - rank * 1_000 for rank, at in enumerate(sorted(set(late.values()), reverse=True), 1)}
    for path, at in late.items():
        os.utime(path, ns=(passed[at], passed[at]))
    return len(late)


def _times(output: Path) -> Iterator[tuple[Path, int]]:
    for name in FOLDERS:
        for folder, folders, files in os.walk(output / name):
            for path in (Path(folder) / entry for entry in (*folders, *files)):
                yield path, path.lstat().st_mtime_ns
    for path in output.glob("*"):
        yield path, path.lstat().st_mtime_ns
