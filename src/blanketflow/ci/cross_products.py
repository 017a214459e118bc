"""Fisher's z and the F test from centred sums of products that were added up elsewhere, without rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import UnsupportedError
from ..core.results import CIResults
from ..core.spread import SMALLEST_SPREAD
from .fisher_z import FisherZEngine
from .least_squares import SMALLEST_SHARE
from .tails import f_greater

if TYPE_CHECKING:
    from ..core.summed_table import SummedTable


class CrossProductEngine(FisherZEngine):
    """Answers queries from `SufficientStatistics` with cross products.

    Where the conditioning set explains all but 1e-8 of a column's variance the column counts as explained, as there are
    no rows to compute what is left: sums of products have lost its digits. A test of columns whose product was refused
    is not reliable, and finds nothing.

    Attributes
    ----------
    refused : set of tuples of str
        The columns of tests that were refused: candidate, target, and those given.
    """

    well_conditioned, vanishing = 0.0, 1e-8

    def __init__(self, table: SummedTable) -> None:
        self.n_rows, self._names = table.n_rows, table.names
        self.correlations = SummedCorrelations(table)
        self.refused: set[tuple[str, ...]] = set()

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Return z of the partial correlation of each candidate with the target."""
        columns = np.asarray(candidates)
        partial, _, rank = self._sweep(columns, target, given)  # type: ignore[misc] # no share is below 0
        is_told = self._told([(column,) for column in columns.tolist()], target, given, partial)
        partial = np.clip(np.where(is_told, partial, 0.0), -1.0, 1.0)
        log_unexplained = np.log1p(-np.minimum(partial * partial, 1.0 - SMALLEST_SHARE))
        results = self._results(columns, target, given, partial, log_unexplained, rank)
        results.reliable &= is_told
        return results

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Return F of the nested regressions of the target on the given columns, with and without each set."""
        before, rank = self._unexplained(target, given)
        found = [self._unexplained(target, (*given, *columns)) for columns in candidates]
        shares = np.array([share / before if before > self.vanishing else 1.0 for share, _ in found])
        is_told = self._told(candidates, target, given, shares + before)
        dof = np.array([float(of_both - rank) for _, of_both in found])
        rest = self.n_rows - 1.0 - rank - dof
        dof[(rest <= 0) | ~is_told] = 0.0
        gained = np.expm1(-np.log(np.clip(np.where(is_told, shares, 1.0), SMALLEST_SHARE, 1.0)))
        f = np.where(dof > 0, gained * rest / np.maximum(dof, 1.0), 0.0)
        n, reliable = np.full(len(f), self.n_rows), self._are_reliable(candidates, target, given) & (rest > 0) & is_told
        return CIResults(f, *f_greater(f, dof, np.maximum(rest, 1.0)), dof, n, reliable)

    def _unexplained(self, target: int, given: tuple[int, ...]) -> tuple[float, int]:
        """Return the share of the target's variance that some columns do not explain, and their rank."""
        columns, rank = [*given, target], 0
        matrix, shares = self.correlations.between(columns, np.array(columns))
        for i in range(len(given)):
            if not shares[i] <= self.vanishing:
                row = matrix[i] / math.sqrt(shares[i])
                matrix[i + 1 :] -= row[i + 1 :, np.newaxis] * row
                shares -= row * row
                rank += 1
        return float(shares[-1]), rank

    def _told(
        self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...], found: np.ndarray
    ) -> np.ndarray:
        """Return which tests have a result, and keep the columns of the others."""
        is_told = ~np.isnan(found)
        for at in np.flatnonzero(~is_told).tolist():
            self.refused.add(tuple(self._names[one] for one in (*candidates[at], target, *given)))
        return is_told


class SummedCorrelations:
    """Correlations from cross products, with the methods of `fisher_z.Correlations` that need no rows."""

    def __init__(self, table: SummedTable) -> None:
        found = table.statistics.cross_products
        if found is None:
            raise UnsupportedError(
                "fisher-z needs cross products, and tables were counted. Set tables: cross-products in the agreement, "
                "or ci_test to g2."
            )
        at = [table.statistics.agreement.names.index(name) for name in table.names]
        products, means = found.products[np.ix_(at, at)], found.means[at]
        spread = np.sqrt(np.diagonal(products) / table.n_rows)
        is_numeric = np.array([not column.is_discrete for column in table.columns])
        is_lost = is_numeric & (spread <= 2.0 * SMALLEST_SPREAD * np.abs(means))
        varies = spread > 4.0 * np.finfo(np.float64).eps * np.abs(means)  # else constant but for rounding
        self.rounded = {*np.flatnonzero(is_lost & varies).tolist()}
        scale = np.where(is_lost | (spread == 0), np.inf, spread * math.sqrt(table.n_rows))
        self._matrix = products / np.outer(scale, scale)
        self._variances = np.where(np.isinf(scale), 0.0, 1.0 + 0.0 * spread)

    def between(self, pivots: Sequence[int], columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return correlations, shape (pivots, columns), and the columns' variances, 0 or 1."""
        return self._matrix[np.ix_(np.asarray(pivots), columns)], self._variances[columns]
