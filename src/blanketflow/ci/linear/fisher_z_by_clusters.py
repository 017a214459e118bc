"""Fisher's z of a sample with a design: weighted partial correlations, with p-values from the totals of clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.design import Design
from ...core.least_squares import COLLINEAR, orthonormal_basis, residuals
from ...core.results import CIResults
from ...core.table import Table
from ..cluster_totals import Clusters, Spread, judged, spread
from .fisher_z import FisherZEngine


class FisherZByClusters(FisherZEngine):
    """The engine of a table with a design.

    The score of a row is the product of the residuals of X and Y given Z, each of weighted length 1: their sum is the
    weighted partial correlation. `statistic` and `dof` are those of as many independent rows.
    """

    def __init__(self, table: Table, design: Design) -> None:
        super().__init__(table)
        self._clusters = Clusters(design, table.n_rows)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Return z of the weighted partial correlation of each candidate with the target, with its p-value."""
        columns = np.asarray(candidates)
        basis, y = self.regressed(target, given)
        y = _of_length_1(y[np.newaxis])
        found = []
        for block in self.correlations.blocks(columns):
            x = _of_length_1(residuals(self.correlations.standardised(block), basis))
            found.append(self._clusters.totals(x * y)[:, np.newaxis])
        return self._judged(super().evaluate(candidates, target, given), found, len(basis))

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Return F of the weighted nested regressions of the target, with and without each set, with its p-value."""
        basis, y = self.regressed(target, given)
        y = _of_length_1(y[np.newaxis])
        found = [self._clusters.totals(self.directions(columns, basis) * y)[np.newaxis] for columns in candidates]
        return self._judged(super().evaluate_sets(candidates, target, given), found, len(basis))

    def evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Return Rao's F of two sets of columns, with the p-value of the products of all directions of both."""
        basis = orthonormal_basis(self.correlations.standardised(given))
        of_x, of_y = (self.directions(columns, basis) for columns in (x, y))
        totals = self._clusters.totals((of_x[:, np.newaxis] * of_y).reshape(-1, self.n_rows))
        return self._judged(super().evaluate_pair(x, y, given), [totals[np.newaxis]], len(basis))

    def _judged(self, results: CIResults, totals: Sequence[np.ndarray], rank: int) -> CIResults:
        """Replace p-values by those of the totals, arrays of shape (some candidates, q, C), given `rank` columns."""
        n_given = self._clusters.n_costly(rank)
        rest = self._clusters.n - 1.0 - n_given
        if rest <= 0:
            results.p_value[:], results.log_p[:], results.reliable[:] = 1.0, 0.0, False
            return results
        found = [spread(one, n_given) for one in totals]
        together = Spread(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
        squared = np.concatenate([np.sum(one.sum(axis=-1) ** 2, axis=-1) for one in totals])
        tested = results.dof > 0  # else no row is left to compare with
        p_value, log_p = judged(squared, together, rest)
        results.p_value, results.log_p = np.where(tested, p_value, 1.0), np.where(tested, log_p, 0.0)
        return results


def _of_length_1(columns: np.ndarray) -> np.ndarray:
    """Return columns, (m, n), of length 1; zeros where others explain a column."""
    squares = np.vecdot(columns, columns)
    varies = squares > COLLINEAR
    return columns / np.where(varies, np.sqrt(np.where(varies, squares, 1.0)), np.inf)[:, np.newaxis]
