"""Fisher's z and the F test from centred sums of products that were added up elsewhere, without rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.least_squares import SMALLEST_SHARE
from ...core.results import CIResults
from ..tails import f_greater
from .partial_correlations import FisherZEngine
from .summed_correlations import VANISHING, SummedCorrelations

if TYPE_CHECKING:
    from ...core.summed_table import SummedTable


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
        """Return which tests have a result, and keep the columns of the others."""
        for at in np.flatnonzero(~is_told).tolist():
            self.refused.add(tuple(self._names[one] for one in (*candidates[at], target, *given)))
        return is_told
