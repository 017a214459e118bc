"""Opens files: gzip is recognised by content, and errors say what is not there or cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from ..core.errors import DataError, did_you_mean
from .unpacked import Unpacking

GZIP_MAGIC = b"\x1f\x8b"


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
        shown = str(path) if len(str(path)) <= 200 else f"{str(path)[:200]}..."
        return f"{name}: {shown} cannot be read ({getattr(error, 'strerror', None) or error}). Check the key {key}."
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
        raise DataError(
            f"{name}: {path} cannot be read ({error.strerror or error}). Check the path and its permissions."
        ) from error


def _where(name: str, path: Path, most: int = 20) -> str:
    """Return the place of the first bytes that are not UTF-8; nothing if they are not found again."""
    with open(path, "rb") as stored, decompressed(name, path, stored) as raw:
        for number, line in enumerate(raw, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                near = line[max(0, error.start - most) : error.start + most].decode("latin-1").strip()
                return f" (line {number}{f', {near!r} if it is Latin-1' if near.isprintable() else ''})"
    return ""
