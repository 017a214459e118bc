"""Arrays in a temporary memory-mapped file, which the system can write out; derived tables use another such file."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .column import Column, WideColumns
from .folders import not_written

#: Maximum bytes of a cell.
WIDEST = 8


class _OwnMap(mmap.mmap):
    """Distinguishes arrays in our files from a user's mapped arrays."""


class MappedFile:
    """A temporary unnamed file in TMPDIR for arrays of up to `n_bytes`, deleted with its last array.

    Each array may take up to 64 more bytes. Disk space is used only for what is written. Raises `StorageError` if the
    file cannot be created or the disk is full.

    Examples
    --------
    >>> held = MappedFile(100).keep(np.array([3, 1], dtype=np.int8))
    >>> held.tolist(), is_mapped(held), is_mapped(held[1:]), is_mapped(held + 1)
    ([3, 1], True, True, False)
    """

    def __init__(self, n_bytes: int) -> None:
        import tempfile

        self._folder, self._used = tempfile.gettempdir(), 0
        try:
            self._file = tempfile.TemporaryFile(prefix="blanketflow-", buffering=0)  # noqa: SIM115  # as long as we live
            os.ftruncate(self._file.fileno(), max(n_bytes, 1))
            self._map = _OwnMap(self._file.fileno(), max(n_bytes, 1))
        except OSError as error:
            raise self._not_written(error) from error
        self._start = np.frombuffer(self._map, dtype=np.uint8).ctypes.data

    def keep(self, array: np.ndarray) -> np.ndarray:
        """Return a copy of an array in the file; arrays already in such a file, or not contiguous, are unchanged."""
        if is_mapped(array) or not array.flags.c_contiguous:
            return array
        held = self.empty(array.size, array.dtype)
        # Written, not assigned: a full disk then raises an error instead of a fatal signal.
        left, at = memoryview(array).cast("B"), held.ctypes.data - self._start
        try:
            while left:
                n = self._write(left[: 2**26], at)
                left, at = left[n:], at + n
        except OSError as error:
            raise self._not_written(error) from error
        return held

    def _write(self, part: memoryview, at: int) -> int:
        if hasattr(os, "pwrite"):  # leaves the position alone, which forked processes share
            return os.pwrite(self._file.fileno(), part, at)
        self._file.seek(at)
        return self._file.write(part)

    def empty(self, length: int, dtype: Any) -> np.ndarray:
        """Return an array of zeros that uses no disk space yet; `claim` space before writing."""
        at, self._used = self._used, self._used + -(-length * np.dtype(dtype).itemsize // 64) * 64
        return np.frombuffer(self._map, dtype=dtype, count=length, offset=at)

    def claim(self, part: np.ndarray) -> None:
        """Reserve disk space for a part of an array of this file, if the system supports it; raises `StorageError`."""
        if part.size and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(self._file.fileno(), part.ctypes.data - self._start, part.nbytes)
            except OSError as error:
                raise self._not_written(error) from error

    def _not_written(self, error: OSError) -> Exception:
        return not_written(self._folder, error, "Set TMPDIR to a folder with more room, or raise max_memory.")


def is_mapped(values: Any) -> bool:
    """Return whether an array, or the array it is a view of, is in a `MappedFile`."""
    while isinstance(values, np.ndarray):
        values = values.base
    return isinstance(values.obj if isinstance(values, memoryview) else values, _OwnMap)


def any_mapped(columns: Sequence[Column]) -> bool:
    """Return whether a column of a table is in a `MappedFile`; wide columns never are."""
    return not isinstance(columns, WideColumns) and any(is_mapped(column.values) for column in columns)


def kept_in(file: MappedFile | None, columns: Iterable[Column]) -> Iterator[Column]:
    """Yield columns, dense ones stored in the file if there is one."""
    for column in columns:
        is_kept = file is not None and isinstance(column.values, np.ndarray)
        yield replace(column, values=file.keep(column.values)) if is_kept else column


def kept_like(columns: Sequence[Column], made: Iterable[Column], n_rows: int) -> list[Column]:
    """Return columns for some rows, stored in a file if the columns of the original table are."""
    file = MappedFile(n_rows * WIDEST * len(columns) + 64 * len(columns)) if any_mapped(columns) else None
    return list(kept_in(file, made))
