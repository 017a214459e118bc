"""ORC files, and files of records: Avro, and JSON with an object in each line or a list of objects."""

from __future__ import annotations

import bz2
import json
import lzma
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, BinaryIO
from uuid import UUID

from ...core.errors import DataError
from ..arrow import cell_bytes, readable_as
from ..input_file import RowGuard, Unpacking, guarded, opened
from .loaded import TableFile

#: Bytes that a record's value takes as an object of Python, at least.
_CELL_BYTES = 16


def read_orc(file: TableFile) -> Any:
    """Return the Arrow table of an ORC file; `DataError` if it is damaged or unpacks to too much."""
    import pyarrow as pa
    from pyarrow import orc

    unpacking = Unpacking(file.name, file.path)
    with readable_as("ORC file", file.name, file.path):
        held = orc.ORCFile(str(file.path))
        unpacking.add(held.nrows * sum(cell_bytes(held.schema)))
        stripes = []
        for at in range(held.nstripes):
            stripes.append(stripe := held.read_stripe(at))
            unpacking.add(stripe.nbytes)
        return pa.Table.from_batches(stripes, held.schema)


# --- Avro: blocks of records, each packed -----------------------------------------------------------------------------

_INFLATED = {
    "null": lambda data: BytesIO(data),
    "deflate": lambda data: _Inflated(data),
    "bzip2": lambda data: bz2.BZ2File(BytesIO(data)),
    "xz": lambda data: _xz(data),
    "zstandard": lambda data: _zstd(data),
    "snappy": lambda data: BytesIO(_snappy(data)),
}


def read_avro(file: TableFile) -> Any:
    """Return the Arrow table of an Avro file: the fields of its records.

    Enumerations are labels. Raises `DataError` if a field holds records or lists, or the file unpacks to too much.
    """
    import fastavro

    plain = BytesIO()
    with open(file.path, "rb") as stored:
        _write_unpacked(file, stored, plain)
    plain.seek(0)
    reader = fastavro.reader(plain)
    schema = reader.writer_schema
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise DataError(f"{file.name}: {file.path} holds no records. Write the table as Parquet or CSV.")
    columns: dict[str, list[Any]] = {field["name"]: [] for field in schema["fields"]}
    for record in reader:
        for field, cells in columns.items():
            cells.append(record[field])
    return _table(file, columns)


def _write_unpacked(file: TableFile, stored: BinaryIO, plain: BytesIO) -> None:
    """Write an Avro file whose blocks are not packed: what a block unpacks to is told nowhere, and not limited."""
    from fastavro import schemaless_reader, schemaless_writer

    header = {
        "type": "record",
        "name": "org.apache.avro.file.Header",
        "fields": [
            {"name": "magic", "type": {"type": "fixed", "name": "magic", "size": 4}},
            {"name": "meta", "type": {"type": "map", "values": "bytes"}},
            {"name": "sync", "type": {"type": "fixed", "name": "sync", "size": 16}},
        ],
    }
    read = schemaless_reader(stored, header)
    codec = read["meta"].get("avro.codec", b"null").decode()
    if codec not in _INFLATED:
        raise ValueError(f"its codec {codec!r} is not known")
    n_fields = len(json.loads(read["meta"]["avro.schema"]).get("fields", ()))
    schemaless_writer(plain, header, {**read, "meta": {**read["meta"], "avro.codec": b"null"}})
    unpacking, size = Unpacking(file.name, file.path), file.path.stat().st_size
    while stored.tell() < size:
        n, n_bytes = (schemaless_reader(stored, "long") for _ in range(2))
        if n < 0 or n_bytes < 0 or n_bytes > size:
            raise ValueError("a block states a size that cannot be")
        unpacking.add(n * n_fields * _CELL_BYTES)
        held = []
        source = _INFLATED[codec](stored.read(n_bytes))
        while block := source.read(2**20):
            unpacking.add(len(block))
            held.append(block)
        schemaless_writer(plain, "long", n)
        schemaless_writer(plain, "bytes", b"".join(held))
        sync = stored.read(16)
        if sync != read["sync"]:
            raise ValueError("a block does not end as it should")
        plain.write(sync)


class _Inflated:
    """Reads what zlib unpacks of a block without a header."""

    def __init__(self, data: bytes) -> None:
        self._left, self._engine = data, zlib.decompressobj(-15)

    def read(self, n: int) -> bytes:
        found = self._engine.decompress(self._left, n)
        self._left = self._engine.unconsumed_tail
        return found


def _xz(data: bytes) -> Any:
    return lzma.LZMAFile(BytesIO(data))


def _zstd(data: bytes) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.BufferReader(data), "zstd")


def _snappy(data: bytes) -> bytes:
    """Return what a block unpacks to, whose size comes first, and whose checksum last."""
    import pyarrow as pa

    size, shift = 0, 0
    for byte in data[:5]:
        size, shift = size | (byte & 127) << shift, shift + 7
        if byte < 128:
            break
    if size > 100 * len(data):  # snappy packs to a twentieth at best
        raise ValueError("a block states a size that cannot be")
    return pa.decompress(data[:-4], size, "snappy").to_pybytes()


# --- JSON -------------------------------------------------------------------------------------------------------------


def read_json(file: TableFile) -> Any:
    """Return the Arrow table of a JSON file with an object in each line, or a list of objects; they may lack keys.

    Raises `DataError`, with the line, if one is no object; and if a column holds objects, lists, or values of several
    types.
    """
    if (table := _flat_lines(file)) is not None:
        return table
    columns: dict[str, list[Any]] = {}
    for at, row in enumerate(_objects(file)):
        for key, value in row.items():
            if key not in columns:
                columns[key] = [None] * at
            columns[key].append(value)
        if len(row) < len(columns):
            for key in columns.keys() - row.keys():
                columns[key].append(None)
    return _table(file, columns)


