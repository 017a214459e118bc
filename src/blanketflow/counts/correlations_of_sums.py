"""Fisher's z and the F test from centred sums of products, without rows; correlations are shared with other linear
tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..ci.linear.fisher_z import FisherZ, FisherZEngine
from ..ci.tails import f_greater
from ..core.errors import UnsupportedError
from ..core.numerics import SMALLEST_SHARE, SMALLEST_SPREAD
from ..core.results import CIResults

if TYPE_CHECKING:
    from .summed_table import SummedTable


#: An unexplained share of variance up to this counts as 0, the precision of sums of products.
VANISHING = 1e-8


class SummedCorrelations:
    """Correlations from cross products, with the methods of `fisher_z.Correlations` that need no rows.

    A number is one part, a label has the indicators of all levels but the first. `rounded` columns vary, but rounding
    has destroyed them.
    """

    def __init__(self, table: SummedTable, test: str) -> None:
        found = table.statistics.cross_products
        if found is None:
            raise UnsupportedError(
                f"{test} needs cross products, and tables were counted. Set tables: cross-products in the agreement, "
                "or ci_test to g2."
            )
        places = table.statistics.agreement.places()
        at = [np.arange(places[name].start, places[name].stop) for name in table.names]
        ends = np.cumsum([0, *map(len, at)]).tolist()
        self._parts = [np.arange(*of) for of in pairwise(ends)]
        owners, together = np.repeat(np.arange(len(at)), [*map(len, at)]), np.concatenate(at)
        products, means = found.products[np.ix_(together, together)], found.means[together]
        spread = np.sqrt(np.diagonal(products) / table.n_rows)
        is_numeric = np.array([not column.is_discrete for column in table.columns])[owners]
        is_lost = is_numeric & (spread <= 2.0 * SMALLEST_SPREAD * np.abs(means))
        varies = spread > 4.0 * np.finfo(np.float64).eps * np.abs(means)  # else constant but for rounding
        self.rounded = {*owners[is_lost & varies].tolist()}
        scale = np.where(is_lost | (spread == 0), np.inf, spread * math.sqrt(table.n_rows))
        self._matrix = products / np.outer(scale, scale)
        self._variances = np.where(np.isinf(scale), 0.0, 1.0 + 0.0 * spread)
        self._is_refused = np.isnan(self._matrix)
        self._is_whole = not self._is_refused.any()

    def between(self, pivots: Sequence[int], columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return correlations of columns of one part, (pivots, columns), and the columns' variances, 0 or 1."""
        return self._matrix[np.ix_(np.asarray(pivots), columns)], self._variances[columns]

    def parts(self, columns: Sequence[int]) -> np.ndarray:
        """Return the positions of the parts of some columns."""
        return np.concatenate([np.empty(0, dtype=np.intp), *(self._parts[column] for column in columns)])

    def are_told(self, columns: Sequence[int]) -> bool:
        """Whether no product of some columns was refused."""
        if self._is_whole:
            return True
        parts = self.parts(columns)
        return not self._is_refused[np.ix_(parts, parts)].any()

    def left(self, parts: np.ndarray, basis: np.ndarray) -> np.ndarray:
        """Return the shares of the variance of parts that a basis does not explain."""
        return self._variances[parts] - np.sum(basis[:, parts] ** 2, axis=0)

    def directions(self, columns: Sequence[int], basis: np.ndarray | None = None) -> np.ndarray:
        """Return orthonormal directions, (q, d), that columns add to a `basis`, (rank, d), of others.

        Rows are products of a direction with the d parts of the table. As in `orthonormal_basis`, the part with the
        largest residual comes next, and residuals of at most `VANISHING` are ignored.
        """
        found = np.empty((0, len(self._matrix))) if basis is None else basis
        parts, rank = self.parts(columns), len(found)
        left = self.left(parts, found)
        for _ in range(len(parts)):
            largest = int(np.argmax(left))
            if not left[largest] > VANISHING:
                break
            part = parts[largest]
            direction = (self._matrix[part] - found[:, part] @ found) / math.sqrt(left[largest])
            found = np.vstack([found, direction])
            left -= direction[parts] ** 2
        return found[rank:]


def prepared(test: FisherZ, table: SummedTable) -> CrossProductEngine:
    """Return the engine of Fisher's z on sums of products."""
    return CrossProductEngine(table)


class CrossProductEngine(FisherZEngine):
    """Computes results from `SufficientStatistics` with cross products.

    A column counts as explained if the conditioning set explains all but 1e-8 of its variance: sums of products are not
    more precise. A test with a refused product is unreliable with p = 1; its columns (candidate, target, given) are
    recorded in `refused`.
    """

    well_conditioned, vanishing = 0.0, VANISHING

    def __init__(self, table: SummedTable) -> None:
        self.n_rows, self._names = table.n_rows, table.names
        self.correlations = SummedCorrelations(table, "fisher-z")
        self.refused: set[tuple[str, ...]] = set()

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Return z of the partial correlation of each candidate with the target."""
        columns = np.asarray(candidates)
        partial, _, rank = self._sweep(columns, target, given)  # type: ignore[misc] # no share is below 0
        is_told = self._told([(column,) for column in columns.tolist()], target, given, ~np.isnan(partial))
        partial = np.clip(np.where(is_told, partial, 0.0), -1.0, 1.0)
        log_unexplained = np.log1p(-np.minimum(partial * partial, 1.0 - SMALLEST_SHARE))
        results = self._results(columns, target, given, partial, log_unexplained, rank)
        results.reliable &= is_told
        return results

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Return F of the nested regressions of the target on the given columns, with and without each set."""
        sums, of_target = self.correlations, self.correlations.parts([target])
        basis = sums.directions(given)
        before, rank = float(sums.left(of_target, basis)[0]), len(basis)
        added = [sums.directions(columns, basis) for columns in candidates]
        explained = np.array([float(np.sum(directions[:, of_target] ** 2)) for directions in added])
        shares = (before - explained) / before if before > VANISHING else np.ones(len(added))
        are_told = [sums.are_told((*columns, target, *given)) for columns in candidates]
        is_told = self._told(candidates, target, given, np.array(are_told, dtype=bool))
        dof = np.array([float(len(directions)) for directions in added])
        rest = self.n_rows - 1.0 - rank - dof
        dof[(rest <= 0) | ~is_told] = 0.0
        gained = np.expm1(-np.log(np.clip(np.where(is_told, shares, 1.0), SMALLEST_SHARE, 1.0)))
        f = np.where(dof > 0, gained * rest / np.maximum(dof, 1.0), 0.0)
        n, reliable = np.full(len(f), self.n_rows), self._are_reliable(candidates, target, given) & (rest > 0) & is_told
        return CIResults(f, *f_greater(f, dof, np.maximum(rest, 1.0)), dof, n, reliable)

    def _told(
        self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...], is_told: np.ndarray
    ) -> np.ndarray:
        """Return which tests have a result, and record the columns of the others."""
        for at in np.flatnonzero(~is_told).tolist():
            self.refused.add(tuple(self._names[one] for one in (*candidates[at], target, *given)))
        return is_told
