"""Tests of rows with sampling weights: p-values by weights without what the tested columns tell of them.

If X and Y are independent given Z, they are so among rows that are weighted by the product of a function of X and Z
with one of Y and Z. What the columns of a test explain of the weights can therefore be taken out of them. Less of them
varies then, so that a few rows with large weights and large values do not decide.

Pfeffermann, Sverchkov (1999) Parametric and semi-parametric estimation of regression models fitted to survey data,
Sankhya B 61, 166-186; Skinner, Mason (2012) Weighting in the regression analysis of survey data with a cross-national
application, Canadian Journal of Statistics 40, 697-711, doi:10.1002/cjs.11155.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.numerics import residuals
from ...core.results import CIResult, CIResults
from ...core.table import Design, Table
from ..engines import Candidate, columns_of
from .regressions import basis_of

Columns = tuple[int, ...]
#: Returns the engine of a table whose rows have a design.
Prepare = Callable[[Table, Design], Any]


def by_weights(prepare: Prepare, table: Table, design: Design) -> Any:
    """Return the engine of a table with a design, with weights of each test's own if rows have weights."""
    return prepare(table, design) if design.weights is None else StabilisedWeights(prepare, table, design)


def stabilised(table: Table, weights: np.ndarray) -> np.ndarray:
    """Return weights, (n,), over what a regression of their logarithm on all columns of a table explains of them.

    Labels are regressed on by indicators.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> x = np.arange(6.0)
    >>> stabilised(as_table(x[:, np.newaxis]), np.exp(1.0 - x)).round(9)
    array([1., 1., 1., 1., 1., 1.])
    """
    logarithms = np.log(weights)
    return np.exp(residuals(logarithms - logarithms.mean(), basis_of(table, range(len(table)))))


class StabilisedWeights:
    """An engine whose results are those of the weighted rows, but for p-values, which are by each test's own weights.

    So a test is made twice: on the whole table, and on its columns alone.
    """

    def __init__(self, prepare: Prepare, table: Table, design: Design) -> None:
        self._prepare, self._table, self._design, self._weights = prepare, table, design, design.weights
        self._weighted = prepare(table, design)

    def evaluate(self, candidates: Sequence[int], target: int, given: Columns) -> CIResults:
        """Test each column."""
        alone = [self._alone("evaluate", int(x), target, given) for x in candidates]
        return _with_p_of(self._weighted.evaluate(candidates, target, given), alone)

    def evaluate_sets(self, candidates: Sequence[Columns], target: int, given: Columns) -> CIResults:
        """Test each set of columns."""
        alone = [self._alone("evaluate_sets", x, target, given) for x in candidates]
        return _with_p_of(self._weighted.evaluate_sets(candidates, target, given), alone)

    def evaluate_pair(self, x: Columns, y: Columns, given: Columns) -> CIResults:
        """Test two sets of columns with each other."""
        engine, at = self._of((*x, *y, *given))
        alone = engine.evaluate_pair(*(tuple(at[column] for column in side) for side in (x, y, given)))
        return _with_p_of(self._weighted.evaluate_pair(x, y, given), alone)

    def rows_needed(self, x: Candidate, target: int, given: Columns) -> int:
        """Return how many rows make a test reliable."""
        return self._weighted.rows_needed(x, target, given)

    def _alone(self, name: str, x: Candidate, target: int, given: Columns) -> CIResult:
        engine, at = self._of((*columns_of(x), target, *given))
        asked = tuple(at[column] for column in x) if isinstance(x, tuple) else at[x]
        return getattr(engine, name)([asked], at[target], tuple(at[column] for column in given))[0]

    def _of(self, columns: Columns) -> tuple[Any, dict[int, int]]:
        """Return the engine of some columns, by weights that these do not explain, and where it has each of them."""
        in_order = sorted(columns)  # so that X and Y can change places without any change of the last bit
        table = self._table.select(in_order)
        own = replace(self._design, weights=stabilised(table, self._weights))
        return self._prepare(table.with_design(own), own), {column: i for i, column in enumerate(in_order)}


def _with_p_of(results: CIResults, others: Sequence[CIResult] | CIResults) -> CIResults:
    results.p_value = np.array([other.p_value for other in others])
    results.log_p = np.array([other.log_p for other in others])
    return results
