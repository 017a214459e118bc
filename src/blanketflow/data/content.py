"""Digests of what an artefact says: names, types and values, however a writer of Parquet lays them out in bytes.

Each column of each block of rows has a digest of its own, so that one which is read alone is checked alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .arrow import bits_of, codes_from_arrow, joined, numbers_from_arrow

#: Bytes of a column's digest in one block, and of the digest of a whole artefact.
PART_BYTES, WHOLE_BYTES = 8, 16


def part_digests(table: Any, declared: Sequence[Any] | None = None) -> list[str]:
    """Return the digest of each column of an Arrow table, as hexadecimal texts.

    Parameters
    ----------
    table : pyarrow.Table
        The rows of one block.
    declared : sequence of pyarrow.DataType, optional
        The types under which the columns were written, where some texts were read as codes and levels.
    """
    types = table.schema.types if declared is None else declared
    return [_digest(joined(column), kind) for column, kind in zip(table.itercolumns(), types, strict=True)]


def schema_texts(schema: Any) -> list[list[str]]:
    """Return names and types as texts, without what Parquet does not keep of them."""
    return [[field.name, _type_text(field.type)] for field in schema]


def _type_text(kind: Any) -> str:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):  # not how wide its codes are
        return f"categories of {_type_text(kind.value_type)}"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        items = kind.value_field.name.replace("item", "element")  # Arrow's and Parquet's word for them
        return f"lists of {items} {_type_text(kind.value_type)}"
    return str(kind)


def whole_digest(parts: Iterable[Any]) -> str:
    """Return the digest of some values as a hexadecimal text; their `repr` says what they are."""
    return hashlib.blake2b(repr(list(parts)).encode(), digest_size=WHOLE_BYTES).hexdigest()


def _digest(array: Any, declared: Any) -> str:
    import pyarrow as pa

    hasher = hashlib.blake2b(digest_size=PART_BYTES)
    if pa.types.is_dictionary(array.type) and not pa.types.is_dictionary(declared):
        _add_coded_texts(hasher, array)
    else:
        _add(hasher, array)
    return hasher.hexdigest()


def _add(hasher: Any, array: Any) -> None:
    """Add the values of an array: how many, which of them are null, and the others; what lies in nulls is left out."""
    import pyarrow as pa

    n, kind = len(array), array.type
    known = None
    if array.null_count and not pa.types.is_null(kind):
        known = bits_of(array.buffers()[0], array.offset, n)
    hasher.update(b"%d %d;" % (n, array.null_count))
    if known is not None:
        hasher.update(np.packbits(known))
    if not n or pa.types.is_null(kind):
        return
    if pa.types.is_dictionary(kind):
        _add_categories(hasher, array)
    elif pa.types.is_boolean(kind):
        bits = bits_of(array.buffers()[1], array.offset, n)
        hasher.update(np.packbits(bits if known is None else bits & known))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        bounds = numbers_from_arrow(array.offsets).astype(np.int64)
        hasher.update(np.diff(bounds))
        _add(hasher, array.values.slice(bounds[0], bounds[-1] - bounds[0]))
    elif pa.types.is_primitive(kind):
        _add_fixed(hasher, array, known)
    elif any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string)):
        _add_texts(hasher, array, np.int32 if pa.types.is_string(kind) else np.int64)
    else:
        hasher.update(repr(array.to_pylist()).encode())


def _add_fixed(hasher: Any, array: Any, known: np.ndarray | None) -> None:
    width = array.type.bit_width // 8
    cells = np.frombuffer(array.buffers()[1], dtype=f"u{width}", count=len(array), offset=array.offset * width)
    hasher.update(cells if known is None else np.where(known, cells, cells.dtype.type(0)))


def _add_texts(hasher: Any, array: Any, offset_type: type[np.signedinteger[Any]]) -> None:
    _, places, held = array.buffers()
    size = np.dtype(offset_type).itemsize
    bounds = np.frombuffer(places, dtype=offset_type, count=len(array) + 1, offset=array.offset * size)
    hasher.update(np.diff(bounds.astype(np.int64)))
    if held is not None:
        hasher.update(np.frombuffer(held, dtype=np.uint8)[bounds[0] : bounds[-1]])


def _add_coded_texts(hasher: Any, array: Any) -> None:
    """Add texts that were read as codes and levels, as if they had been read as texts; a million at a time."""
    levels = np.array([text.encode() for text in array.dictionary.to_pylist()] + [b""], dtype=object)
    codes = codes_from_arrow(array)
    hasher.update(b"%d %d;" % (len(array), array.null_count))
    if array.null_count:
        hasher.update(np.packbits(codes >= 0))
    if len(array):
        hasher.update(np.array([len(level) for level in levels], dtype=np.int64)[codes])
    for start in range(0, len(codes), 1_000_000):
        hasher.update(b"".join(levels[codes[start : start + 1_000_000]]))


def _add_categories(hasher: Any, array: Any) -> None:
    """Add the levels in their own order and the codes of that order: chunks of a file may number levels anew."""
    labels: Sequence[Any] = array.dictionary.to_pylist()
    levels = sorted({label for label in labels if label is not None})
    place = {level: code for code, level in enumerate(levels)}
    codes = np.array([place.get(label, -1) for label in labels] + [-1], dtype=np.int64)
    hasher.update(repr(levels).encode())
    hasher.update(codes[codes_from_arrow(array)])
