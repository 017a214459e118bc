"""The shared part of tests by regression: predictors, bases, exact tests of small tables, and sampling weights.

Results on columns that rounding has destroyed, or that are a function of the given ones, are marked. Two flags with a
small cell get Fisher's exact test, because large-sample tests reject too often there.

Sampling weights are stabilised: the part that the tested columns explain is removed. If X and Y are independent given
Z, they remain so when rows are weighted by the product of a function of X and Z with one of Y and Z. Stabilised weights
vary less, so few rows with large weights do not dominate. References: Pfeffermann, Sverchkov (1999), Sankhya B 61,
166-186; Skinner, Mason (2012), Canadian Journal of Statistics 40, 697-711, doi:10.1002/cjs.11155.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ...core.column_checks import is_flag
from ...core.numerics import is_rounded_away, log_unexplained_share, orthonormal_basis, residuals, standardised
from ...core.printable import listed
from ...core.results import CIResult, CIResults
from ...core.table import Column, Design, Table
from ..contingency.binning import ranks
from ..engines import Candidate, columns_of


class Regressed(Protocol):
    """A column or a set of columns: `Variable` on rows, or `SummedVariable`; `added` are its new orthonormal
    directions.
    """

    added: np.ndarray
    is_numeric: bool
    n_equations: int

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by adding predictors to its regression on the given columns."""
        ...


def predictors(column: Column, shares: np.ndarray | None = None) -> np.ndarray:
    """Return a column's predictors, (m, n): itself, or indicators of all present levels but one.

    Scaled as by `standardised` with the `shares` of rows; zeros for a constant number, no rows for a single level.
    """
    if not column.is_discrete:
        return standardised(column.numbers()[np.newaxis], shares)
    classes, n_classes = present_levels(column)
    return standardised((classes == np.arange(1, n_classes)[:, np.newaxis]).astype(np.float64), shares)


def present_levels(column: Column) -> tuple[np.ndarray, int]:
    """Return the codes 0 .. r - 1 of the present levels, int64 of shape (n,), and r."""
    codes, n_levels = ranks(column.numbers())
    return codes.astype(np.int64), n_levels


def basis_of(table: Table, positions: Sequence[int], shares: np.ndarray | None = None) -> np.ndarray:
    """Return an orthonormal basis, shape (rank, n), of the predictors of some columns."""
    found = (predictors(table[j], shares) for j in positions)
    return orthonormal_basis(np.vstack([np.zeros((0, table.n_rows)), *found]))


class Variable:
    """A column given others, as a predictor or as a response; several columns can only be predictors.

    `basis`, (rank, n), is an orthonormal basis of the given predictors, and `added`, (q, n), of the part of this
    variable's predictors that they do not span. Regressions are linear if `is_numeric`, else multinomial logistic with
    `n_equations` = r - 1 for r classes, coded in `classes`, and weighted with `shares`, weights of mean 1.
    """

    def __init__(
        self, table: Table, positions: Sequence[int], basis: np.ndarray, shares: np.ndarray | None = None
    ) -> None:
        rows = np.vstack([predictors(table[position], shares) for position in positions])
        self.added = orthonormal_basis(residuals(rows, basis))
        self.is_numeric = not table[positions[0]].is_discrete
        self.n_equations = 1
        if not self.is_numeric:
            self.classes, n_classes = present_levels(table[positions[0]])
            self.n_equations = n_classes - 1
        self._basis, self._shares = basis, shares
        self._null: tuple[float, np.ndarray, np.ndarray] | None = None

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by `added`, (q, n), orthonormal and orthogonal to the basis."""
        if self.is_numeric:
            return -added.shape[1] * log_unexplained_share(self.added[0], added)
        from ...kernels.logistic import fit_logistic  # numba takes half a second to import: only if needed

        deviance, coefficients, design = self.null_model()
        more = np.vstack([design, self.of_variance_1(added)])
        start = np.hstack([coefficients, np.zeros((self.n_equations, len(added)))])
        return max(deviance - fit_logistic(more, self.classes, start, self.weights), 0.0)

    def of_variance_1(self, directions: np.ndarray) -> np.ndarray:
        """Return predictors of length 1, (q, n), scaled to variance 1."""
        scale = np.sqrt(directions.shape[1])
        return scale * (directions if self._shares is None else directions / np.sqrt(self._shares))

    @property
    def weights(self) -> np.ndarray:
        """The weight of each row of a response of classes, (n,)."""
        return np.ones(len(self.classes)) if self._shares is None else self._shares

    @property
    def rank_given(self) -> int:
        """The rank of the given predictors."""
        return len(self._basis)

    def null_model(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Return deviance, coefficients and design of the cached regression on the given predictors."""
        from ...kernels.logistic import fit_logistic

        if self._null is None:
            counts = np.bincount(self.classes, self._shares)
            design = np.vstack([np.ones(len(self.classes)), self.of_variance_1(self._basis)])
            coefficients = np.zeros((self.n_equations, len(design)))
            coefficients[:, 0] = np.log(counts[1:] / counts[0])
            deviance = fit_logistic(design, self.classes, coefficients, self.weights)
            self._null = deviance, coefficients, design
        return self._null


def rounded_away(table: Table, target: str, results: CIResults) -> str:
    """Return in words which columns are destroyed by rounding and made marginal results unreliable; empty for none."""
    names = [target]
    suspects = np.flatnonzero(~results.reliable & (results.statistic == 0))
    if len(suspects) and not is_rounded_away(table[target]):
        features = [name for name in table.names if name != target]
        names = [features[j] for j in suspects if is_rounded_away(table[features[j]])]
    if not len(suspects) or not names:
        return ""
    return (
        f"rounding has destroyed {listed(map(repr, names))}: the spread is below 90 times the distance between floats "
        "of that size, so every test says p = 1. Subtract the offset before the numbers are written, or drop the "
        "column."
    )


