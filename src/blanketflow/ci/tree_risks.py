"""Risks of the PPI test's own tree, by kernel. Trees are shared between features and kept while they stay valid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.table import Table
from .repeats import Repeats
from .target_arrays import target_arrays

#: Columns that are held as dense arrays at a time in the marginal pass.
BLOCK = 512


class _Tree(NamedTuple):
    columns: frozenset[int]  # what the tree was offered
    used: frozenset[int]  # what it split on
    arrays: tuple[np.ndarray, ...]
    risk: float


class TreeRisks:
    """One tree a repeat on the columns of a set, and its risk before and after one column is permuted.

    A tree that was offered the columns C and used only U is the tree of every set between U and C: it is refitted only
    when a column that it uses has been dropped. A column that it does not use has a risk difference of exactly zero.

    Attributes
    ----------
    n_fits : int
        Trees grown on more than one column so far.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats, seed: int) -> None:
        from ..kernels import trees  # numba costs half a second, which only jobs that grow trees should pay

        self._kernels = trees
        self.table, self.repeats = table, repeats
        self.n_fits = 0
        self._target = target_arrays(table[target])
        self._trees: list[_Tree | None] = [None] * len(repeats.is_train)
        self._stacked: tuple[int, ...] = ()

    def marginal(self, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return risks and permuted risks of a tree on each column alone, both of shape (m, B)."""
        risks = np.empty((len(columns), len(self._trees)))
        permuted = np.empty_like(risks)
        for start in range(0, len(columns), BLOCK):
            part = slice(start, start + BLOCK)
            values, order = _presort(self.table, columns[part])
            repeats = self.repeats
            self._kernels.single_column_risks(
                values,
                order,
                repeats.is_train,
                repeats.test_rows,
                repeats.permuted_rows,
                *self._target,
                risks[part],
                permuted[part],
            )
        return risks, permuted

    def conditional(self, column: int, given: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return risks and permuted risks of trees on `column` and `given` together, both of shape (B,)."""
        members = frozenset((column, *given))
        self._stack(members)
        place = self._stacked.index(column)
        risks, permuted = np.empty(len(self._trees)), np.empty(len(self._trees))
        for b in range(len(self._trees)):
            tree = self._tree(b, members)
            risks[b] = permuted[b] = tree.risk
            if column in tree.used:
                permuted[b] = self._risk(tree.arrays, b, place)
        return risks, permuted

    def _tree(self, b: int, members: frozenset[int]) -> _Tree:
        tree = self._trees[b]
        if tree is None or not tree.used <= members <= tree.columns:
            offered = np.array([k for k, column in enumerate(self._stacked) if column in members])
            arrays = self._kernels.grow_tree(
                self._values, self._order, offered, self.repeats.is_train[b], *self._target
            )
            used = frozenset(self._stacked[k] for k in np.unique(arrays[0]) if k >= 0)
            tree = self._trees[b] = _Tree(members, used, arrays, self._risk(arrays, b, -1))
            self.n_fits += 1
        return tree

    def _risk(self, arrays: tuple[np.ndarray, ...], b: int, permuted_column: int) -> float:
        repeats = self.repeats
        return self._kernels.tree_risk(
            *arrays, self._values, repeats.test_rows[b], permuted_column, repeats.permuted_rows[b], *self._target
        )

    def _stack(self, members: frozenset[int]) -> None:
        """Hold the members' columns, in table order, as arrays; a smaller set uses those of the larger one."""
        if not members <= set(self._stacked):
            self._stacked = tuple(sorted(members))
            self._values, self._order = _presort(self.table, self._stacked)
            self._trees = [None] * len(self._trees)


def _presort(table: Table, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    values = np.empty((len(columns), table.n_rows))
    for k, column in enumerate(columns):
        values[k] = table[column].numbers()
    return values, np.argsort(values, axis=1, kind="stable").astype(np.int32)
