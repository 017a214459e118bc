"""Between Arrow and `Column`, and Parquet files as a source."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, INTEGER, NUMERIC
from ..core.errors import DataError
from ..core.mapped_file import kept_in
from ..core.table import Column, column_of_codes
from .beyond_memory import file_beyond
from .dialect import Head
from .input_file import Unpacking

#: Parquet files with more cells are only looked at, not read, by `read_parquet_head`.
HEAD_CELLS = 200_000
#: Cells of a Parquet file that are read at once, about: whole columns, so that few are in memory twice.
READ_CELLS = 2**22


def column_from_arrow(name: str, array: Any) -> Column:
    """Make a column of an Arrow array without chunks; `DataError` if it is neither numbers, booleans nor text."""
    import pyarrow as pa

    kind = array.type
    if is_text(kind):
        array = array.dictionary_encode()
        kind = array.type
    if pa.types.is_dictionary(kind):
        return _categorical(name, array)
    if pa.types.is_boolean(kind):
        return Column(name, BOOLEAN, numbers_from_arrow(array))
    if pa.types.is_integer(kind):
        return Column(name, INTEGER, numbers_from_arrow(array))
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        array = array if pa.types.is_float64(kind) else array.cast(pa.float64())
        return Column(name, NUMERIC, numbers_from_arrow(array))
    way_out = "Set dates to ordinal, parts or drop" if _is_date(kind) else "Turn it into numbers or text"
    raise DataError(f"column {name!r} has the type {kind}. {way_out}, or list it under drop.")


def column_to_arrow(column: Column) -> Any:
    """Return a column as an Arrow array: dictionary of strings, bool, whole numbers or float64; missing is null."""
    import pyarrow as pa

    if column.kind == CATEGORICAL:
        codes = pa.array(column.values, mask=column.values < 0 if column.n_missing() else None)
        return pa.DictionaryArray.from_arrays(codes, pa.array(column.levels, type=pa.string()))
    sparse = not isinstance(column.values, np.ndarray)
    values = column.values.dense(column.values.values.dtype) if sparse else column.values
    gaps = np.isnan(values) if column.n_missing() else None
    if column.kind == NUMERIC:
        return pa.array(values.astype(np.float64, copy=False), mask=gaps)
    if values.dtype.kind == "f":
        values = (np.where(gaps, 0, values) if gaps is not None else values).astype(np.int64)
    return pa.array(values.astype(bool) if column.kind == BOOLEAN else values, mask=gaps)


def read_parquet(
    name: str, path: Path, drop: Collection[str] = (), dates: bool | str = False, max_memory: int | None = None
) -> list[Column]:
    """Return the columns of a Parquet file, as `columns_from_arrow` does.

    Columns beyond `max_memory` bytes, by default half of the free memory, are kept in a mapped file.
    """
    return _columns(name, path, drop, None, dates, max_memory)[0]


def read_parquet_head(name: str, path: Path, drop: Collection[str] = (), dates: bool | str = False) -> Head:
    """Return the columns of the first rows, of about `HEAD_CELLS` cells; raises as `read_parquet` does."""
    columns, n_rows = _columns(name, path, drop, HEAD_CELLS, dates)
    return Head(columns, n_rows / max(1, len(columns[0].values)) if columns else 1.0)


def _columns(
    name: str,
    path: Path,
    drop: Collection[str],
    n_cells: int | None,
    dates: bool | str,
    max_memory: int | None = None,
) -> tuple[list[Column], int]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with readable_as("Parquet file", name, path):
        with pq.ParquetFile(path) as file:
            stated, schema = file.metadata, file.schema_arrow
        n_rows, width = stated.num_rows, len(schema)
        encoded = sum(stated.row_group(group).total_byte_size for group in range(stated.num_row_groups))
        widths = cell_bytes(schema)
        Unpacking(name, path).add(max(encoded, n_rows * sum(widths)))
        if not n_rows:
            raise DataError(f"{name}: {path} has no rows.")
        # Texts stay codes and levels: one long text in many rows takes no room in a file, but could take all memory.
        texts = [field.name for field in schema if is_text(field.type)]
        with pq.ParquetFile(path, metadata=stated, read_dictionary=texts, page_checksum_verification=True) as file:
            if n_cells is not None and n_rows * width > n_cells:
                batch = next(file.iter_batches(batch_size=max(20, n_cells // max(1, width))))
                return columns_from_arrow(name, pa.Table.from_batches([batch]), drop, dates), n_rows
            columns: list[Column] = []
            kept = file_beyond(n_rows, widths, max_memory)
            for names in names_by_cells(schema.names, n_rows):
                columns += kept_in(kept, columns_from_arrow(name, file.read(columns=names), drop, dates))
        pa.default_memory_pool().release_unused()  # what reading took beside the columns
        return columns, n_rows


@contextmanager
def readable_as(what: str, name: str, path: Path) -> Iterator[None]:
    """Turn what Arrow raises for a damaged file of a kind into `DataError`."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, NotImplementedError) as error:
        raise DataError(
            f"{name}: {path} is not a readable {what} ({_said(error)}). Fetch or write it again."
        ) from error


