"""The layout of wide tables in Parquet: one row a feature, so that some features are read without the others.

A row has the feature's name and kind, the levels of a categorical one, and its cells as a list: `whole` or `numbers`. A
sparse feature has only the cells that are not zero, and `rows` says where they stand. The last block of rows holds
the target, and before it the groups where there are any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.cards import CATEGORICAL, NUMERIC
from ..core.sparse_columns import SparseColumns
from ..core.table import Column, SparseValues
from ..core.wide_columns import WideColumns
from .artefacts import Provenance, arrow_array, write_blocks

#: Cells of a row group, about, and most features of one.
GROUP_CELLS, GROUP_FEATURES = 2**20, 2**16
#: What the features of a table are: one sparse matrix, one dense matrix, or neither.
SPARSE, DENSE, MIXED = "sparse", "dense", "mixed"


class _Lists(NamedTuple):
    """A list a feature: `sizes` of shape (k,), -1 where there is none, and the values of all in one array."""

    sizes: np.ndarray
    values: np.ndarray


class _Group(NamedTuple):
    """A row group: some features."""

    names: Sequence[str]
    kinds: Sequence[str]
    levels: Sequence[Sequence[str]]
    rows: _Lists
    whole: _Lists
    numbers: _Lists


def write_wide(path: str | Path, features: Sequence[Column], last: Sequence[Column], provenance: Provenance) -> None:
    """Write features, and the columns that stand behind them.

    What the features are, and how many rows they have, is added to the provenance's `extra`: ``layout``, ``n_rows``.
    """
    form, whole = layout(features), np.result_type(_whole_type(features), _whole_type(last))
    provenance = replace(provenance, extra=provenance.extra | {"layout": form, "n_rows": last[-1].n_rows})

    def blocks() -> Iterator[Any]:
        groups = (_group(features, block) for block in _blocks(features))
        return (_to_arrow(group, whole) for group in chain(groups, [_of_columns(last)]))

    options = {"write_statistics": False, "use_dictionary": form != DENSE}
    write_blocks(path, blocks, provenance, **options)


def layout(columns: Sequence[Column]) -> str:
    """Return what some columns are when they are read again."""
    if isinstance(columns, WideColumns):
        return SPARSE if isinstance(columns, SparseColumns) else DENSE
    forms = {(column.kind, isinstance(column.values, SparseValues), _is_whole(column)) for column in columns}
    kind, is_sparse, is_whole = next(iter(forms))
    is_matrix = len(forms) == 1 and not is_sparse and kind != CATEGORICAL and is_whole == (kind != NUMERIC)
    return DENSE if is_matrix else MIXED


def _cells(column: Column) -> np.ndarray:
    return column.values.values if isinstance(column.values, SparseValues) else column.values


def _is_whole(column: Column) -> bool:
    """Whether the cells are stored as whole numbers; whole numbers with gaps are not."""
    return column.kind != NUMERIC and _cells(column).dtype.kind != "f"


def _whole_type(columns: Sequence[Column]) -> np.dtype:
    """Return a small signed type that holds all whole numbers of some columns."""
    found = {np.dtype(np.int8)}
    if isinstance(columns, WideColumns):
        held = columns.values if isinstance(columns, SparseColumns) else columns.matrix
        found |= {held.dtype} if columns.kind != NUMERIC and held.dtype.kind in "iu" else set()
        columns = columns.more
    for column in filter(_is_whole, columns):
        codes = column.kind == CATEGORICAL
        found.add(np.min_scalar_type(-1 - len(column.levels)) if codes else _cells(column).dtype)
    common = np.result_type(*found)
    return common if common.kind == "i" else np.dtype(np.int64)


def _blocks(columns: Sequence[Column]) -> Iterator[slice]:
    """Yield the features of each row group."""
    if isinstance(columns, SparseColumns):
        sizes = np.diff(columns.starts)
    elif isinstance(columns, WideColumns):
        sizes = np.full(len(columns), columns.n_rows)
    else:
        sizes = np.array([len(_cells(column)) for column in columns])
    ends = np.cumsum(np.maximum(sizes, GROUP_CELLS // GROUP_FEATURES))
    bounds = [0, *(np.flatnonzero(np.diff((ends - 1) // GROUP_CELLS)) + 1).tolist(), len(sizes)]
    yield from (slice(start, stop) for start, stop in pairwise(bounds))


def _group(columns: Sequence[Column], block: slice) -> _Group:
    if not isinstance(columns, WideColumns):
        return _of_columns(columns[block])
    k = block.stop - block.start
    none = _Lists(np.full(k, -1), np.empty(0))
    if isinstance(columns, SparseColumns):
        starts = columns.starts[block.start : block.stop + 1]
        at, sizes = slice(starts[0], starts[-1]), np.diff(starts)
        rows, cells = _Lists(sizes, columns.rows[at]), _Lists(sizes, columns.values[at])
    else:
        rows, cells = none, _Lists(np.full(k, columns.n_rows), columns.matrix[:, block].T.ravel())
    is_number = columns.kind == NUMERIC
    whole, numbers = (none, cells) if is_number else (cells, none)
    return _Group(columns.names[block], [columns.kind] * k, [()] * k, rows, whole, numbers)


def _of_columns(columns: Sequence[Column]) -> _Group:
    def lists(parts: Sequence[np.ndarray | None]) -> _Lists:
        there = [part for part in parts if part is not None]
        sizes = np.array([-1 if part is None else len(part) for part in parts])
        return _Lists(sizes, np.concatenate(there) if there else np.empty(0))

    return _Group(
        [column.name for column in columns],
        [column.kind for column in columns],
        [column.levels for column in columns],
        lists([c.values.rows if isinstance(c.values, SparseValues) else None for c in columns]),
        lists([_cells(c) if _is_whole(c) else None for c in columns]),
        lists([None if _is_whole(c) else _cells(c) for c in columns]),
    )


def _to_arrow(group: _Group, whole: np.dtype) -> Any:
    import pyarrow as pa

    def cells(lists: _Lists, dtype: Any) -> Any:
        values = np.ascontiguousarray(lists.values, dtype=dtype)
        kind = pa.from_numpy_dtype(values.dtype)
        return _list_array(lists.sizes, pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)]))

    labels = arrow_array([label for levels in group.levels for label in levels], "string")
    return pa.table(
        {
            "feature": arrow_array(group.names, "string"),
            "kind": arrow_array(group.kinds, "string"),
            "levels": _list_array(np.array([len(levels) for levels in group.levels]), labels),
            "rows": cells(group.rows, np.int32),
            "whole": cells(group.whole, whole),
            "numbers": cells(group.numbers, np.float64),
        }
    )


def _list_array(sizes: np.ndarray, values: Any) -> Any:
    """Return an Arrow array of lists; those of size -1 are null."""
    import pyarrow as pa

    offsets = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(np.maximum(sizes, 0), out=offsets[1:])
    known = np.packbits(sizes >= 0, bitorder="little")
    buffers = [pa.py_buffer(known), pa.py_buffer(offsets)]
    return pa.Array.from_buffers(pa.list_(values.type), len(sizes), buffers, children=[values])
