"""Opening text files: gzip is told by content, and what cannot be read is said in words."""

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

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def decompressed(stored: BinaryIO) -> Iterator[BinaryIO]:
    """Yield a binary file as it is, or what it unpacks to if it is a gzip file."""
    magic = stored.read(len(GZIP_MAGIC))
    stored.seek(0)
    if magic != GZIP_MAGIC:
        yield stored
        return
    with gzip.open(stored, "rb") as raw:
        yield raw


@contextmanager
def opened(name: str, path: Path) -> Iterator[BinaryIO]:
    """Open a file, gzipped or not, for reading bytes; raises as `readable` does."""
    with readable(name, path), open(path, "rb") as stored, decompressed(stored) as raw:
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
            f"{name}: {path} is not UTF-8 text ({error.reason}). Save it as UTF-8 and try again."
        ) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name}: {path} is a damaged gzip file ({error}). Fetch or compress it again.") from error
    except csv.Error as error:
        raise DataError(f"{name}: {path} is not a readable CSV file ({error}).") from error
    except OSError as error:
        raise DataError(f"{name}: {path} cannot be read ({error.strerror or error}). Check the key path.") from error
