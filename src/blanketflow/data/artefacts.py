"""Artefacts: Parquet files that carry how they came about. Written whole or not at all; never a pickle."""

from __future__ import annotations

import glob
import json
import os
import platform
import re
import secrets
import time
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ArtefactError, BlanketflowError, EarlierArtefactError, ForeignArtefactError
from ..core.folders import not_written
from .provenance import PART_BYTES, DamagedError, Provenance, part_digests, timed_columns, whole_digest

if TYPE_CHECKING:
    import numpy as np

#: Largest JSON file that is read; a card of a million columns has a tenth of it.
MOST_JSON_BYTES = 10**9
#: Artefacts of at most so many cells are read by one thread: to hand them to others takes as long again.
SMALL = 100_000
#: The key of a JSON file's checksum.
_CHECKSUM = "checksum"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; rename it to `path` on success, else remove it.

    Raises `StorageError` if the file cannot be written.
    """
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = temporary_name(path)
        yield temporary
        with open(temporary, "rb") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise not_written(path, error) from error
    finally:
        if temporary is not None:
            with suppress(OSError):  # of a disk that can be read only, say
                temporary.unlink(missing_ok=True)


def write_arrow(path: str | Path, table: Any, provenance: Provenance) -> None:
    """Write an Arrow table with its provenance as Parquet."""
    write_blocks(path, lambda: iter([table]), provenance)


def write_blocks(path: str | Path, blocks: Callable[[], Iterator[Any]], provenance: Provenance, **options: Any) -> None:
    """Write Arrow tables of one schema as the row groups of a Parquet file, each with its own digests.

    `blocks` returns an iterator of tables and is called twice: the schema's metadata holds the digests and is written
    first. One table at a time is in memory. `options` are passed to `pyarrow.parquet.ParquetWriter`.
    """
    import pyarrow.parquet as pq

    parts, sizes = [], []
    for block in blocks():
        parts.append(part_digests(block))
        sizes.append(block.num_rows)
        schema = block.schema
    schema = schema.with_metadata(provenance.to_metadata(schema, parts, sizes))
    with (
        replacing(path) as temporary,
        pq.ParquetWriter(temporary, schema, write_page_checksum=True, **options) as writer,
    ):
        for block in blocks():
            writer.write_table(block.replace_schema_metadata(schema.metadata))


def write_columns(
    path: str | Path, columns: Mapping[str, Sequence[Any]], types: Mapping[str, str], provenance: Provenance
) -> None:
    """Write columns of equal length as Parquet.

    `types` has an Arrow type for each column, as `arrow_array` takes it. They fix the schema of an artefact without
    rows.
    """
    import pyarrow as pa

    write_arrow(path, pa.table({name: arrow_array(columns[name], kind) for name, kind in types.items()}), provenance)


def write_rows(
    path: str | Path, rows: Sequence[Sequence[Any]], types: Mapping[str, str], provenance: Provenance
) -> None:
    """Write rows, each with one value per column, as Parquet; see `write_columns`."""
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    write_columns(path, dict(zip(types, columns, strict=True)), types, provenance)


def arrow_array(values: Sequence[Any], kind: str) -> Any:
    """Return values as an Arrow array; for ``list<double>`` they are an array of shape (n, k).

    `kind` is ``string``, ``double``, ``int64``, ``bool``, ``list<string>``, ``list<int64>``, ``list<double>``, or a
    list of structs with fields of the first four types. None and NaN are null in ``double``, None in ``list<string>``.
    """
    # From buffers, because pa.array imports pandas, which would cost a small job more than its work.
    import numpy as np
    import pyarrow as pa

    n = len(values)
    if kind == "string" and isinstance(values, np.ndarray) and values.dtype.kind == "U" and n:
        # Cell by cell the texts of many rows would take many times their size.
        letters = np.ascontiguousarray(values).view(np.uint32).reshape(n, -1)
        if letters.max() < 128:
            is_letter = letters != 0
            offsets, held = _offsets(np.count_nonzero(is_letter, axis=1)), letters[is_letter].astype(np.uint8)
            return pa.Array.from_buffers(pa.string(), n, [None, pa.py_buffer(offsets), pa.py_buffer(held)])
    if kind == "string":
        encoded = [str(value).encode() for value in values]
        buffers = [None, pa.py_buffer(_offsets([*map(len, encoded)])), pa.py_buffer(b"".join(encoded))]
        return pa.Array.from_buffers(pa.string(), n, buffers)
    if kind == "list<string>":
        sizes = [-1 if value is None else len(value) for value in values]
        return list_array(
            sizes, arrow_array([item for value in values for item in (() if value is None else value)], "string")
        )
    if kind.startswith("list<struct<"):
        fields = [field.split(": ") for field in kind.removeprefix("list<struct<").removesuffix(">>").split(", ")]
        parts = list(zip(*(item for value in values for item in value), strict=True)) or [()] * len(fields)
        arrays = [arrow_array(part, of) for part, (_, of) in zip(parts, fields, strict=True)]
        return list_array([*map(len, values)], pa.StructArray.from_arrays(arrays, [name for name, _ in fields]))
    if kind == "list<int64>":
        return list_array([*map(len, values)], arrow_array(np.concatenate([np.empty(0, np.int64), *values]), "int64"))
    if kind == "list<double>":
        items = np.ascontiguousarray(values, dtype=np.float64).reshape(n, -1) if n else np.empty((0, 0))
        cells = pa.Array.from_buffers(pa.float64(), items.size, [None, pa.py_buffer(items)])
        return list_array(np.full(n, items.shape[1]), cells)
    if kind == "bool":
        bits = np.packbits(np.asarray(values, dtype=bool), bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), n, [None, pa.py_buffer(bits)])
    if kind == "int64":
        whole = np.ascontiguousarray(values, dtype=np.int64)
        return pa.Array.from_buffers(pa.int64(), n, [None, pa.py_buffer(whole)])
    if isinstance(values, np.ndarray):
        numbers = np.ascontiguousarray(values, dtype=np.float64)
    else:
        numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    known = np.packbits(~np.isnan(numbers), bitorder="little")
    return pa.Array.from_buffers(pa.float64(), n, [pa.py_buffer(known), pa.py_buffer(numbers)])


def list_array(sizes: Sequence[int] | np.ndarray, values: Any) -> Any:
    """Return an Arrow array of lists of such sizes, of all their values; those of size -1 are null."""
    import numpy as np
    import pyarrow as pa

    sizes = np.asarray(sizes, dtype=np.int64)
    known = None if (sizes >= 0).all() else pa.py_buffer(np.packbits(sizes >= 0, bitorder="little"))
    buffers = [known, pa.py_buffer(_offsets(sizes))]
    return pa.Array.from_buffers(pa.list_(values.type), len(sizes), buffers, children=[values])


def _offsets(sizes: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return where runs of such sizes, of which negative ones are empty, begin and end."""
    import numpy as np

    offsets = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(np.maximum(sizes, 0), out=offsets[1:])
    return offsets


