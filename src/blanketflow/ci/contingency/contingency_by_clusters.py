"""Contingency tables of a sample with a design: weighted counts, with p-values from the totals of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.design import Design
from ...core.results import CIResult, CIResults
from ...core.table import Table
from ..cluster_totals import Clusters, Spread, judged, spread
from .chance import Chance
from .coded_columns import CodedColumns
from .contingency import P_IS_1, ContingencyEngine, ContingencyTest

#: A table is tested if it takes at most so many numbers, such as clusters times cells: 256 MiB.
MOST_NUMBERS = 2**25


class ContingencyByClusters(ContingencyEngine):
    """The engine of a table with a design: `dof` and `reliable` are those of as many independent rows.

    Counts are sums of weights of mean 1, so that the statistic per row is that of the weighted distribution. The score
    of a row for a cell is the product of what its indicators of the two levels differ by from their shares in the
    stratum, over the root of the expected count: these scores add up to the terms of X2, squared.
    """

    def __init__(self, test: ContingencyTest, table: Table, target: int | None, design: Design) -> None:
        super().__init__(test, table, target)
        self._clusters, self._weights = Clusters(design, table.n_rows), design.shares()

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate against the target within the strata of the conditioning set."""
        results = super().evaluate(candidates, target, given)
        self.columns.ensure(candidates)
        return self._judge_all(results, self.columns, candidates, target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns as one variable, whose levels are the combinations that occur."""
        results = super().evaluate_sets(candidates, target, given)
        for at, columns in enumerate(candidates):
            one = CIResults(*(values[at : at + 1] for values in results.columns().values()))
            self._judge_all(one, self.joint([columns]), [0], target, given)
        return results

    def evaluate_one(self, candidate: int, target: int, given: tuple[int, ...]) -> CIResult:
        """Test one candidate."""
        return self.evaluate([candidate], target, given)[0]

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return the plug-in estimate of I(X;Y|Z) of each candidate in nats, of the weighted distribution."""
        if self._weights is None:
            return super().information(candidates, target, given)
        of_given, with_target = (self._entropy(columns) for columns in (given, (target, *given)))
        found = [self._entropy((x, *given)) - self._entropy((x, target, *given)) for x in candidates.tolist()]
        return np.maximum(np.array(found) + with_target - of_given, 0.0)

    def information_and_chance(
        self, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, Chance]:
        """Return `information` and `chance`."""
        return self.information(candidates, target, given), self.chance(candidates, target, given)

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return that of as many independent rows, times the mean design effect of Rao and Scott.

        The design effect is the trace of the spread of a table's scores per degree of freedom, or 1 where a table is
        too large for it.
        """
        found, effects = super().chance(candidates, target, given), np.ones(len(candidates))
        dof, strata = self._tests(candidates.tolist(), target, given).dof, self._strata(target, given)
        for at, x in enumerate(candidates.tolist()):
            if dof[at] and self._n_numbers(strata, int(self.columns.n_levels[x]), False) <= MOST_NUMBERS:
                effects[at] = self._spread(self._counts(self.columns, x, strata)).trace[0] / dof[at]
        return Chance(found.mean * effects, found.deviation * effects)

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats, of the weighted distribution."""
        if self._weights is None:
            return super().entropy(candidates, given)
        return np.array([self._entropy((x, *given)) for x in candidates.tolist()])

    def _entropy(self, columns: tuple[int, ...]) -> float:
        counts = np.bincount(self.columns.stratify(columns)[0], self._weights)
        shares = counts[counts > 0] / self.n_rows
        return -float(np.sum(shares * np.log(shares)))

    def _judge_all(
        self, results: CIResults, columns: CodedColumns, positions: Sequence[int], target: int, given: tuple[int, ...]
    ) -> CIResults:
        """Replace p-values, and with weights statistics, by those of the design."""
        strata = self._strata(target, given)
        for at, x in enumerate(positions):
            says_nothing = not results.reliable[at] and self.test.unreliable in P_IS_1
            if says_nothing and self._weights is None:
                continue
            if self._n_numbers(strata, int(columns.n_levels[x]), says_nothing) > MOST_NUMBERS:
                results.p_value[at], results.log_p[at], results.reliable[at] = 1.0, 0.0, False
                continue
            counts = self._counts(columns, x, strata)
            if self._weights is not None:
                results.statistic[at] = counts.x2() if self.test.is_pearson else counts.g2()
            if says_nothing:
                continue
            found = judged(results.statistic[at : at + 1], self._spread(counts), self._clusters.n - 1.0)
            results.p_value[at], results.log_p[at] = (float(values[0]) for values in found)
        return results

    def _strata(self, target: int, given: tuple[int, ...]) -> tuple[np.ndarray, int, np.ndarray, int]:
        """Return each row's stratum and their number, without empty ones, and its level of the target, likewise."""
        strata = np.unique(self.columns.stratify(given)[0], return_inverse=True)[1]
        y = self.columns.codes(target)
        return strata, int(strata.max(initial=0)) + 1, y, int(self.columns.n_levels[target])

    def _n_numbers(self, strata: tuple[np.ndarray, int, np.ndarray, int], n_x: int, counts_alone: bool) -> int:
        """Return how many numbers the counts of a table take, or what its spread takes."""
        _, n_strata, _, n_y = strata
        if self._clusters.are_rows and not counts_alone:
            return n_strata * max(n_x, n_y) ** 2
        return n_strata * n_y * n_x * (1 if counts_alone else self._clusters.n)

    def _counts(self, columns: CodedColumns, x: int, strata: tuple[np.ndarray, int, np.ndarray, int]) -> Counts:
        stratum, n_strata, y, n_y = strata
        n_x = int(columns.n_levels[x])
        cells = (stratum * n_y + y) * n_x + columns.codes(x)
        shape = n_strata, n_y, n_x
        return Counts(cells, np.bincount(cells, self._weights, n_strata * n_y * n_x).reshape(shape).astype(float))

    def _spread(self, counts: Counts) -> Spread:
        if self._clusters.are_rows:
            squares = None if self._weights is None else self._weights**2
            return counts.spread_of_rows(np.bincount(counts.cells, squares, counts.observed.size))
        n, size = self._clusters.n, counts.observed.size
        of_clusters = np.bincount(self._clusters.numbers * size + counts.cells, self._weights, n * size)
        scores = counts.scores(of_clusters.reshape(n, *counts.observed.shape))
        return spread(scores.reshape(n, size).T[np.newaxis])


class Counts(NamedTuple):
    """Each row's cell of a table, (n,), and its counts, sums of weights of shape (strata, levels of Y, levels of X)."""

    cells: np.ndarray
    observed: np.ndarray

    @property
    def shares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The shares of the levels of Y and of X in each stratum, and the counts of strata, which broadcast."""
        of_stratum = self.observed.sum(axis=(1, 2), keepdims=True)
        return (
            self.observed.sum(axis=2, keepdims=True) / of_stratum,
            self.observed.sum(axis=1, keepdims=True) / of_stratum,
            of_stratum,
        )

    def g2(self) -> float:
        """Return G2, twice the sum of O log(O / E)."""
        of_y, of_x, of_stratum = self.shares
        expected = of_y * of_x * of_stratum
        occurs = self.observed > 0
        found = self.observed[occurs]
        return max(2.0 * float(np.sum(found * np.log(found / expected[occurs]))), 0.0)

    def x2(self) -> float:
        """Return Pearson's X2, the sum of (O - E)^2 / E."""
        return float(np.sum(self.scores(self.observed) ** 2))

    def scores(self, of_rows: np.ndarray) -> np.ndarray:
        """Return the sums of scores of some rows, from their counts, (..., strata, levels of Y, levels of X)."""
        of_y, of_x, of_stratum = self.shares
        expected = of_y * of_x * of_stratum
        centred = of_rows - of_x * of_rows.sum(axis=-1, keepdims=True)
        centred -= of_y * centred.sum(axis=-2, keepdims=True)
        return centred / np.where(expected > 0, np.sqrt(expected), np.inf)

    def spread_of_rows(self, squares: np.ndarray) -> Spread:
        """Return the spread where each row is a cluster, from the sums of squared weights of the cells.

        Rows of one cell have the same scores but for their weights, and those of two strata have none in common.
        """
        n, squares = len(self.cells), squares.reshape(self.observed.shape)
        of_y, of_x, of_stratum = self.shares
        y, x = (_products(shares.reshape(len(squares), -1)) for shares in (of_y, of_x))
        of_cells = squares / of_stratum
        total = self.scores(self.observed)
        roots = [np.sqrt(np.where(shares > 0, shares, np.inf)) for shares in (of_y, of_x)]
        along = total / roots[0] / roots[1]  # each cell's scores times the total
        trace = np.einsum("sba,sbb,saa->", of_cells, y, x)
        of_square = np.sum(of_cells * (y**2 @ of_cells @ x**2))
        projected, squared = np.sum(of_cells * along**2), np.sum(total**2)
        factor = n / max(n - 1.0, 1.0)
        of_square += squared**2 / n**2 - 2.0 * projected / n
        return Spread(np.array([factor * (trace - squared / n)]), np.array([factor**2 * of_square]))


def _products(shares: np.ndarray) -> np.ndarray:
    """Return the products of the scores of two levels, (strata, r, r), of the shares of r levels in each stratum."""
    inverse = np.divide(1.0, shares, out=np.zeros_like(shares), where=shares > 0)
    return np.eye(shares.shape[1]) * inverse[:, np.newaxis] - 1.0