def with_exact_tests(results: CIResults, table: Table, candidates: Sequence[int], target: int) -> CIResults:
    """Return marginal tests with the p-values of Fisher's test for flags with a small cell.

    For two independent flags with 4 % ones in 1,000 rows, 1.6 are expected in a cell, and large-sample tests reject up
    to 19 % at 0.05. Clustered and weighted rows, and tables without rows, are unchanged.
    """
    if table.design is not None or not table.has_rows or not is_flag(table[target]):
        return results
    from ...kernels.small_margins import flags_log_p

    y = _ones(table, target)
    for at, candidate in enumerate(candidates):
        if results.dof[at] > 0 and is_flag(table[candidate]):
            x = _ones(table, candidate)
            log_p = flags_log_p(np.count_nonzero(x & y), np.count_nonzero(x), np.count_nonzero(y), table.n_rows)
            if log_p <= 0.0:
                results.log_p[at], results.p_value[at] = log_p, np.exp(log_p)
    return results


def _ones(table: Table, column: int) -> np.ndarray:
    values = table[column].numbers()
    return values == values.max()


#: Most rows that are used.
MOST_ROWS = 2000
#: Residual share of a function's variance at half of the rows, and on average: rows beside a jump have more.
LEFT_AT_HALF, LEFT = 1e-4, 0.05
#: Distance of the levels of a given label, in standard deviations of a number.
FAR = 100.0


class FunctionsOf:
    """Which columns are a function of one or more `given` ones, smooth or with some jumps.

    Each of at most `MOST_ROWS` rows, the first ones, is predicted from its nearest neighbours in the given columns by a
    linear function of these. Columns have no missing cells.

    >>> from blanketflow.core.convert import as_table
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> square, noisy, given = as_table(np.column_stack([z**2, z**2 + 0.1 * rng.normal(size=200), z])).columns
    >>> FunctionsOf([given]).include([square]), FunctionsOf([given]).include([noisy])
    (True, False)
    """

    def __init__(self, given: Sequence[Column]) -> None:
        self._given = given

    def include(self, columns: Sequence[Column]) -> bool:
        """Return whether some columns are one."""
        if self._neighbours is None:
            return False
        rows, near, weights, is_near = self._neighbours
        values = _scaled([column.take(rows) for column in columns], 1.0)
        errors = ((values - np.einsum("ik,ikj->ij", weights, values[near])) ** 2).mean(axis=1)
        errors = (errors / (1.0 + (weights**2).sum(axis=1)))[is_near]
        return len(errors) > 0 and bool(np.median(errors) <= LEFT_AT_HALF and errors.mean() <= LEFT)

    @cached_property
    def _neighbours(self) -> tuple[np.ndarray, ...] | None:
        """The rows, neighbours of each and their weights, and whether these are near; None for too few rows."""
        from scipy.spatial import KDTree

        rows = np.arange(min(self._given[0].n_rows, MOST_ROWS))
        places = _scaled([column.take(rows) for column in self._given], FAR)
        n_near = 2 * (places.shape[1] + 1)
        if len(rows) <= n_near:
            return None
        distances, near = KDTree(places).query(places, k=n_near + 1)
        # Among equal rows a row may not be its own nearest neighbour; then the farthest one is dropped.
        is_self = near == rows[:, np.newaxis]
        is_self[~is_self.any(axis=1), -1] = True
        near = near[~is_self].reshape(len(rows), n_near)
        away = places[near] - places[:, np.newaxis]
        weights = np.linalg.pinv(np.concatenate([np.ones((len(rows), n_near, 1)), away], axis=2))[:, 0]
        return rows, near, weights, distances[:, -1] < FAR / 2


def _scaled(columns: Sequence[Column], of_labels: float) -> np.ndarray:
    """Return columns with variance 1, shape (n, q): numbers, and scaled indicators of labels."""
    parts = [predictors(column) * (of_labels if column.is_discrete else 1.0) for column in columns]
    return np.vstack(parts).T * np.sqrt(columns[0].n_rows)


Columns = tuple[int, ...]
#: Returns the engine of a table whose rows have a design.
Prepare = Callable[[Table, Design], Any]


def by_weights(prepare: Prepare, table: Table, design: Design) -> Any:
    """Return the engine for a sample design, with stabilised weights for each test if rows have weights."""
    return prepare(table, design) if design.weights is None else StabilisedWeights(prepare, table, design)


def stabilised(table: Table, weights: np.ndarray) -> np.ndarray:
    """Return weights, (n,), divided by the part that a regression of their logarithm on all columns explains.

    >>> from blanketflow.core.convert import as_table
    >>> x = np.arange(6.0)
    >>> stabilised(as_table(x[:, np.newaxis]), np.exp(1.0 - x)).round(9)
    array([1., 1., 1., 1., 1., 1.])
    """
    logarithms = np.log(weights)
    return np.exp(residuals(logarithms - logarithms.mean(), basis_of(table, range(len(table)))))


class StabilisedWeights:
    """Tests weighted rows on the whole table, and on a test's columns with stabilised weights for the p-value."""

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
        """Return the engine of some columns with their stabilised weights, and the position of each column in it."""
        in_order = sorted(columns)  # so that X and Y can change places without any change of the last bit
        table = self._table.select(in_order)
        own = replace(self._design, weights=stabilised(table, self._weights))
        return self._prepare(table.with_design(own), own), {column: i for i, column in enumerate(in_order)}


def _with_p_of(results: CIResults, others: Sequence[CIResult] | CIResults) -> CIResults:
    results.p_value = np.array([other.p_value for other in others])
    results.log_p = np.array([other.log_p for other in others])
    return results
