"""Checksums of a whole Parquet file, so that what is damaged is never read as data.

Parquet's own checksums are of what is inside its pages. What stands around them is open: the headers of the pages, and
the footer with the schema and the provenance. So checksums of everything are put before the footer, where readers of
Parquet do not look: one of each column of each row group, how many these are, and one of all that follows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

_MAGIC = b"PAR1"
#: The length of the footer and Parquet's mark; how many checksums there are and that of all behind the pages.
_END, _HEAD = struct.Struct("<I4s"), struct.Struct("<II")


class DamagedError(ValueError):
    """A file is not as it was written."""


def seal(path: Path) -> None:
    """Put checksums into a Parquet file that was just written."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    with open(path, "r+b") as file:
        file.seek(-_END.size, 2)
        length, _ = _END.unpack(file.read())
        place = file.seek(-_END.size - length, 2)
        footer = file.read()
        sums = []
        for start, size in _places(metadata, range(metadata.num_row_groups), range(metadata.num_columns)):
            file.seek(start)
            sums.append(crc32(file.read(size)))
        own = struct.pack(f"<{len(sums)}I", *sums)
        file.seek(place)
        file.write(own + _HEAD.pack(len(sums), _sum_of_end(own, len(sums), footer)) + footer)


def check(path: Path) -> None:
    """Raise `DamagedError` if anything in a sealed file is not as it was written."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as source:
        SealedFile(source).check()


class SealedFile:
    """An open Parquet file, of which nothing is decoded before its checksum was found right.

    Parameters
    ----------
    source : pyarrow.NativeFile
        The file, open for reading.
    coded : sequence of str
        Text columns that are read as codes and levels.

    Raises
    ------
    DamagedError
        If the file is cut short, damaged or not sealed; also by the methods that read.
    """

    def __init__(self, source: Any, coded: Sequence[str] = ()) -> None:
        import pyarrow.parquet as pq

        self._source = source
        self._sums = self._checked_sums()
        self._file = pq.ParquetFile(source, read_dictionary=list(coded), page_checksum_verification=True)
        #: The schema, with the provenance, and what else the footer says.
        self.schema_arrow, self.metadata = self._file.schema_arrow, self._file.metadata

    def read(self, columns: Sequence[str] | None = None) -> Any:
        """Return the rows as an Arrow table, of all columns or of some."""
        self.check(columns=columns)
        return self._file.read(columns=columns)

    def read_row_group(self, group: int, columns: Sequence[str] | None = None) -> Any:
        """Return the rows of a row group as an Arrow table, of all columns or of some."""
        self.check([group], columns)
        return self._file.read_row_group(group, columns=columns)

    def check(self, groups: Sequence[int] | None = None, columns: Sequence[str] | None = None) -> None:
        """Raise `DamagedError` if something in row groups and columns, all or some, is not as it was written."""
        groups = range(self.metadata.num_row_groups) if groups is None else groups
        names = self.schema_arrow.names  # each has one column in Parquet, also a list
        asked = range(len(names)) if columns is None else [at for at, name in enumerate(names) if name in set(columns)]
        sums = [self._sums[group * len(names) + at] for group in groups for at in asked]
        for (start, size), expected in zip(_places(self.metadata, groups, asked), sums, strict=True):
            if crc32(self._at(start, size)) != expected:
                raise DamagedError("its checksums are not those of its content")

    def _checked_sums(self) -> tuple[int, ...]:
        size = self._source.size()
        length, magic = _END.unpack(self._at(size - _END.size, _END.size))
        place = size - _END.size - length
        n, expected = _HEAD.unpack(self._at(place - _HEAD.size, _HEAD.size))
        own = self._at(place - _HEAD.size - 4 * n, 4 * n)
        if magic != _MAGIC or _sum_of_end(own, n, self._at(place, length + _END.size)) != expected:
            raise DamagedError("its end is damaged, or not that of an artefact")
        return struct.unpack(f"<{n}I", own)

    def _at(self, start: int, size: int) -> bytes:
        found = self._source.read_at(size, start) if start >= 0 else b""
        if len(found) < size:
            raise DamagedError("it is cut short, or its end is damaged")
        return found


def _places(metadata: Any, groups: Sequence[int], columns: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield where columns of row groups begin, and their bytes."""
    for group in map(metadata.row_group, groups):
        for column in map(group.column, columns):
            yield column.dictionary_page_offset or column.data_page_offset, column.total_compressed_size


def _sum_of_end(sums: bytes, n: int, footer: bytes) -> int:
    return crc32(footer, crc32(n.to_bytes(4, "little"), crc32(sums)))
