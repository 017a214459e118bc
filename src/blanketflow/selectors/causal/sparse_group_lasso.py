"""The sparse group lasso with least squares, its two penalties chosen by cross-validation. Arrays in, coefficients out.

The solver is skglm's block coordinate descent: it meets the optimality conditions to 1e-8 in a few milliseconds a fit,
is kept up by scikit-learn-contrib, and needs nothing that this package does not need anyway. It compiles at its first
fit in a process, which takes some 12 seconds. Of the others tried, group-lasso took seconds a fit and was last released
in 2021; groupyr stopped at 1e-2 and pins two packages to old releases; asgl (GPL) goes through a conic solver and takes
small coefficients for 0; celer and adelie have no penalty on features inside groups.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

#: Largest violation of the optimality conditions, in coefficients of columns and targets of unit variance.
TOLERANCE = 1e-6
#: Errors are compared to so many decimals.
DECIMALS = 9


@dataclass(frozen=True)
class Fit:
    """Coefficients of shape (p, c), and whether the solver met the optimality conditions."""

    coefficients: np.ndarray
    converged: bool


class Rows:
    """Standardised predictors and targets, and their sparse group lasso.

    Minimises, for each target c apart,
    ``|y_c - X b|^2 / 2m + lambda1 sum over groups of |b_g| + lambda2 sum over columns of |b_j|``
    where X and y have mean 0 and variance 1, and lambda1 and lambda2 are given as shares of the smallest value at
    which that penalty alone makes all coefficients 0.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Predictors, the columns of a group side by side.
    Y : ndarray of shape (n, c)
        Targets.
    sizes : sequence of int
        Number of columns of each group.
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, sizes: Sequence[int]) -> None:
        self._X, self._Y = _Scale(X), _Scale(Y)
        # The solver divides by the length of a group's columns: constant columns stay out, their coefficients are 0.
        self._columns = np.flatnonzero(self._X.varies)
        counts = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[self._columns])
        self._starts = np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.int32)

    @cached_property
    def _problem(self) -> tuple[np.ndarray, np.ndarray]:
        """Predictors and targets; of many rows the triangle of a QR decomposition, which has the same products."""
        X, Y = self._X.standardised[:, self._columns], self._Y.standardised
        if len(X) > X.shape[1] + Y.shape[1]:
            triangle = np.linalg.qr(np.hstack([X, Y]), mode="r")
            X, Y = triangle[:, : X.shape[1]], triangle[:, X.shape[1] :]
        return np.asfortranarray(X), np.asfortranarray(Y)

    def fit(self, lambda1: float, lambda2: float, start: Fit | None = None) -> Fit:
        """Return the coefficients at two shares, above 0 and at most 1, sought from a fit of these rows at others."""
        X, Y = self._problem
        coefficients = np.zeros((len(self._X.varies), Y.shape[1])) if start is None else start.coefficients.copy()
        converged = True
        for c, y in enumerate(Y.T):
            products = np.abs(X.T @ y) / len(y)
            if not products.any():
                continue
            largest1 = np.sqrt(np.add.reduceat(products**2, self._starts[:-1]).max())
            penalties = lambda1 * largest1, lambda2 * products.max()
            at = coefficients[self._columns, c]
            coefficients[self._columns, c], violation = _solve(X, y, self._starts, *penalties, at)
            converged = converged and violation <= TOLERANCE
        return Fit(coefficients, converged)

    def error(self, fit: Fit, X: np.ndarray, Y: np.ndarray) -> float:
        """Return the sum of squared errors on other rows, each target in units of its variance here."""
        return float(np.sum((self._Y.of(Y) - self._X.of(X) @ fit.coefficients) ** 2))


def choose_penalties(
    X: np.ndarray,
    Y: np.ndarray,
    sizes: Sequence[int],
    lambda1: Sequence[float],
    lambda2: Sequence[float],
    parts: np.ndarray,
) -> tuple[float, float]:
    """Return the pair of shares with the least squared error under cross-validation; on ties the larger.

    Parameters
    ----------
    X, Y, sizes
        As for `Rows`.
    lambda1, lambda2 : sequence of float
        Shares to try, each with each.
    parts : ndarray of shape (n,)
        For each row the part, 0 .. k - 1, in which it is left out.
    """
    pairs = [(a, b) for a in sorted(lambda1, reverse=True) for b in sorted(lambda2, reverse=True)]
    if len(pairs) == 1:
        return pairs[0]
    errors = np.zeros(len(pairs))
    for part in range(parts.max() + 1):
        out = parts == part
        training = Rows(X[~out], Y[~out], sizes)
        fit = None
        for i, (a, b) in enumerate(pairs):
            fit = training.fit(a, b, fit)
            errors[i] += training.error(fit, X[out], Y[out])
    return pairs[int(np.argmin(np.round(errors / len(Y), DECIMALS)))]


class _Scale:
    """Columns with mean 0 and variance 1; constant ones are 0."""

    def __init__(self, columns: np.ndarray) -> None:
        self._centre, spread = columns.mean(axis=0), columns.std(axis=0)
        self.varies = spread > 1e-12 * np.abs(columns).max(axis=0, initial=0.0)
        self._factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=self.varies)
        self.standardised = self.of(columns)

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return other rows on this scale."""
        return (columns - self._centre) * self._factor


def _solve(
    X: np.ndarray, y: np.ndarray, starts: np.ndarray, lambda1: float, lambda2: float, at: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the coefficients, sought from `at` on, and by how much they violate the optimality conditions."""
    from numba import NumbaPerformanceWarning
    from skglm.datafits import QuadraticGroup
    from skglm.penalties import WeightedL1GroupL2
    from skglm.solvers import GroupBCD

    columns, n_groups = np.arange(X.shape[1], dtype=np.int32), len(starts) - 1
    # skglm 0.5 takes the g-th column's weight for all columns of group g, which is right only while all are equal.
    penalty = WeightedL1GroupL2(1.0, np.full(n_groups, lambda1), np.full(len(columns), lambda2), starts, columns)
    solver = GroupBCD(tol=TOLERANCE, ws_strategy="fixpoint")
    with warnings.catch_warnings():
        # numba takes a single column for C-ordered and says that this is slow.
        warnings.simplefilter("ignore", NumbaPerformanceWarning)
        coefficients, _, violation = solver.solve(X, y, QuadraticGroup(starts, columns), penalty, at, X @ at)
    return coefficients, float(violation)
