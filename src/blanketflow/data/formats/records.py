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
from ..arrow import cell_bytes, columns_from_arrow
from ..column_roles import setting
from ..input_file import RowGuard, Unpacking, guarded, opened
from .loaded import Loaded, TableFile

#: Bytes that a record's value takes as an object of Python, at least.
_CELL_BYTES = 16


def _columns(file: TableFile, table: Any) -> Loaded:
    if not table.column_names:
        raise DataError(f"{file.name}: {file.path} has no columns.")
    return Loaded(columns_from_arrow(file.name, table, setting(file.spec, "drop"), file.has_dates))


def read_orc(file: TableFile) -> Loaded:
    """Return the columns of an ORC file; `DataError` if it is damaged or unpacks to too much."""
    import pyarrow as pa
    from pyarrow import orc

    unpacking = Unpacking(file.name, file.path)
    try:
        held = orc.ORCFile(str(file.path))
        unpacking.add(held.nrows * sum(cell_bytes(held.schema)))
        stripes = []
        for at in range(held.nstripes):
            stripes.append(stripe := held.read_stripe(at))
            unpacking.add(stripe.nbytes)
        table = pa.Table.from_batches(stripes, held.schema)
    except (pa.ArrowException, OSError, UnicodeDecodeError, NotImplementedError) as error:
        said = str(error).partition("\n")[0].rstrip(".")
        raise DataError(
            f"{file.name}: {file.path} is not a readable ORC file ({said}). Fetch or write it again."
        ) from error
    return _columns(file, table)


# --- Avro: blocks of records, each packed -----------------------------------------------------------------------------

_INFLATED = {
    "null": lambda data: BytesIO(data),
    "deflate": lambda data: _Inflated(data),
    "bzip2": lambda data: bz2.BZ2File(BytesIO(data)),
    "xz": lambda data: _xz(data),
    "zstandard": lambda data: _zstd(data),
    "snappy": lambda data: BytesIO(_snappy(data)),
}


def read_avro(file: TableFile) -> Loaded:
    """Return the columns of an Avro file: the fields of its records.

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


def read_json(file: TableFile) -> Loaded:
    """Return the columns of a JSON file with an object in each line, or a list of objects; they may lack keys.

    Raises `DataError`, with the line, if one is no object; and if a column holds objects, lists, or values of several
    types.
    """
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


def _table(file: TableFile, columns: Mapping[str, Sequence[Any]]) -> Loaded:
    """Return the columns of lists of values."""
    import pyarrow as pa

    drop = setting(file.spec, "drop")
    arrays = {}
    for column, cells in columns.items():
        try:
            arrays[column] = pa.nulls(len(cells)) if column in drop else pa.array(_alike(file, column, cells))
        except (pa.ArrowException, UnicodeError, OverflowError, TypeError) as error:
            said = str(error).partition("\n")[0].rstrip(".")
            raise _no_column(file, column, f"cannot be read ({said})") from error
    return _columns(file, pa.table(arrays))


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
