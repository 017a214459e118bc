"""What regressions on rows share: predictors, a basis of those given, and what a column adds to them.

Also what their tests say of columns whose variation rounding has destroyed, or that are a function of the given ones,
and Fisher's exact test of two flags of which a cell has few rows, where tests for large samples reject too often.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ...core.column_checks import is_flag
from ...core.numerics import is_rounded_away, log_unexplained_share, orthonormal_basis, residuals, standardised
from ...core.printable import listed
from ...core.results import CIResults
from ...core.table import Column, Table
from ..contingency.binning import ranks


class Regressed(Protocol):
    """A column, or a set of them, in a query: `Variable` on rows, `SummedVariable` on sums of products.

    `added` are orthonormal directions of what it adds to the given columns as a predictor; its length is their number.
    """

    added: np.ndarray
    is_numeric: bool
    n_equations: int

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by adding predictors to its regression on the given ones."""
        ...


def predictors(column: Column, shares: np.ndarray | None = None) -> np.ndarray:
    """Return a column's predictors in a regression: itself, or indicators of all present levels but one.

    Shape (m, n), as `standardised` has them with the `shares` of rows; zeros for a constant number, no rows for a
    single level.
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
    """A column given others: what it adds to them as a predictor, and how predictors explain it as a response.

    Several columns can be predictors, but not a response. `basis`, (rank, n), is an orthonormal basis of the given
    predictors, and `added`, (q, n), one of the part of this variable's predictors that they do not span. Regressions
    are linear if `is_numeric`, else multinomial logistic with `n_equations` = r - 1 for r classes, coded in `classes`.
    With `shares`, weights of rows of mean 1, the regressions are weighted.
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
        """Return twice the log likelihood gained by adding predictors to this column's regression on the given ones.

        `added`, (q, n), is orthonormal and orthogonal to the given basis.
        """
        if self.is_numeric:
            return -added.shape[1] * log_unexplained_share(self.added[0], added)
        from ...kernels.logistic import fit_logistic  # numba takes half a second to import: only if needed

        deviance, coefficients, design = self.null_model()
        more = np.vstack([design, self.of_variance_1(added)])
        start = np.hstack([coefficients, np.zeros((self.n_equations, len(added)))])
        return max(deviance - fit_logistic(more, self.classes, start, self.weights), 0.0)

    def of_variance_1(self, directions: np.ndarray) -> np.ndarray:
        """Return predictors of length 1, (q, n), in the unit in which their variance is 1."""
        scale = np.sqrt(directions.shape[1])
        return scale * (directions if self._shares is None else directions / np.sqrt(self._shares))

    @property
    def weights(self) -> np.ndarray:
        """The weight of each row of a response of classes, (n,)."""
        return np.ones(len(self.classes)) if self._shares is None else self._shares

    @property
    def rank_given(self) -> int:
        """How many of the given predictors are linearly independent."""
        return len(self._basis)

    def null_model(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Return deviance, coefficients and design of the regression on the given predictors, fitted once."""
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
    """Return in words which columns made marginal results unreliable because they are rounded away; empty for none."""
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
    """Return tests given nothing, with the p-values of Fisher's test for flags of which a cell has few rows.

    Where 4 % of 1,000 rows are ones of each of two independent flags, 1.6 are expected in a cell, and tests for large
    samples reject up to 19 % at 0.05. Clustered and weighted rows, and tables without rows, keep their tests.
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


#: The most rows that are looked at.
MOST_ROWS = 2000
#: The share of a function's variance that is left at half of the rows, and on average: rows beside a jump have more.
LEFT_AT_HALF, LEFT = 1e-4, 0.05
#: Between the levels of a given label, where one standard deviation of a number is 1.
FAR = 100.0


def is_function(columns: Sequence[Column], given: Sequence[Column]) -> bool:
    """Return whether some columns are a function of others, smooth or with some jumps, as far as these rows show.

    Each row is predicted from its nearest neighbours in the given columns, by a linear function of these. At most
    `MOST_ROWS` rows are looked at, the first ones.

    Parameters
    ----------
    columns, given : sequence of Column
        Columns of n rows without missing cells: those that may be functions, and one or more that are given.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> square, noisy, given = as_table(np.column_stack([z**2, z**2 + 0.1 * rng.normal(size=200), z])).columns
    >>> is_function([square], [given]), is_function([noisy], [given])
    (True, False)
    """
    from scipy.spatial import KDTree

    rows = np.arange(min(given[0].n_rows, MOST_ROWS))
    places = _scaled([column.take(rows) for column in given], FAR)
    values = _scaled([column.take(rows) for column in columns], 1.0)
    n_near = 2 * (places.shape[1] + 1)
    if len(rows) <= n_near:
        return False
    distances, near = KDTree(places).query(places, k=n_near + 1)
    # A row among equal ones need not be its own nearest neighbour: then the farthest one is left out.
    is_self = near == rows[:, np.newaxis]
    is_self[~is_self.any(axis=1), -1] = True
    near = near[~is_self].reshape(len(rows), n_near)
    away = places[near] - places[:, np.newaxis]
    weights = np.linalg.pinv(np.concatenate([np.ones((len(rows), n_near, 1)), away], axis=2))[:, 0]
    errors = ((values - np.einsum("ik,ikj->ij", weights, values[near])) ** 2).mean(axis=1)
    errors = (errors / (1.0 + (weights**2).sum(axis=1)))[distances[:, -1] < FAR / 2]
    return len(errors) > 0 and bool(np.median(errors) <= LEFT_AT_HALF and errors.mean() <= LEFT)


def _scaled(columns: Sequence[Column], of_labels: float) -> np.ndarray:
    """Return columns with variance 1, shape (n, q): numbers, and indicators of labels times a factor."""
    parts = [predictors(column) * (of_labels if column.is_discrete else 1.0) for column in columns]
    return np.vstack(parts).T * np.sqrt(columns[0].n_rows)
