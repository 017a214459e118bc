"""A table as trees read it: columns as lists of rows in ascending order of value, and the target as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...core.table import Column, SparseValues, Table
from ...core.wide_columns import MatrixColumns, SparseColumns
from ...models.encode import moderated

#: The number of cells read at once; a sparse column counts as at least `FEWEST` cells, for its overhead.
CELLS, FEWEST = 2**20, 16


@dataclass(frozen=True)
class ColumnLists:
    """Rows of columns, ascending by value; a row that is not listed has the value zero.

    `starts`, (d + 1,), says where each column starts in `rows` and `values`, and where the last one ends.
    """

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray


def column_lists(table: Table, columns: np.ndarray) -> Iterator[tuple[np.ndarray, ColumnLists]]:
    """Yield the lists of some columns in blocks of bounded size, each with the indices of its columns in `columns`.

    Sparse columns are not made dense. A block of dense columns lists all rows, and rows with equal values have any
    order. A block of sparse columns omits rows with zeros, and rows with equal values ascend.
    """
    for at, block in column_blocks(table, columns):
        yield at, block if isinstance(block, ColumnLists) else _of_dense(block)


def column_blocks(table: Table, columns: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray | ColumnLists]]:
    """Yield blocks as `column_lists` does, but those of dense columns as numbers of shape (columns, rows)."""
    wide = table.columns
    n_wide = len(wide.names) if isinstance(wide, MatrixColumns | SparseColumns) else 0
    at, single = np.flatnonzero(columns < n_wide), np.flatnonzero(columns >= n_wide)
    width = max(1, CELLS // max(1, table.n_rows))
    if isinstance(wide, SparseColumns):
        yield from _of_sparse(wide.starts, wide.rows, wide.values, columns[at], at)
    elif isinstance(wide, MatrixColumns):
        for start in range(0, len(at), width):
            part = at[start : start + width]
            yield part, _as_rows(wide.matrix[:, _as_slice(columns[part])].T)
    is_sparse = np.array([isinstance(table[int(columns[i])].values, SparseValues) for i in single], dtype=bool)
    for start in range(0, len(single), width):
        part, part_is_sparse = single[start : start + width], is_sparse[start : start + width]
        dense, sparse = part[~part_is_sparse], part[part_is_sparse]
        if len(dense):
            yield dense, _as_rows(np.array([table[int(j)].numbers() for j in columns[dense]]))
        if len(sparse):
            cells = [table[int(j)].values for j in columns[sparse]]
            starts = np.cumsum([0, *(len(cell.rows) for cell in cells)])
            rows, values = (np.concatenate(parts) for parts in zip(*((c.rows, c.values) for c in cells), strict=True))
            yield from _of_sparse(starts, rows, values, np.arange(len(cells)), sparse)


def _as_rows(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.float64)


def _of_dense(values: np.ndarray) -> ColumnLists:
    """Return the lists of columns that are the rows of a matrix."""
    order = np.argsort(values, axis=1)
    starts = np.arange(0, values.size + 1, values.shape[1])
    return ColumnLists(starts, order.astype(np.int32).ravel(), np.take_along_axis(values, order, axis=1).ravel())


def _of_sparse(
    starts: np.ndarray, rows: np.ndarray, values: np.ndarray, columns: np.ndarray, at: np.ndarray
) -> Iterator[tuple[np.ndarray, ColumnLists]]:
    """Yield the lists of columns of a compressed sparse column matrix."""
    lengths = starts[columns + 1] - starts[columns]
    stops = np.cumsum(np.maximum(lengths, FEWEST))
    start = 0
    while start < len(columns):
        stop = max(start + 1, int(np.searchsorted(stops, (stops[start - 1] if start else 0) + CELLS, side="right")))
        part = columns[start:stop]
        first = np.concatenate([[0], np.cumsum(lengths[start:stop])])
        if isinstance(_as_slice(part), slice):
            cells = slice(int(starts[part[0]]), int(starts[part[-1] + 1]))
        else:
            cells = np.arange(first[-1]) + np.repeat(starts[part] - first[:-1], lengths[start:stop])
        yield at[start:stop], _sorted(first, rows[cells].astype(np.int32), values[cells].astype(np.float64))
        start = stop


def _sorted(starts: np.ndarray, rows: np.ndarray, values: np.ndarray) -> ColumnLists:
    """Return lists of cells without zeros, in ascending order of values."""
    if not values.all():
        kept = values != 0
        starts = np.concatenate([[0], np.cumsum(kept)])[starts]
        rows, values = rows[kept], values[kept]
    descends = values[1:] < values[:-1]
    inner = starts[(starts > 0) & (starts < len(values))]
    descends[inner - 1] = False
    if descends.any():
        order = np.lexsort((values, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
        rows, values = rows[order], values[order]
    return ColumnLists(starts, rows, values)


def _as_slice(columns: np.ndarray) -> slice | np.ndarray:
    """Return consecutive positions as a slice, which avoids a copy; other positions unchanged."""
    if len(columns) and columns[-1] - columns[0] == len(columns) - 1 and (np.diff(columns) == 1).all():
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns


class TargetArrays(NamedTuple):
    """The target of a tree, arrays of shape (n,).

    `classes` are class codes, zeros for regression; `numbers` is the column as numbers, scaled by a power of two if
    they are huge or tiny; `n_classes` is 0 for regression.
    """

    classes: np.ndarray
    numbers: np.ndarray
    n_classes: int


def target_arrays(column: Column) -> TargetArrays:
    """Return the arrays of a target column."""
    numbers = np.array(moderated(column))  # a copy: the columns of a data frame are read-only
    if not column.is_discrete:
        return TargetArrays(np.zeros(len(numbers), dtype=np.int64), numbers, 0)
    codes = numbers.astype(np.int64)
    return TargetArrays(codes, numbers, int(codes.max()) + 1)
