"""Linear tests from sums of products that were added up elsewhere, without rows.

Fisher's z and the F test, and the linear regressions of lr-mixed, from centred sums of products of numbers and of
indicators of labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...core.agreement import Agreement
from ...core.cards import BOOLEAN, CATEGORICAL
from ...core.errors import RowsNeeded, UnsupportedError
from ...core.least_squares import SMALLEST_SHARE
from ...core.results import CIResults
from ...core.spread import SMALLEST_SPREAD
from ..engines import constant_results
from ..tails import f_greater
from .nested_regressions import LRMixedEngine, RegressionTest
from .partial_correlations import FisherZEngine

if TYPE_CHECKING:
    from ...core.summed_table import SummedTable


#: An unexplained share of variance up to this is 0: sums of products have lost its digits.
VANISHING = 1e-8


class SummedCorrelations:
    """Correlations from cross products, with the methods of `fisher_z.Correlations` that need no rows.

    They are between the parts of columns: a number is one part, a label has the indicators of all levels but the first.

    Attributes
    ----------
    rounded : set of int
        The positions of columns that vary, but that rounding has destroyed.
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
        """Return correlations, shape (pivots, columns), and the columns' variances, 0 or 1; of columns of one part."""
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
        """Return orthonormal directions of what columns add to a basis of others.

        As `orthonormal_basis` finds them on rows: the part of which most is left comes next, and those of which at most
        `VANISHING` is left add nothing.

        Parameters
        ----------
        columns : sequence of int
            Positions of the columns.
        basis : ndarray of shape (rank, d), optional
            Directions of the others.

        Returns
        -------
        ndarray of shape (q, d)
            The product of each direction with each of the d parts of the table.
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


#: Methods that ask how features depend on the target alone, so that no label is a response where the target is none.
_OF_TARGET = "iamb, inter-iamb, fast-iamb or gs"


def why_rows(test: RegressionTest, agreement: Agreement) -> str:
    """Return why the test needs rows for the columns of an agreement; empty if a numeric target is all that counts."""
    labels = [coding.name for coding in agreement.codings if coding.kind in (CATEGORICAL, BOOLEAN)]
    if agreement.target in labels:
        return (
            f"the target {agreement.target!r} is a label: regressions of it are logistic, and take rows. Give the "
            "rows, or count tables and set ci_test to g2"
        )
    if labels and test.directions == "both":
        return (
            f"{labels[0]!r} is a label, and with directions: both it is regressed on the target, which takes rows. Set "
            "directions: linear"
        )
    return ""


class LRMixedOnSums(LRMixedEngine):
    """Answers queries from `SufficientStatistics` with cross products, as `LRMixedEngine` does from rows.

    Where columns explain all but 1e-8 of another it counts as explained, as in `CrossProductEngine`. A test of columns
    whose product was refused is not reliable, and finds nothing. A test that takes a logistic regression raises
    `RowsNeeded`.

    Attributes
    ----------
    refused : set of tuples of str
        The columns of tests that were refused: candidate, target, and those given.
    """

    correlates: ClassVar[bool] = False

    def __init__(self, test: RegressionTest, table: SummedTable) -> None:
        super().__init__(test, table)
        self.correlations = SummedCorrelations(table, test.card.id)
        self._levels = _present_levels(table)
        self.refused: set[tuple[str, ...]] = set()

    def _test_each(
        self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...], is_symmetric: bool
    ) -> CIResults:
        told = [i for i, columns in enumerate(candidates) if self.correlations.are_told((*columns, target, *given))]
        if len(told) == len(candidates):
            return super()._test_each(candidates, target, given, is_symmetric)
        results = constant_results(len(candidates), self.n_rows)
        results.reliable[:] = False
        if told:
            found = super()._test_each([candidates[i] for i in told], target, given, is_symmetric)
            for name, values in found.columns().items():
                getattr(results, name)[told] = values
        names = self.table.names
        for i in {*range(len(candidates))} - {*told}:
            self.refused.add(tuple(names[one] for one in (*candidates[i], target, *given)))
        return results

    def _basis(self, given: tuple[int, ...]) -> np.ndarray:
        return self.correlations.directions(given)

    def _variable(self, columns: tuple[int, ...], basis: np.ndarray) -> SummedVariable:
        name = self.table.names[columns[0]]
        return SummedVariable(self.correlations, name, columns, basis, self._levels[columns[0]], self.n_rows)

    def _n_levels(self, position: int) -> int:
        return self._levels[position]

    def _is_rounded(self, position: int) -> bool:
        return position in self.correlations.rounded


class SummedVariable:
    """A column, or several as predictors, given others: as `Variable`, from sums of products."""

    def __init__(
        self,
        correlations: SummedCorrelations,
        name: str,
        columns: tuple[int, ...],
        basis: np.ndarray,
        n_levels: int,
        n_rows: int,
    ) -> None:
        self.added = correlations.directions(columns, basis)
        self.is_numeric, self.n_equations = not n_levels, max(n_levels - 1, 1)
        self._name, self._n_rows, self._part = name, n_rows, correlations.parts(columns[:1])[:1]
        self._left = float(correlations.left(self._part, basis)[0])

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return n log(RSS0 / RSS1) of this column's regression on the given ones, without and with predictors."""
        if not self.is_numeric:
            raise RowsNeeded(
                f"lr-mixed regresses the label {self._name!r} on another label, by a logistic regression, which takes "
                "rows, and only sums of products are known. Take a method that asks about the target alone, such as "
                f"{_OF_TARGET}; or give the rows."
            )
        explained = float(np.sum(added[:, self._part] ** 2)) / self._left
        return -self._n_rows * float(np.log1p(-explained) if 1.0 - explained > VANISHING else np.log(SMALLEST_SHARE))


def _present_levels(table: SummedTable) -> list[int]:
    """Return how many levels of each column occur, 0 for numbers; those that were agreed on where a mean is refused."""
    agreement, sums = table.statistics.agreement, table.statistics.cross_products
    places, found = agreement.places(), []
    for column in table.columns:
        shares = sums.means[places[column.name]] if sums is not None and column.is_discrete else np.empty(0)
        counts = np.rint(shares * table.n_rows)
        if np.isnan(counts).any():
            found.append(agreement.codings[agreement.names.index(column.name)].n_levels)
        else:
            found.append(int((counts > 0).sum() + (counts.sum() < table.n_rows)) if column.is_discrete else 0)
    return found
