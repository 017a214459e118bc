"""Risks of the PPI test's own tree on several columns. Trees are shared between features and kept while they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.table import Table
from .repeats import Repeats
from .sorted_columns import SortedColumns, sort_columns
from .target_arrays import target_arrays, unit_of_errors

_NO_NODES = np.zeros(0, dtype=np.int64)


class _Tree(NamedTuple):
    feature: np.ndarray
    cut: np.ndarray
    left: np.ndarray
    leaf: np.ndarray
    used: np.ndarray  # positions among the sorted columns, ascending
    place: np.ndarray
    test_codes: np.ndarray


class TreeRisks:
    """One tree a repeat on the columns of a set, and its risk before and after one column is permuted.

    A tree that was offered a set of columns is the tree of every smaller set that has the columns it uses. When one of
    these is dropped, only what hangs below the nodes that it splits is grown anew. A column that a tree does not use
    has a risk difference of exactly zero.

    Attributes
    ----------
    n_fits : int
        Trees grown so far, wholly or below some nodes.
    n_examined : int
        Entries of columns looked at to find cuts so far: what growing costs.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats) -> None:
        # numba costs half a second, which only jobs that grow trees should pay
        from ..kernels import tree_predictions, trees

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
        """Bring all trees to a set of columns of the table."""
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
        """Take a column away from the set."""
        self._drop(np.array([column]))

    def of(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return risks of all repeats' trees before and after a column of the set is permuted, both of shape (B,)."""
        risks, permuted = self._risks.copy(), self._risks.copy()
        at = int(np.searchsorted(self._sorted.columns, column))
        for b in np.flatnonzero(self._is_used[:, at]):
            tree = self._trees[b]
            permuted[b] = self._risk(b, tree, int(np.searchsorted(tree.used, at)))
        return risks, permuted

    def conditional(self, column: int, given: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return risks before and after `column` is permuted, of trees on it and `given`, both of shape (B,)."""
        self.offer((column, *given))
        return self.of(column)

    def _drop(self, columns: np.ndarray) -> None:
        gone = np.searchsorted(self._offered, columns)
        at = self._members[gone]
        self._offered, self._members = np.delete(self._offered, gone), np.delete(self._members, gone)
        for b in np.flatnonzero(self._is_used[:, at].any(axis=1)):
            self._grow(b)

    def _grow(self, b: int) -> None:
        """Grow the tree of a repeat on the set, from what holds of the one that is there."""
        old, columns, repeats = self._trees[b], self._sorted, self.repeats
        *nodes, n_examined = self._grow_tree(
            *columns.arrays,
            self._members,
            repeats.is_train[b],
            *self._target,
            *(old[:3] if old else (_NO_NODES,) * 3),
            self._work,
        )
        used, place, test_codes = self._predictions.read_test_rows(
            nodes[0], *columns.arrays[:3], repeats.test_rows[b], self.table.n_rows
        )
        self._trees[b] = tree = _Tree(*nodes, used, place, test_codes)
        self._risks[b] = self._risk(b, tree, -1)
        self._is_used[b] = False
        self._is_used[b, used] = True
        self.n_fits += 1
        self.n_examined += n_examined

    def _risk(self, b: int, tree: _Tree, permuted: int) -> float:
        classes, numbers, n_classes = self._target
        rows = self.repeats.test_rows[b]
        risk = self._predictions.tree_risk(
            tree.place,
            tree.cut,
            tree.left,
            tree.leaf,
            tree.test_codes,
            permuted,
            self._sources[b],
            classes[rows],
            numbers[rows],
            n_classes,
        )
        return risk / self._unit