#: Brackets that the lines of a file may hold in all, so that Arrow's parser, which nests calls, does not go deep.
_MOST_BRACKETS = 1_000
#: Bytes of the first lines, which tell what columns hold.
_HEAD = 2**18


def _flat_lines(file: TableFile) -> Any:
    """Return what Arrow reads, faster, of lines with one object each that holds no other objects and no lists.

    None for any other file, and where Arrow would read a value in another way than `json` or refuses it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    with opened(file.name, file.path) as raw:
        if raw.read(2**16).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{":
            return None
    with opened(file.name, file.path) as raw:
        data = guarded(RowGuard(file.name, file.path, raw, ",", by_line=True)).read()
    n_lines = _n_objects(data.removeprefix(b"\xef\xbb\xbf"))
    if not n_lines or data.count(b"{") != n_lines or data.count(b"[") > _MOST_BRACKETS:
        return None
    try:
        data.decode()
        table = _read_by_arrow(data)
    except (pa.ArrowException, UnicodeError):
        return None
    alike = (pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string())
    for at, name in enumerate(table.column_names):
        cells = table.column(at)
        is_beyond = cells.type == pa.float64() and pc.any(pc.is_inf(cells)).as_py()
        if name in file.drop:
            table = table.set_column(at, name, pa.nulls(table.num_rows))
        elif is_beyond or cells.type not in alike:
            return None
    return table if table.num_rows == n_lines else None


def _read_by_arrow(data: bytes) -> Any:
    """Return a table of lines of JSON, whose times Arrow leaves as texts if it is told so; the first lines tell."""
    import pyarrow as pa
    from pyarrow.json import ParseOptions, ReadOptions, read_json

    texts: list[str] = []
    order: dict[str, None] = {}
    head = data if len(data) <= _HEAD else data[: data.rfind(b"\n", 0, _HEAD) + 1] or data
    for part in (head, data, data):
        asked = ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in texts]))
        table = read_json(BytesIO(part), ReadOptions(use_threads=False), asked)
        order |= dict.fromkeys(table.column_names)
        times = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
        if part is data and not times:
            break
        texts += times
    return table.select([*order])


def _n_objects(data: bytes) -> int:
    """Return how many lines have an object, 0 if one has something else."""
    n = 0
    for line in map(bytes.strip, BytesIO(data)):
        if line:
            if not (line.startswith(b"{") and line.endswith(b"}")):
                return 0
            n += 1
    return n


def _objects(file: TableFile) -> Iterator[dict[str, Any]]:
    name, path = file.name, file.path
    with opened(name, path) as raw:
        begins = raw.read(2**16).removeprefix(b"\xef\xbb\xbf").lstrip()
    with opened(name, path) as raw:
        if begins.startswith(b"["):
            lines: Any = [(1, raw.read())]
        else:
            lines = enumerate(guarded(RowGuard(name, path, raw, ",", by_line=True)), 1)
        for number, line in lines:
            text = line.decode("utf-8-sig").strip()
            if not text:
                continue
            try:
                found = json.loads(text)
            except (ValueError, RecursionError) as error:
                said = "it is too deep" if isinstance(error, RecursionError) else str(error)
                raise DataError(f"{name}: {path}, line {number} is not JSON ({said}). Mend that line.") from error
            for row in found if isinstance(found, list) and begins.startswith(b"[") else [found]:
                if not isinstance(row, dict):
                    raise DataError(
                        f'{name}: {path}, line {number} is no object such as {{"age": 3}}. Write one for each row.'
                    )
                yield row


def _table(file: TableFile, columns: Mapping[str, Sequence[Any]]) -> Any:
    """Return an Arrow table of lists of values."""
    import pyarrow as pa

    arrays = {}
    for column, cells in columns.items():
        try:
            arrays[column] = pa.nulls(len(cells)) if column in file.drop else pa.array(_alike(file, column, cells))
        except (pa.ArrowException, UnicodeError, OverflowError, TypeError) as error:
            said = str(error).partition("\n")[0].rstrip(".")
            raise _no_column(file, column, f"cannot be read ({said})") from error
    return pa.table(arrays)


def _alike(file: TableFile, column: str, cells: Sequence[Any]) -> Sequence[Any]:
    """Return the cells of a column, which must be of one type; `DataError` if they are not."""
    types = set(map(type, cells)) - {type(None)}
    if types & {dict, list, tuple}:
        raise _no_column(file, column, f"holds {'objects' if dict in types else 'lists'}")
    if types and types <= {int, float}:
        known = [cell for cell in cells if cell is not None]
        is_whole = float not in types and min(known) >= -(2**63) and max(known) < 2**63
        return cells if is_whole else [None if cell is None else float(cell) for cell in cells]
    if len(types) > 1:
        first = {kind: next(cell for cell in cells if type(cell) is kind) for kind in types}
        some = " and ".join(sorted(json.dumps(value, default=str)[:40] for value in first.values()))
        raise _no_column(file, column, f"holds values of several types, such as {some}")
    return list(map(str, cells)) if types == {UUID} and None not in cells else cells


def _no_column(file: TableFile, column: str, why: str) -> DataError:
    return DataError(
        f"{file.name}: column {column!r} {why}. Write it as numbers or as texts, one value a row, or leave it out by "
        f"drop: [{json.dumps(column, ensure_ascii=False)}]."
    )
