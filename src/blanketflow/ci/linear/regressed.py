"""The columns of a query to lr-mixed, on rows: predictors, a basis of those given, and what a column adds to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ...core.least_squares import log_unexplained_share, orthonormal_basis, residuals
from ...core.spread import standardised
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