class ArtefactFile:
    """An open artefact, which returns nothing before its digest is verified.

    `coded` are text columns that are read as codes and levels. Raises `DamagedError`, also when reading, if the file
    was changed; `ForeignArtefactError` or `EarlierArtefactError` if another program or version wrote it.
    """

    def __init__(self, source: Any, coded: Sequence[str] = ()) -> None:
        import pyarrow.parquet as pq

        file = pq.ParquetFile(source, page_checksum_verification=True)
        #: Names and types of the columns, and what the file says of itself.
        self.schema, metadata = file.schema_arrow, file.metadata.metadata or {}
        self.provenance = Provenance.from_metadata(metadata, self.schema)
        #: Rows of each block.
        self.blocks: list[int] = json.loads(metadata[b"blocks"])
        self._parts = self._stated_parts(metadata)
        self._starts = [0, *accumulate(self.blocks)]
        groups = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self._group_ends = list(accumulate(groups))
        if coded:
            file = pq.ParquetFile(
                source, metadata=file.metadata, read_dictionary=list(coded), page_checksum_verification=True
            )
        self._file = file

    def _stated_parts(self, metadata: Mapping[bytes, bytes]) -> dict[tuple[int, int], str]:
        """Return the digest of each column in each block."""
        timed, digits = timed_columns(self.provenance.what, self.schema), 2 * PART_BYTES
        found: dict[tuple[int, int], str] = {}
        for name, places in ((b"parts", set(range(len(self.schema))) - timed), (b"seconds_parts", timed)):
            stated = metadata[name].decode()
            keys = [(block, at) for block in range(len(self.blocks)) for at in sorted(places)]
            found |= {key: stated[i * digits : (i + 1) * digits] for i, key in enumerate(keys)}
        return found

    def read(self, columns: Sequence[str] | None = None) -> Any:
        """Return the rows as an Arrow table, of all columns or of some."""
        if len(self.blocks) == 1:
            is_large = (
                self.blocks[0] * len(self.schema) > SMALL
            )  # to start threads takes as long as to read a small one
            return self._checked(self._file.read(columns=columns, use_threads=is_large), 0, columns)
        import pyarrow as pa

        return pa.concat_tables([self.block(i, columns) for i in range(len(self.blocks))])

    def block(self, i: int, columns: Sequence[str] | None = None) -> Any:
        """Return the rows of a block as an Arrow table, of all columns or of some."""
        if len(self.blocks) == 1:
            return self.read(columns)
        start, stop = self._starts[i : i + 2]
        first = bisect_right(self._group_ends, start)
        last = max(bisect_left(self._group_ends, stop), first)  # another writer may have put them together
        rows = self._file.read_row_groups(list(range(first, last + 1)), columns=columns)
        begin = start - (self._group_ends[first - 1] if first else 0)
        return self._checked(rows.slice(begin, self.blocks[i]), i, columns)

    def _checked(self, rows: Any, block: int, columns: Sequence[str] | None) -> Any:
        names, types = self.schema.names, self.schema.types  # each makes a list of all columns
        places = range(len(names))
        if columns is not None:
            asked = set(columns)
            places = [at for at, name in enumerate(names) if name in asked]
            rows = rows.select([names[at] for at in places])
        own = [self._parts[block, at] for at in places]
        types = [types[at] for at in places]
        if part_digests(rows, types) != own or rows.num_rows != self.blocks[block]:
            raise DamagedError("its digest is not that of its content")
        return rows.replace_schema_metadata(None)


