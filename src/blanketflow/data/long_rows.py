"""Bounds on one row of text: what has no line break or no closing quote is refused before it fills the memory."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..core.errors import DataError

#: The most cells of a row: a column of text takes about a kilobyte before its cells do.
MOST_COLUMNS = 2_000_000
#: The most bytes of a row, with the line breaks in its quoted cells.
MOST_ROW_BYTES = 100_000_000
#: The most characters of a cell, other than in a column to drop.
MOST_CHARACTERS = 131_072
#: Cells are counted in rows of more bytes: others cannot have too many.
_LONG = 1_000_000
#: Smaller than a cell that is too long, so that such a cell is never read in one block.
_BLOCK = 2**16

#: How `RowTooLong` calls a row of which it does not know the line.
A_LINE = "a line"

_limit_lock = threading.Lock()
_limit_users: list[int] = []


class RowTooLong(DataError):
    """A row of text has too many bytes or cells."""


class RowGuard(io.RawIOBase):
    """Reads another file, and counts what it has read of the current row.

    Parameters
    ----------
    name, path
        The data set and its file, for messages.
    raw : file
        What is read, from where it stands.
    delimiter : str
        What separates cells.
    by_line : bool
        Whether a row ends with its line. Otherwise the reader of rows calls `row_ended`, at least after the first row
        that it finds while `fresh` is not empty.

    Raises
    ------
    RowTooLong
        If a row has too many bytes or cells; by `readinto`.
    """

    def __init__(self, name: str, path: Path, raw: BinaryIO, delimiter: str, by_line: bool = False) -> None:
        self._name, self._path, self._raw, self._by_line = name, path, raw, by_line
        self._delimiter = delimiter.encode()
        self._counted, self._cells = 0, 0
        self._total, self._began = 0, 0
        #: Not empty if something was read since a row ended.
        self.fresh: list[bool] = []

    def row_ended(self) -> None:
        """Count from here on for another row."""
        self._began = self._total
        self.fresh.clear()

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and return how many bytes."""
        n = self._raw.readinto(buffer)
        self._total += n
        self.fresh[:] = [True]
        block: bytes | None = None
        if self._by_line:
            block = bytes(memoryview(buffer)[:n])
            last = max(block.rfind(b"\n"), block.rfind(b"\r"))
            if last >= 0:
                self._began, block = self._total - n + last + 1, block[last + 1 :]
        if self._total - self._began > _LONG:
            self._check(bytes(memoryview(buffer)[:n]) if block is None else block)
        return n

    def _check(self, block: bytes) -> None:
        if self._counted != self._began:
            self._counted, self._cells = self._began, 0
        self._cells += block.count(self._delimiter)
        if self._cells >= MOST_COLUMNS:
            raise self._too_long(f"{MOST_COLUMNS:,} cells", "write the table as .npz or Parquet if it has so many")
        if self._total - self._began > MOST_ROW_BYTES:
            raise self._too_long(f"{MOST_ROW_BYTES / 1e6:g} MB", "write the table as .npz or Parquet if it is so wide")

    def _too_long(self, limit: str, otherwise: str) -> RowTooLong:
        return RowTooLong(
            f"{self._name}: {self._path}: {A_LINE} has more than {limit}. Look whether line breaks or a closing quote "
            f"are missing; {otherwise}."
        )


def guarded(guard: RowGuard) -> BinaryIO:
    """Return a file that reads what a guard lets through."""
    return io.BufferedReader(guard, _BLOCK)


@contextmanager
def long_cells() -> Iterator[None]:
    """Let Python's csv module read cells up to the length of a row meanwhile, as all threads then do."""
    with _limit_lock:
        if not _limit_users:
            before = csv.field_size_limit(MOST_ROW_BYTES)
            _limit_users.append(before)
        else:
            _limit_users.append(_limit_users[0])
    try:
        yield
    finally:
        with _limit_lock:
            before = _limit_users.pop()
            if not _limit_users:
                csv.field_size_limit(before)


def check_cells(name: str, line: int, header: list[str], row: list[str], drop: set[str]) -> list[str]:
    """Return a row without its long cells in columns to `drop`.

    Raises `DataError` if another cell is too long.
    """
    kept = list(row)
    for at, cell in enumerate(row):
        if len(cell) <= MOST_CHARACTERS:
            continue
        if header[at] not in drop:
            is_open = "\n" in cell
            why = (
                "It holds line breaks, so a quote before them may not be closed: mend that" if is_open else "Shorten it"
            )
            raise DataError(
                f"{name}: line {line}: the cell of column {header[at]!r} has {len(cell):,} characters, and at most "
                f"{MOST_CHARACTERS:,} are read. {why}, or list the column under drop."
            )
        kept[at] = ""
    return kept
