"""Regressions of a target's mean on predictors, by a log or a logit link, to which predictors can be added."""

from __future__ import annotations

import numpy as np


class MeanRegression:
    """A generalised linear model with an intercept, of a family of `kernels/generalised_linear.py`.

    Attributes
    ----------
    y, offset : ndarray of shape (n,)
        Target as the kernel wants it, and what is added to the linear predictor.
    design : ndarray of shape (1 + k, n)
        A row of ones and the predictors.
    coefficients : ndarray of shape (1 + k,)
        Fitted coefficients.
    loss : float
        Minus the log likelihood, for dispersion 1 and without terms that are free of coefficients.
    scores : ndarray of shape (n,)
        Derivative of the log likelihood by each row's linear predictor.
    """

    def __init__(
        self, family: int, y: np.ndarray, predictors: np.ndarray, intercept: float, offset: np.ndarray | None = None
    ) -> None:
        self.family, self.y = family, np.array(y, dtype=np.float64)  # a frame's cells may be read-only
        self.offset = np.zeros(len(y)) if offset is None else offset
        start = np.concatenate([[intercept], np.zeros(len(predictors))])
        self._fit(np.vstack([np.ones(len(y)), predictors]), start)

    def with_more(self, added: np.ndarray) -> MeanRegression:
        """Return the regression with predictors `added`, (q, n), as well, fitted from the coefficients of this one."""
        more = object.__new__(MeanRegression)
        more.family, more.y, more.offset = self.family, self.y, self.offset
        more._fit(np.vstack([self.design, added]), np.concatenate([self.coefficients, np.zeros(len(added))]))
        return more

    def _fit(self, design: np.ndarray, start: np.ndarray) -> None:
        from ..kernels.generalised_linear import fit_means  # numba takes half a second to import: only if needed

        self.design, self.coefficients = np.ascontiguousarray(design), start
        self.scores = np.empty(len(self.y))
        self.loss = fit_means(self.family, self.design, self.y, self.offset, self.coefficients, self.scores)

    def slopes(self, weights: np.ndarray, dispersion: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients but for the intercept, (k,), and their covariance, (k, k), from weights of rows."""
        return self.coefficients[1:], dispersion * inverse((weights * self.design) @ self.design.T)[1:, 1:]

    def linear_predictor(self) -> np.ndarray:
        """Return the linear predictor of each row, (n,), with the offset."""
        return self.coefficients @ self.design + self.offset


def scores_of_means(columns: np.ndarray, residuals: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of rows by the coefficients of columns, (p, n) both, and their expected information.

    `residuals`, (n,), are derivatives of the log likelihood by the linear predictor, and `weights` minus the expected
    second ones. A dispersion needs no part: if the mean is right, its scores have nothing in common with these.
    """
    return residuals * columns, (weights * columns) @ columns.T


def inverse(information: np.ndarray) -> np.ndarray:
    """Return the inverse of an information matrix, (k, k); NaN if it is singular.

    >>> inverse(np.diag([2.0, 4.0])).tolist(), inverse(np.zeros((1, 1))).tolist()
    ([[0.5, 0.0], [0.0, 0.25]], [[nan]])
    """
    try:
        return np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return np.full(information.shape, np.nan)


def mean_of_squares(residuals: np.ndarray, variances: np.ndarray, n_coefficients: int) -> float:
    """Return the Pearson dispersion, above 0: the sum of squared residuals over variances, per degree of freedom.

    >>> mean_of_squares(np.array([1.0, -1.0, 2.0, -2.0]), np.ones(4), 2)
    5.0
    """
    total = float((residuals**2 / np.maximum(variances, np.finfo(np.float64).tiny)).sum())
    return max(total / max(len(residuals) - n_coefficients, 1), np.finfo(np.float64).tiny)
