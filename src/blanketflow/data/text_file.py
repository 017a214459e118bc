"""Opens text files: gzip is recognised by content, and errors say in words what cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from ..core.errors import DataError
from .unpacked import Unpacking

GZIP_MAGIC = b"\x1f\x8b"


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
def opened_text(name: str, path: Path) -> Iterator[TextIO]:
    """Open a UTF-8 file, gzipped or not, for reading text; raises as `readable` does."""
    with opened(name, path) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
        yield text


@contextmanager
def readable(name: str, path: Path) -> Iterator[None]:
    """Turn what can go wrong while a text file is read into `DataError`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: {path} is not UTF-8 text{_where(name, path)}. Save it as UTF-8 and try again."
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        said = str(error).rstrip(".")
        raise DataError(f"{name}: {path} is a damaged gzip file ({said}). Fetch or compress it again.") from error
    except csv.Error as error:
        raise DataError(f"{name}: {path} is not a readable CSV file ({error}).") from error
    except OSError as error:
        raise DataError(f"{name}: {path} cannot be read ({error.strerror or error}). Check the key path.") from error


def _where(name: str, path: Path, most: int = 20) -> str:
    """Return where the first bytes stand that are not UTF-8; nothing if they are not found again."""
    with open(path, "rb") as stored, decompressed(name, path, stored) as raw:
        for number, line in enumerate(raw, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                near = line[max(0, error.start - most) : error.start + most].decode("latin-1").strip()
                return f" (line {number}{f', {near!r} if it is Latin-1' if near.isprintable() else ''})"
    return ""
