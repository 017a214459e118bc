"""The linear regressions of lr-mixed from sums of products of numbers and label indicators, without rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..ci.engines import constant_results
from ..ci.linear.lr_mixed import LRMixedEngine, RegressionTest
from ..core.cards import BOOLEAN, CATEGORICAL
from ..core.errors import RowsNeeded
from ..core.numerics import SMALLEST_SHARE
from ..core.results import CIResults
from .agreement import Agreement

if TYPE_CHECKING:
    from .summed_table import SummedTable


from .correlations_of_sums import VANISHING, SummedCorrelations

#: Methods that test dependence on the target alone, so that a label is a response only if it is the target.
_OF_TARGET = "iamb, inter-iamb, fast-iamb or gs"


def why_rows(test: RegressionTest, agreement: Agreement) -> str:
    """Return why the test needs rows for the columns of an agreement; empty if it does not."""
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


def prepared(test: RegressionTest, table: SummedTable) -> LRMixedOnSums:
    """Return the engine of lr-mixed on sums of products; raises `RowsNeeded` if it needs rows."""
    if reason := why_rows(test, table.statistics.agreement):
        raise RowsNeeded(f"{test.card.id}: {reason}.")
    return LRMixedOnSums(test, table)


class LRMixedOnSums(LRMixedEngine):
    """Computes results from `SufficientStatistics` with cross products, like `LRMixedEngine` from rows.

    A column counts as explained, and a test as refused, as in `CrossProductEngine`. A test that needs a logistic
    regression raises `RowsNeeded`.
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
    """A column given others, or several as predictors: a `Variable` from sums of products."""

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
    """Return the number of occurring levels of each column, 0 for numbers; the agreed number if a mean is refused."""
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
