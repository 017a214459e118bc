"""Risks of the PPI test's own trees on several columns. Features share trees, which are kept while they are valid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.table import Table
from ...models.encode import unit_of_errors
from ..engines import Candidate, columns_of
from .repeats import Repeats
from .tree_arrays import ColumnLists, column_lists, target_arrays

_NO_NODES, _NO_ROWS = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)


class _Tree(NamedTuple):
    feature: np.ndarray
    cut: np.ndarray
    left: np.ndarray
    middle: np.ndarray
    rows: np.ndarray
    leaf: np.ndarray
    used: np.ndarray  # positions among the sorted columns, ascending
    place: np.ndarray
    test_codes: np.ndarray


class SortedColumns(NamedTuple):
    """Sorted columns, in the layout described in kernels/sorted_columns.py.

    `columns`, (d,), are their positions in the table, ascending. The other fields are the kernels' arrays.
    """

    columns: np.ndarray
    entries: np.ndarray
    starts: np.ndarray
    background: np.ndarray
    levels: np.ndarray
    level_starts: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays for the kernels."""
        return self[1:]


class TreeRisks:
    """One tree per repeat on a set of columns, and its risk before and after some of them are permuted together.

    A tree grown on a set of columns is also the tree of every smaller set that contains the columns it uses. When one
    of these is dropped, only the part below the nodes that it splits is grown again. A column that a tree does not use
    has a risk difference of exactly zero.

    `n_fits` counts the trees grown so far, entirely or below some nodes, and `n_examined` the entries of columns
    examined to find cuts, which is the cost of growing.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats) -> None:
        # numba takes half a second to import: only if needed
        from ...kernels import tree_predictions, trees

        self._grow_tree, self._predictions = trees.grow_tree, tree_predictions
        self.table, self.repeats = table, repeats
        self.n_fits = self.n_examined = 0
        self._target = target_arrays(table[target])
        self._unit = 1.0 if self._target.n_classes else unit_of_errors(self._target.numbers)
        n_repeats = len(repeats.is_train)
        self._trees: list[_Tree | None] = [None] * n_repeats
        self._sources = [np.searchsorted(t, p) for t, p in zip(repeats.test_rows, repeats.permuted_rows, strict=True)]
        self._risks = np.empty(n_repeats)
        self._sorted: SortedColumns | None = None
        self._offered = _NO_NODES

    def offer(self, columns: Sequence[int] | np.ndarray) -> None:
        """Set the columns of the trees."""
        columns = np.unique(np.asarray(columns, dtype=np.int64))
        dropped = self._offered[~np.isin(self._offered, columns)]
        if len(self._offered) == len(columns) + len(dropped) and len(self._offered):
            self._drop(dropped)
            return
        if self._sorted is None or not np.isin(columns, self._sorted.columns).all():
            self._sorted = sort_columns(self.table, columns)
            self._work = np.empty(2 * len(self._sorted.entries) + 16, dtype=np.int64)
        self._offered = columns
        self._members = np.searchsorted(self._sorted.columns, columns)
        self._is_used = np.zeros((len(self._trees), len(self._sorted.columns)), dtype=bool)
        self._trees = [None] * len(self._trees)
        for b in range(len(self._trees)):
            self._grow(b)

    def drop(self, column: int) -> None:
        """Remove a column from the set."""
        self._drop(np.array([column]))

    def of(self, x: Candidate) -> tuple[np.ndarray, np.ndarray]:
        """Return risks of all repeats' trees before and after columns of the set are permuted, both of shape (B,)."""
        risks, permuted = self._risks.copy(), self._risks.copy()
        at = np.searchsorted(self._sorted.columns, columns_of(x))
        is_moved = np.zeros(len(self._sorted.columns), dtype=bool)
        is_moved[at] = True
        for b in np.flatnonzero(self._is_used[:, at].any(axis=1)):
            tree = self._trees[b]
            permuted[b] = self._risk(b, tree, is_moved[tree.used])
        return risks, permuted

    def conditional(self, x: Candidate, given: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return risks before and after `x` is permuted, of trees on it and `given`, both of shape (B,)."""
        self.offer((*columns_of(x), *given))
        return self.of(x)

    def _drop(self, columns: np.ndarray) -> None:
        gone = np.searchsorted(self._offered, columns)
        at = self._members[gone]
        self._offered, self._members = np.delete(self._offered, gone), np.delete(self._members, gone)
        for b in np.flatnonzero(self._is_used[:, at].any(axis=1)):
            self._grow(b)

    def _grow(self, b: int) -> None:
        """Grow the tree of a repeat on the set, starting from the valid part of its present tree."""
        old, columns, repeats = self._trees[b], self._sorted, self.repeats
        *nodes, n_examined = self._grow_tree(
            *columns.arrays,
            self._members,
            repeats.is_train[b],
            *self._target,
            *(old[:5] if old else (*(_NO_NODES,) * 4, _NO_ROWS)),
            self._work,
        )
        used, place, test_codes = self._predictions.read_test_rows(
            nodes[0], *columns.arrays[:3], repeats.test_rows[b], self.table.n_rows
        )
        self._trees[b] = tree = _Tree(*nodes, used, place, test_codes)
        self._risks[b] = self._risk(b, tree, np.zeros(len(used), dtype=bool))
        self._is_used[b] = False
        self._is_used[b, used] = True
        self.n_fits += 1
        self.n_examined += n_examined

    def _risk(self, b: int, tree: _Tree, is_moved: np.ndarray) -> float:
        classes, numbers, n_classes = self._target
        rows = self.repeats.test_rows[b]
        risk = self._predictions.tree_risk(
            tree.place, tree.cut, tree.left, tree.leaf, tree.test_codes, is_moved, self._sources[b], classes[rows],
            numbers[rows], n_classes,
        )  # fmt: skip
        return risk / self._unit


def sort_columns(table: Table, columns: np.ndarray) -> SortedColumns:
    """Sort columns of a table, given by ascending positions; sparse columns are not made dense."""
    blocks = [(at, *_sort(lists, table.n_rows)) for at, lists in column_lists(table, columns)]
    at, entries, n_entries, background, levels, n_levels = map(np.concatenate, zip(*blocks, strict=True))
    order = np.argsort(at)  # blocks of a mixed table are not in its order
    entries, starts = _in_order(entries, n_entries, order)
    levels, level_starts = _in_order(levels, n_levels, order)
    return SortedColumns(columns, entries, starts, background[order], levels, level_starts)


def _sort(lists: ColumnLists, n_rows: int) -> tuple[np.ndarray, ...]:
    """Return the entries and their number per column, the backgrounds, and the levels and their number per column."""
    from ...kernels import sorted_columns as kernels

    d, room = len(lists.starts) - 1, len(lists.rows)
    entries, n_entries, background = np.empty(room, np.int64), np.empty(d, np.int64), np.empty(d, np.int32)
    levels, n_levels = np.empty(room + d), np.empty(d, np.int64)
    kernels.sort_columns(
        lists.starts, lists.rows, lists.values, n_rows, entries, n_entries, background, levels, n_levels
    )
    return entries[: n_entries.sum()], n_entries, background, levels[: n_levels.sum()], n_levels


def _in_order(values: np.ndarray, lengths: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return runs of values in another order, and where each run starts and the last one ends."""
    before, lengths = np.concatenate([[0], np.cumsum(lengths)])[order], lengths[order]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return values[np.arange(starts[-1]) + np.repeat(before - starts[:-1], lengths)], starts