def names_by_cells(names: Sequence[str], n_rows: int) -> Iterator[list[str]]:
    """Yield the names of the columns that are read together; a name that occurs twice means both."""
    distinct, step = list(dict.fromkeys(names)), max(1, READ_CELLS // n_rows)
    yield from (distinct[start : start + step] for start in range(0, len(distinct), step))


def cell_bytes(schema: Any) -> list[int]:
    """Return how many bytes a cell of each column of an Arrow schema takes in memory."""
    return [_cell_bytes(field.type) for field in schema]


def _cell_bytes(kind: Any) -> int:
    """Return how many bytes a cell takes in memory: texts are codes of 4, decimals become floats of 8."""
    import pyarrow as pa

    if is_text(kind) or pa.types.is_dictionary(kind):
        return 4
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return max(kind.bit_width // 8, 1) if pa.types.is_integer(kind) else 8
    return 1 if pa.types.is_boolean(kind) else 8


def is_text(kind: Any, coded: bool = False) -> bool:
    """Return whether an Arrow type is of texts, or also of `coded` ones."""
    import pyarrow as pa

    kind = kind.value_type if coded and pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_date(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_date(kind) or pa.types.is_timestamp(kind)


def columns_from_arrow(name: str, table: Any, drop: Collection[str] = (), dates: bool | str = False) -> list[Column]:
    """Return the columns of an Arrow table. Columns to drop of a type that cannot be read are all missing.

    With `dates`, columns of dates become texts: all with True, or that of this name; others are an error. Raises
    `DataError` if the table has no rows, is damaged, or a column is neither numbers, booleans nor text.
    """
    import pyarrow as pa

    if not table.num_rows:
        raise DataError(f"{name}: the table has no rows.")
    try:
        table.validate(full=True)  # offsets, codes and UTF-8 come unchecked from the file
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"{name}: the table is damaged ({_said(error)}). Write it again.") from error
    try:
        return [_column(c, table.column(i), c in drop, dates) for i, c in enumerate(table.column_names)]
    except DataError as error:
        raise DataError(f"{name}: {error}") from error


def _column(name: str, chunked: Any, is_dropped: bool, dates: bool | str) -> Column:
    import pyarrow as pa

    if dates in (True, name) and _is_date(chunked.type):
        is_zoned = pa.types.is_timestamp(chunked.type) and chunked.type.tz
        chunked = chunked.cast(pa.timestamp(chunked.type.unit)) if is_zoned else chunked  # those of Greenwich
        chunked = chunked.cast(pa.string())
    try:
        return column_from_arrow(name, joined(chunked))
    except DataError:
        if not is_dropped:
            raise
    return Column(name, NUMERIC, np.broadcast_to(np.nan, len(chunked)))


def read_ipc(name: str, path: Path) -> Any:
    """Return the table of an Arrow IPC file or stream, such as Feather; raises as `read_parquet` does."""
    import pyarrow as pa

    with readable_as("Arrow file", name, path), pa.OSFile(str(path)) as raw:
        is_file = raw.read(6) == b"ARROW1"
        raw.seek(0)
        with (pa.ipc.open_file if is_file else pa.ipc.open_stream)(raw) as reader:
            return pa.Table.from_batches(_counted(Unpacking(name, path), reader), reader.schema)


def _counted(unpacking: Unpacking, reader: Any) -> Iterator[Any]:
    """Yield the batches of an Arrow file or stream; raises ArrowInvalid if a buffer is shorter than it says."""
    n = getattr(reader, "num_record_batches", None)
    for batch in reader if n is None else map(reader.get_batch, range(n)):
        batch.validate()  # because Arrow reads in the buffers to tell the size
        unpacking.add(batch.nbytes)
        yield batch


def _said(error: Exception) -> str:
    """Return the first sentence of what Arrow says: the others repeat it or speak of its source code."""
    return str(error).partition("\n")[0].partition(". ")[0].rstrip(".")


def joined(chunked: Any) -> Any:
    """Return a chunked Arrow array as one array."""
    return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def numbers_from_arrow(array: Any) -> np.ndarray:
    """Return an Arrow array of numbers or booleans, as float64 with NaN if any cell is null.

    Numbers without nulls are not copied. Booleans are 0 and 1 of 8 bits.
    """
    # From buffers and through dlpack: pyarrow's own to_numpy imports pandas, cast and is_valid import pyarrow.compute,
    # which cost a small job more than its reading.
    import pyarrow as pa

    if not len(array):
        return np.empty(0, dtype=np.int8) if pa.types.is_boolean(array.type) else np.from_dlpack(array)
    valid, held = array.buffers()
    if pa.types.is_boolean(array.type):
        values = bits_of(held, array.offset, len(array))
    else:
        values = np.from_dlpack(pa.Array.from_buffers(array.type, len(array), [None, held], offset=array.offset))
    if not array.null_count:
        return values
    return np.where(bits_of(valid, array.offset, len(array)), values, np.nan)


def bits_of(buffer: Any, offset: int, n: int) -> np.ndarray:
    """Return n bits of an array's buffer from its offset on, as 0 and 1 of 8 bits."""
    held = np.frombuffer(buffer, dtype=np.uint8, count=-(-(offset + n) // 8))
    return np.unpackbits(held, count=offset + n, bitorder="little")[offset:]


def codes_from_arrow(array: Any) -> np.ndarray:
    """Return the codes of an Arrow array of codes and levels, -1 where it is null."""
    codes = numbers_from_arrow(array.indices)
    return np.where(np.isnan(codes), -1, codes).astype(np.int64) if array.indices.null_count else codes


def array_from_arrow(chunked: Any) -> np.ndarray:
    """Return an Arrow column as an array; coded texts are decoded."""
    import pyarrow as pa

    column = joined(chunked)
    if pa.types.is_dictionary(column.type):
        return np.array(column.dictionary.to_pylist())[numbers_from_arrow(column.indices)]
    return numbers_from_arrow(column).astype(bool) if pa.types.is_boolean(column.type) else numbers_from_arrow(column)


def _categorical(name: str, array: Any) -> Column:
    import pyarrow as pa

    texts = array.dictionary if pa.types.is_string(array.dictionary.type) else array.dictionary.cast(pa.string())
    return column_of_codes(
        name, codes_from_arrow(array), texts.to_pylist()
    )  # parts of a split column may repeat a label
