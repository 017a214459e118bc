"""Opens input files: gzip is recognised by content, and errors say what is not there or cannot be read.

What a packed file unpacks to is limited, because a small file can hold more than fits in memory.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from ..core.errors import ConfigError, DataError, did_you_mean, shown
from .long_rows import RowGuard, guarded

GZIP_MAGIC = b"\x1f\x8b"
#: The environment variable that sets the limit in GB, and the limit without it.
VARIABLE, MOST_GB = "BLANKETFLOW_MAX_GB", 4.0


def existing_file(name: str, path: Path, key: str) -> Path:
    """Return the path of a file that is there, or raise `DataError`; nothing is opened, since a pipe would block."""
    try:
        found = path.stat().st_mode
    except (OSError, ValueError) as error:  # such as a folder that may not be entered, or a name that is too long
        raise DataError(_why_not_there(name, path, key, error)) from error
    if stat.S_ISDIR(found):
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
        f"(docs/module.md).{hint}"
    )


def is_packed(path: Path) -> bool:
    """Return whether a file is a gzip file."""
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
    """A file is not UTF-8 text; `near` is what stands near the first such bytes if it is Latin-1, empty if unclear."""

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
    """Return how many bytes a file may unpack to.

    Raises `ConfigError` if the environment variable holds no positive number.
    """
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
        """Count some bytes.

        Raises `DataError` if the total is now above the limit.
        """
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
