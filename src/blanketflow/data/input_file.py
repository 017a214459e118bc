"""Opens input files: gzip is recognised by content, and errors say what is missing or cannot be read.

The unpacked size is limited, because a small file can hold more than fits into memory.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import stat
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from ..core.errors import ConfigError, DataError, did_you_mean, shown

# --- bounds on one row of text: what has no line break or no closing quote is refused before it fills the memory ------

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

#: What `RowTooLong` calls a row whose line is unknown.
A_LINE = "a line"

_limit_lock = threading.Lock()
_limit_users: list[int] = []


class RowTooLong(DataError):
    """A row of text has too many bytes or cells."""


class RowGuard(io.RawIOBase):
    """Reads the file `raw`, and raises `RowTooLong` if a row has too many bytes or cells.

    With `by_line`, rows end with lines. Otherwise the reader of rows calls `row_ended`, at least after the first row
    that it finds while `fresh` is not empty.
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
    """Return a row without the long cells of columns to `drop`; `DataError` if another cell is too long."""
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


GZIP_MAGIC = b"\x1f\x8b"
#: The folder of the cache with copies of what was packed.
COPIES = "unpacked"
#: The environment variable that sets the limit in GB, and the limit without it.
VARIABLE, MOST_GB = "BLANKETFLOW_MAX_GB", 4.0


def existing_file(name: str, path: Path, key: str, folders: bool = False) -> Path:
    """Return the path of a file that is there, or raise `DataError`; nothing is opened, since a pipe would block.

    With `folders`, it may be a folder with Parquet files.
    """
    try:
        found = path.stat().st_mode
    except (OSError, ValueError) as error:  # such as a folder that may not be entered, or a name that is too long
        raise DataError(_why_not_there(name, path, key, error)) from error
    if stat.S_ISDIR(found):
        if folders and next(path.rglob("*.parquet"), None):
            return path
        raise DataError(f"{name}: {path} is a folder. Name a file in it under the key {key}.")
    if not stat.S_ISREG(found):
        raise DataError(
            f"{name}: {path} is a pipe, socket or device, and tables are read more than once. Write it to a file first."
        )
    return path


def _why_not_there(name: str, path: Path, key: str, error: Exception) -> str:
    if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        cut = str(path) if len(str(path)) <= 200 else f"{str(path)[:200]}..."
        return f"{name}: {cut} cannot be read ({getattr(error, 'strerror', None) or error}). Check the key {key}."
    if path.is_symlink():
        return f"{name}: {path} is a link to {os.readlink(path)}, which is not there. Mend the link."
    if any(sign in str(path) for sign in ("~", "$")):
        hint = " Neither ~ nor variables are filled in: write the path in full."
    elif not path.parent.is_dir():
        hint = f" There is no folder {path.parent} either."
    else:
        beside = [entry.name for entry in path.parent.iterdir()]
        hint = f" {did_you_mean(path.name, beside)}" if beside else ""
    return (
        f"{name}: there is no file {path}. Check the key {key}; a file that a rule makes must be made first "
        f"(blanketflow explain docs/module.md).{hint}"
    )


def is_packed(path: Path) -> bool:
    """Return whether a file is a gzip file, or the copy of what was packed in another one."""
    if path.parent.parent.name == COPIES:
        return True
    with open(path, "rb") as stored:
        return stored.read(len(GZIP_MAGIC)) == GZIP_MAGIC