@contextmanager
def opened(path: str | Path, coded: Sequence[str] = ()) -> Iterator[tuple[ArtefactFile, Provenance]]:
    """Yield an open artefact and its provenance; `ArtefactError` if it is no intact Parquet file of blanketflow."""
    import pyarrow as pa

    try:
        # Not pq.read_table: it goes through pyarrow.dataset, which imports pandas.
        with pa.OSFile(str(path)) as source:
            file = ArtefactFile(source, coded)
            yield file, file.provenance
    except (ForeignArtefactError, EarlierArtefactError) as error:
        raise type(error)(
            f"{path} is not a readable blanketflow artefact ({error}). Delete it and run again."
        ) from None
    except BlanketflowError:
        raise
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, IndexError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str | Path, error: Exception) -> ArtefactError:
    kind = type(error) if isinstance(error, ArtefactError) else ArtefactError
    return kind(f"{path} is not a readable blanketflow artefact ({error}). Delete it and run again.")


def read_arrow(
    path: str | Path, columns: Sequence[str] | None = None, coded: Sequence[str] = ()
) -> tuple[Any, Provenance]:
    """Return the Arrow table, some text columns as codes and levels, and its provenance; raises as `opened` does."""
    with opened(path, coded) as (file, provenance):
        return file.read(columns=columns), provenance


def read_columns(path: str | Path) -> tuple[dict[str, list[Any]], Provenance]:
    """Return the columns as lists, and the provenance."""
    table, provenance = read_arrow(path)
    return table.to_pydict(), provenance


def read_provenance(path: str | Path) -> Provenance:
    """Return an artefact's provenance without its rows; raises as `opened` does."""
    with opened(path) as (_, provenance):
        return provenance


def write_json(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file with sorted keys, and a checksum of its content for `read_json`."""
    plain = json.loads(json.dumps(content))
    sealed = {**plain, _CHECKSUM: _checksum(plain)}
    write_text(path, json.dumps(sealed, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def read_checksum(path: str | Path) -> str:
    """Return the checksum of a JSON file's content; raises as `read_json` does."""
    return _checksum(read_json(path))


def read_json(path: str | Path) -> dict[str, Any]:
    """Return what `write_json` wrote; `ArtefactError` if the file is missing or damaged."""
    try:
        n_bytes = os.stat(path).st_size
        if n_bytes > MOST_JSON_BYTES:
            raise DamagedError(f"it has {n_bytes:,} bytes")
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content.pop(_CHECKSUM) != _checksum(content):
            raise DamagedError("its checksum is not that of its content")
    except (OSError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise _unreadable(path, error) from error
    return content


def check_beside(path: str | Path, names: Any) -> None:
    """Raise `ArtefactError` unless what an artefact names beside it, with digests, are files in its own folder."""
    is_mapping = isinstance(names, Mapping) and all(isinstance(text, str) for pair in names.items() for text in pair)
    if not is_mapping or not all(_is_below(name) for name in names):
        raise _unreadable(path, DamagedError("it names other files than those that are made with it"))


def _is_below(name: str) -> bool:
    return bool(name) and not name.startswith("/") and not {"", ".", ".."} & set(name.split("/"))


def _checksum(content: Any) -> str:
    return whole_digest([json.dumps(content, sort_keys=True)])


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 text file whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


# --- names of files that are being written: nobody else's, and those that killed writers left are removed -------------

#: Characters of the file's own name that are kept: with the rest, it may not be longer than a name may be.
_KEPT = 50
#: Seconds after which a writer on another machine, which cannot be seen from here, counts as dead.
_DAY = 86_400
_NAME = re.compile(r"\.([0-9a-f]{8})-([0-9]+)-[0-9a-f]{8}\.tmp\Z")


def temporary_name(path: Path) -> Path:
    """Return a temporary name beside `path`, and remove those that killed writers of this file left.

    It has the host, since machines share folders; the process, since a job's child may outlive it; and random digits,
    since both can repeat.
    """
    _remove_left(path)
    return path.with_name(f".{path.name[:_KEPT]}.{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _remove_left(path: Path) -> None:
    with suppress(OSError):  # the folder cannot be read or changed: writing says so
        for left in path.parent.glob(f".{glob.escape(path.name[:_KEPT])}.*.tmp"):
            if _is_left(left):
                left.unlink(missing_ok=True)


def _is_left(path: Path) -> bool:
    """Whether the process that wrote a temporary file has ended."""
    import psutil

    named = _NAME.search(path.name)
    if named is None:
        return False
    if named[1] != _machine():
        return time.time() - path.stat().st_mtime > _DAY
    return not psutil.pid_exists(int(named[2]))


def _machine() -> str:
    return f"{zlib.crc32(process_space().encode()):08x}"


def process_space() -> str:
    """Return what process ids belong to: this boot of this machine, and the namespace of processes."""
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)
