"""Readers of CSV, Parquet, Arrow and npz files, whose heads the plan reads too."""

from __future__ import annotations

from ..arrays import read_npz
from ..arrow import read_ipc, read_parquet
from ..bundled import TARGET
from ..column_roles import max_memory, setting
from ..text import read_text
from .loaded import Loaded, TableFile


def read_csv(file: TableFile) -> Loaded:
    """Return the columns of a table of text."""
    as_text, drop = setting(file.spec, "categorical"), setting(file.spec, "drop")
    return Loaded(read_text(file.name, file.path, as_text, file.dialect, file.markers, drop))


def read_parquet_file(file: TableFile) -> Loaded:
    """Return the columns of a Parquet file."""
    most = max_memory(file.name, file.spec)
    return Loaded(read_parquet(file.name, file.path, setting(file.spec, "drop"), file.has_dates, most))


def read_arrow_file(file: TableFile) -> Loaded:
    """Return the columns of an Arrow file or stream."""
    return Loaded(read_ipc(file.name, file.path, setting(file.spec, "drop"), file.has_dates))


def read_arrays(file: TableFile) -> Loaded:
    """Return the columns of an npz file."""
    return Loaded(read_npz(file.name, file.path, file.spec, file.markers), TARGET)