@contextmanager
def decompressed(name: str, path: Path, stored: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a binary file as it is, or what it unpacks to if it is a gzip file; raises as `Unpacking.add` does."""
    magic = stored.read(len(GZIP_MAGIC))
    stored.seek(0)
    if magic != GZIP_MAGIC:
        yield stored
        return
    with gzip.open(stored, "rb") as unpacked, Unpacking(name, path).reader(unpacked) as raw:
        yield raw


@contextmanager
def opened(name: str, path: Path) -> Iterator[BinaryIO]:
    """Open a file, gzipped or not, for reading bytes; raises as `readable` does."""
    with readable(name, path), open(path, "rb") as stored, decompressed(name, path, stored) as raw:
        yield raw


@contextmanager
def opened_text(name: str, path: Path, delimiter: str = ",") -> Iterator[TextIO]:
    """Open a UTF-8 file, gzipped or not, for reading text; raises as `readable` and `RowGuard` do."""
    with opened(name, path) as raw:
        lines = guarded(RowGuard(name, path, raw, delimiter, by_line=True))
        with io.TextIOWrapper(lines, encoding="utf-8-sig", newline="") as text:
            yield text


class NotUtf8(DataError):
    """A file is not UTF-8 text; `near` is the text around the first such bytes as Latin-1, empty if unclear."""

    near = ""


@contextmanager
def readable(name: str, path: Path) -> Iterator[None]:
    """Turn what can go wrong while a text file is read into `DataError`."""
    try:
        yield
    except UnicodeError as error:
        encoding = getattr(error, "encoding", "utf-8")
        if encoding not in ("utf-8", "utf8"):
            raise DataError(f"{name}: {path} is not {encoding} text ({error}). Correct the key encoding.") from error
        where, near = _where(name, path)
        found = NotUtf8(f"{name}: {path} is not UTF-8 text{where}. Save it as UTF-8 and try again.")
        found.near = near
        raise found from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        said = str(error).rstrip(".")
        raise DataError(f"{name}: {path} is a damaged gzip file ({said}). Fetch or compress it again.") from error
    except csv.Error as error:
        raise DataError(f"{name}: {path} is not a readable CSV file ({error}).") from error
    except OSError as error:
        raise DataError(
            f"{name}: {path} cannot be read ({error.strerror or error}). Check the path and its permissions."
        ) from error


def _where(name: str, path: Path, most: int = 20) -> tuple[str, str]:
    """Return the place of the first bytes that are not UTF-8, and what is near; nothing if they are not found again."""
    with open(path, "rb") as stored, decompressed(name, path, stored) as raw:
        for number, line in enumerate(raw, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                near = line[max(0, error.start - most) : error.start + most].decode("latin-1").strip()
                near = near if near.isprintable() else ""
                return f" (line {number}{f', {near!r} if it is Latin-1' if near else ''})", near
    return "", ""


def most_bytes() -> int:
    """Return how many bytes a file may unpack to; `ConfigError` if the environment variable is no positive number."""
    said = os.environ.get(VARIABLE) or str(MOST_GB)
    try:
        gigabytes = float(said)
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise ConfigError(f"the environment variable {VARIABLE} is {shown(said)}. Set it to a number of GB, such as 8.")
    return int(gigabytes * 1e9)


class Unpacking:
    """Counts the bytes that one file unpacks to, and refuses more than the limit before they are in memory."""

    def __init__(self, name: str, path: Path) -> None:
        self._name, self._path, self._most, self._n = name, path, most_bytes(), 0

    def add(self, n_bytes: int) -> None:
        """Add some bytes; `DataError` if the total is above the limit."""
        self._n += n_bytes
        if self._n > self._most:
            raise DataError(
                f"{self._name}: {self._path} unpacks to more than {self._most / 1e9:g} GB. If it is a table of that "
                f"size, and there is memory for it, set the environment variable {VARIABLE} to more."
            )

    def inflate(self, packed: bytes | memoryview) -> bytes:
        """Return what zlib unpacks; raises as `add` does, and as zlib does."""
        engine = zlib.decompressobj()
        found = engine.decompress(packed, self._most - self._n + 1)
        self.add(len(found))
        if not engine.eof:
            raise zlib.error("incomplete or truncated stream")
        return found

    def reader(self, unpacked: BinaryIO) -> BinaryIO:
        """Return a file that reads what another unpacks, up to the limit."""
        return io.BufferedReader(_Reader(self, unpacked), 2**17)


class _Reader(io.RawIOBase):
    """Reads another file and counts how far it has read; going back is not counted twice."""

    def __init__(self, unpacking: Unpacking, unpacked: BinaryIO) -> None:
        self._unpacking, self._unpacked, self._reached = unpacking, unpacked, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._unpacked.readinto(buffer)
        at = self._unpacked.tell()
        self._unpacking.add(max(at - self._reached, 0))
        self._reached = max(at, self._reached)
        return n

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._unpacked.seek(offset, whence)

    def tell(self) -> int:
        return self._unpacked.tell()
