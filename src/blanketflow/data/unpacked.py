"""Limits what a packed file may unpack to: a small file can hold more than fits in memory."""

from __future__ import annotations

import io
import math
import os
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from ..core.errors import ConfigError, DataError, shown

#: The environment variable that sets the limit in GB, and the limit without it.
VARIABLE, MOST_GB = "BLANKETFLOW_MAX_GB", 4.0


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
