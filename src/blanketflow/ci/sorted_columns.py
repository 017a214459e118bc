"""Columns of a table as kernels/sorted_columns.py describes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.matrix_columns import MatrixColumns
from ..core.sparse_columns import SparseColumns
from ..core.table import SparseValues, Table

#: Cells of dense columns that are sorted in one go.
CELLS = 2**20


class SortedColumns(NamedTuple):
    """Sorted columns; the last five are the kernels' arrays.

    Attributes
    ----------
    columns : int64 ndarray of shape (d,)
        Their positions in the table, ascending.
    """

    columns: np.ndarray
    entries: np.ndarray
    starts: np.ndarray
    background: np.ndarray
    levels: np.ndarray
    level_starts: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the kernels read."""
        return self[1:]


def sort_columns(table: Table, columns: np.ndarray) -> SortedColumns:
    """Sort columns of a table, given by ascending position; sparse ones are not made dense."""
    parts = [_sort(table, columns[block], is_sparse) for block, is_sparse in _blocks(table, columns)]
    entries, background, levels, n_entries, n_levels = map(np.concatenate, zip(*parts, strict=True))
    starts, level_starts = (np.concatenate([[0], np.cumsum(counts)]) for counts in (n_entries, n_levels))
    return SortedColumns(columns, entries, starts, background, levels, level_starts)


def _blocks(table: Table, columns: np.ndarray) -> Iterator[tuple[slice, bool]]:
    """Yield runs of columns that are all sparse or all dense, these of bounded size, and which they are."""
    is_sparse = _are_sparse(table, columns)
    width = max(1, CELLS // max(1, table.n_rows))
    start = 0
    for stop in range(1, len(columns) + 1):
        if (
            stop == len(columns)
            or is_sparse[stop] != is_sparse[start]
            or (not is_sparse[start] and stop - start == width)
        ):
            yield slice(start, stop), bool(is_sparse[start])
            start = stop


def _are_sparse(table: Table, columns: np.ndarray) -> np.ndarray:
    if isinstance(table.columns, SparseColumns):
        return columns < len(table.columns.names)
    if isinstance(table.columns, MatrixColumns):
        return np.zeros(len(columns), dtype=bool)
    return np.array([isinstance(table[int(column)].values, SparseValues) for column in columns])


def _sort(table: Table, columns: np.ndarray, is_sparse: bool) -> tuple[np.ndarray, ...]:
    """Return entries, background, levels, and how many entries and levels each column has."""
    from ..kernels import sorted_columns as kernels

    d = len(columns)
    if is_sparse:
        cell_starts, cell_rows, cell_values = _cells(table, columns)
        room, read, source = len(cell_rows), kernels.sort_sparse_columns, (cell_starts, cell_rows, cell_values)
        source = (*source, table.n_rows)
    else:
        values = np.array([table[int(column)].numbers() for column in columns])
        room, read, source = values.size, kernels.sort_dense_columns, (values, np.argsort(values, axis=1))
    entries, background = np.empty(room, np.int64), np.empty(d, np.int32)
    levels, starts, level_starts = np.empty(room + d), np.zeros(d + 1, np.int64), np.zeros(d + 1, np.int64)
    n_entries, n_levels = read(*source, entries, starts, background, levels, level_starts)
    return entries[:n_entries], background, levels[:n_levels], np.diff(starts), np.diff(level_starts)


def _cells(table: Table, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where the cells of sparse columns begin, their rows and their values."""
    cells = [table[int(column)].values for column in columns]
    starts = np.concatenate([[0], np.cumsum([len(cell.rows) for cell in cells])])
    rows = np.concatenate([cell.rows for cell in cells]).astype(np.int32)
    return starts, rows, np.concatenate([cell.values for cell in cells]).astype(np.float64)
