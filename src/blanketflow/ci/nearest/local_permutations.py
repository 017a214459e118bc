"""Tests of any statistic by permutations of one side among neighbours in Z, which keep what it depends on there."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ...core.parameters import integer
from ...core.results import CIResult, CIResults
from ...core.seeds import derive_rng
from ...core.table import Column, Table
from ..base import CITest
from ..joint_engine import JointEngine
from ..pooling import pooled_p_values
from ..unbound import more_permutations

#: Rows per nearest neighbour of a reliable test.
ROWS_PER_NEIGHBOUR = 3
#: Largest shift of a row's places, in which the distance of two values next to each other is 1 or more.
SHIFT = 1e-3


@dataclass
class LocalPermutationTest(CITest):
    """A test whose engine is a `LocalPermutations`."""

    n_neighbors: int = integer(7, "Nearest neighbours (k).", at_least=1)
    n_permuted: int = integer(5, "Nearest neighbours in Z, the row itself included, for permutations.", at_least=2)
    n_permutations: int = integer(200, "Permutations of a test.", at_least=1)

    def smallest_p(self) -> float:
        """Return the p-value without exceedances."""
        return 1.0 / (1.0 + self.n_permutations)

    def to_reach(self, level: float) -> str:
        """Return in words how many permutations are needed."""
        return more_permutations(level, self.n_permutations)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return results pooled by their p-values."""
        return pooled_p_values(copies)


class LocalPermutations(JointEngine):
    """An engine with p-values (1 + exceedances) / (1 + n_permutations) of a statistic that a subclass computes.

    A permutation gives each row the values of one of its `n_permuted` nearest rows in Z (Runge 2018). If Z has labels
    only, rows with equal ones are permuted, which is exact, and given nothing all rows. Distances are the largest of
    any column: of numbers that of twice their ranks, and of different labels at least twice the number of rows.
    """

    tests_flags_exactly = False  # permutations given nothing are exact

    def __init__(self, test: LocalPermutationTest, table: Table, seed: int) -> None:
        super().__init__(table)
        self._test, self._seed = test, seed
        self._places = cache(lambda at: places(table[at]))
        self._far = 2 * table.n_rows

    @abstractmethod
    def statistics(
        self, candidates: list[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> np.ndarray:
        """Return each candidate's statistic, and those of its `permutations`, shape (m, 1 + n_permutations)."""

    def each(
        self, candidates: Sequence[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> CIResults:
        """Test each set of columns with the targets, as one joint variable."""
        n = self._table.n_rows
        is_rounded = any(map(self._is_rounded, (*targets, *given)))
        is_enough = n >= ROWS_PER_NEIGHBOUR * self._test.n_neighbors and not is_rounded
        is_tested = [is_enough and not any(map(self._is_rounded, columns)) for columns in candidates]
        varies = [any(not self._table[at].is_constant() for at in columns) for columns in candidates]
        asked = [at for at, is_asked in enumerate(is_tested) if is_asked and varies[at]]
        answers = [CIResult(0.0, 1.0, 0.0, 0.0, n, is_reliable) for is_reliable in is_tested]
        if asked and not all(self._table[at].is_constant() for at in targets):
            found = self.statistics([candidates[at] for at in asked], targets, given)
            # Equal up to the order of summation is equal.
            exceeding = (found[:, 1:] >= found[:, :1] - 1e-9).sum(axis=1)
            p_values = (1.0 + exceeding) / (1.0 + self._test.n_permutations)
            for at, statistic, p_value in zip(asked, found[:, 0].tolist(), p_values.tolist(), strict=True):
                answers[at] = CIResult(statistic, p_value, float(np.log(p_value)), 1.0, n, True)
        return CIResults.from_rows(answers)

    def permutations(self, given: tuple[int, ...]) -> np.ndarray:
        """Return from which row each row gets its values, (1 + n_permutations, n); at first from itself."""
        from ...kernels.nearest_information import local_permutations

        n, n_drawn = self._table.n_rows, self._test.n_permutations
        rng = derive_rng(self._seed, "permutations", *sorted(self._table.names[at] for at in given))
        moved = np.empty((1 + n_drawn, n), dtype=np.int32)
        moved[0] = np.arange(n)
        if all(self._table[at].is_discrete for at in given):
            strata = equal_rows([np.zeros(n, dtype=np.intp), *(self._places(at) for at in given)])
            order = np.argsort(strata, kind="stable")
            for one in moved[1:]:
                one[order] = np.lexsort((rng.random(n), strata))
            return moved
        near = self.nearest(given, min(self._test.n_permuted, n))
        local_permutations(near, rng.integers(2**63, size=n_drawn, dtype=np.uint64), moved[1:])
        return moved

    def nearest(self, columns: tuple[int, ...], k: int) -> np.ndarray:
        """Return the k nearest rows of each in some columns, itself first, int32 of shape (n, k).

        Rows at the same distance are in random order.
        """
        from scipy.spatial import KDTree

        found = []
        for at in sorted(columns, key=lambda at: self._table.names[at]):
            shift = derive_rng(self._seed, "ties", self._table.names[at]).uniform(0.0, SHIFT, self._table.n_rows)
            found.append(self._places(at) * (self._far if self._table[at].is_discrete else 1) + shift)
        points = np.column_stack(found)
        near = KDTree(points).query(points, k=k, p=np.inf)[1]
        return np.ascontiguousarray(near.reshape(len(points), k), dtype=np.int32)


def equal_rows(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return a number of the rows that are equal in one or more columns, each (n,), ascending with these.

    >>> equal_rows([np.array([1, 0, 1]), np.array([5, 5, 5])]).tolist()
    [1, 0, 1]
    """
    found = np.unique(columns[0], return_inverse=True)[1]
    for column in columns[1:]:
        _, codes = np.unique(column, return_inverse=True)
        _, found = np.unique(found * (codes.max() + 1) + codes, return_inverse=True)
    return found


def places(column: Column) -> np.ndarray:
    """Return twice the mean ranks of a number's values, or the codes of a label's levels, int32 of shape (n,)."""
    _, codes, counts = np.unique(column.numbers(), return_inverse=True, return_counts=True)
    return (codes if column.is_discrete else (2 * np.cumsum(counts) - counts)[codes]).astype(np.int32)
