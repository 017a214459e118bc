"""Nested regressions of one column: how much better is it explained when predictors are added to the given ones?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.table import Column, Table
from .binning import ranks
from .least_squares import log_unexplained_share, orthonormal_basis, residuals, standardised


def predictors(column: Column) -> np.ndarray:
    """Return a column's predictors in a regression: itself, or indicators of all present levels but one.

    Shape (m, n), with mean 0 and length 1; zeros for a constant number, no rows for a single level.
    """
    if not column.is_discrete:
        return standardised(column.numbers()[np.newaxis])
    classes, n_classes = present_levels(column)
    return standardised((classes == np.arange(1, n_classes)[:, np.newaxis]).astype(np.float64))


def present_levels(column: Column) -> tuple[np.ndarray, int]:
    """Return the codes 0 .. r - 1 of the present levels, int64 of shape (n,), and r."""
    codes, n_levels = ranks(column.numbers())
    return codes.astype(np.int64), n_levels


def basis_of(table: Table, positions: Sequence[int]) -> np.ndarray:
    """Return an orthonormal basis, shape (rank, n), of the predictors of some columns."""
    return orthonormal_basis(np.vstack([np.zeros((0, table.n_rows)), *(predictors(table[j]) for j in positions)]))


class Variable:
    """A column given others: what it adds to them as a predictor, and how predictors explain it as a response.

    Several columns can be predictors, but not a response. `basis`, (rank, n), is an orthonormal basis of the given
    predictors, and `added`, (q, n), one of the part of this variable's predictors that they do not span. Regressions
    are linear if `is_numeric`, else multinomial logistic with `n_equations` = r - 1 for r classes.
    """

    def __init__(self, table: Table, positions: Sequence[int], basis: np.ndarray) -> None:
        rows = np.vstack([predictors(table[position]) for position in positions])
        self.added = orthonormal_basis(residuals(rows, basis))
        self.is_numeric = not table[positions[0]].is_discrete
        self.n_equations = 1
        if not self.is_numeric:
            self._classes, n_classes = present_levels(table[positions[0]])
            self.n_equations = n_classes - 1
        self._basis = basis
        self._null: tuple[float, np.ndarray, np.ndarray] | None = None

    def likelihood_ratio(self, added: np.ndarray) -> float:
        """Return twice the log likelihood gained by adding predictors to this column's regression on the given ones.

        `added`, (q, n), is orthonormal and orthogonal to the given basis.
        """
        if self.is_numeric:
            return -added.shape[1] * log_unexplained_share(self.added[0], added)
        from ..kernels.logistic import fit_logistic  # numba takes half a second to import: only if needed

        deviance, coefficients, design = self._null_model()
        more = np.vstack([design, np.sqrt(added.shape[1]) * added])
        start = np.hstack([coefficients, np.zeros((self.n_equations, len(added)))])
        return max(deviance - fit_logistic(more, self._classes, start), 0.0)

    def _null_model(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Return deviance, coefficients and design of the regression on the given predictors, fitted once."""
        from ..kernels.logistic import fit_logistic

        if self._null is None:
            n, counts = len(self._classes), np.bincount(self._classes)
            design = np.vstack([np.ones(n), np.sqrt(n) * self._basis])
            coefficients = np.zeros((self.n_equations, len(design)))
            coefficients[:, 0] = np.log(counts[1:] / counts[0])
            self._null = fit_logistic(design, self._classes, coefficients), coefficients, design
        return self._null
