"""Columns of a table as kernels/sorted_columns.py describes them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.table import Table
from .column_lists import ColumnLists, column_lists


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
    blocks = [(at, *_sort(lists, table.n_rows)) for at, lists in column_lists(table, columns)]
    at, entries, n_entries, background, levels, n_levels = map(np.concatenate, zip(*blocks, strict=True))
    order = np.argsort(at)  # blocks of a mixed table are not in its order
    entries, starts = _in_order(entries, n_entries, order)
    levels, level_starts = _in_order(levels, n_levels, order)
    return SortedColumns(columns, entries, starts, background[order], levels, level_starts)


def _sort(lists: ColumnLists, n_rows: int) -> tuple[np.ndarray, ...]:
    """Return entries and how many each column has, backgrounds, levels and how many each column has."""
    from ..kernels import sorted_columns as kernels

    d, room = len(lists.starts) - 1, len(lists.rows)
    entries, n_entries, background = np.empty(room, np.int64), np.empty(d, np.int64), np.empty(d, np.int32)
    levels, n_levels = np.empty(room + d), np.empty(d, np.int64)
    kernels.sort_columns(
        lists.starts, lists.rows, lists.values, n_rows, entries, n_entries, background, levels, n_levels
    )
    return entries[: n_entries.sum()], n_entries, background, levels[: n_levels.sum()], n_levels


def _in_order(values: np.ndarray, lengths: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return runs of values in another order, and where each begins and the last one ends."""
    before, lengths = np.concatenate([[0], np.cumsum(lengths)])[order], lengths[order]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return values[np.arange(starts[-1]) + np.repeat(before - starts[:-1], lengths)], starts
