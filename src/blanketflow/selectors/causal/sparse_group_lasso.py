"""The sparse group lasso with least squares, its two penalties chosen by cross-validation. Arrays in, coefficients out.

The solver is a kernel of ours: cross-validation takes 2,000 fits. skglm, which is kept up by scikit-learn-contrib and
whose method the kernel has, compiles for 12 to 19 seconds in each process, and a fit then takes 15 to 70 times as long
(studies/speed/README.md). Of the others tried, group-lasso took seconds per fit and was last released in 2021; groupyr
stopped at 1e-2 and pins two packages to old releases; asgl (GPL) goes through a conic solver and takes small
coefficients for 0; celer and adelie have no penalty on features inside groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

#: Largest violation of the optimality conditions, in coefficients of columns and targets of unit variance.
TOLERANCE = 1e-8
#: Errors are compared to this many decimals.
DECIMALS = 9


@dataclass(frozen=True)
class Fit:
    """Coefficients of shape (p, c), and whether the solver met the optimality conditions."""

    coefficients: np.ndarray
    converged: bool


class Rows:
    """Standardised predictors and targets, and their sparse group lasso.

    Minimises, for each target c apart,
    ``|y_c - X b|^2 / 2n + lambda1 sum over groups of |b_g| + lambda2 sum over columns of |b_j|``
    where X and y have mean 0 and variance 1, and lambda1 and lambda2 are given as shares, above 0 and at most 1, of the
    smallest value at which that penalty alone makes all coefficients 0.

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
        self._starts = np.concatenate([[0], np.cumsum(counts[counts > 0])])

    @cached_property
    def _problem(self) -> tuple[np.ndarray, np.ndarray]:
        """Predictors and targets of length 1, transposed; of many rows the triangle of a QR decomposition.

        The triangle has the same products, and no more is asked of it.
        """
        X, Y = self._X.standardised[:, self._columns], self._Y.standardised
        scale = np.sqrt(len(X))
        if len(X) > X.shape[1] + Y.shape[1]:
            triangle = np.linalg.qr(np.hstack([X, Y]), mode="r")
            X, Y = triangle[:, : X.shape[1]], triangle[:, X.shape[1] :]
        return np.ascontiguousarray(X.T / scale), np.ascontiguousarray(Y.T / scale)

    def fit(self, lambda1: float, lambda2: float) -> Fit:
        """Return the coefficients at two shares."""
        coefficients, converged = np.zeros((len(self._X.varies), len(self._Y.varies))), True
        for c in range(coefficients.shape[1]):
            found, violations = self.path(c, [(lambda1, lambda2)])
            coefficients[self._columns, c] = found[0]
            converged = converged and violations[0] <= TOLERANCE
        return Fit(coefficients, converged)

    def errors(self, shares: Sequence[tuple[float, float]], X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Return each pair's sum of squared errors on other rows, each target in units of its variance here."""
        X, Y = self._X.of(X)[:, self._columns], self._Y.of(Y)
        missed = (y[:, np.newaxis] - X @ self.path(c, shares)[0].T for c, y in enumerate(Y.T))
        return sum((np.sum(by**2, axis=0) for by in missed), start=np.zeros(len(shares)))

    def path(self, c: int, shares: Sequence[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
        """Return a target's coefficients at each pair of shares, and how far a proximal gradient step still moves them.

        Of shapes (pairs, columns that vary) and (pairs,). Each pair starts from the coefficients of the pair before.
        """
        from ...kernels.sparse_group_lasso import descend_path

        rows, y = self._problem[0], self._problem[1][c]
        coefficients, violations = np.zeros((len(shares), len(rows))), np.zeros(len(shares))
        products = np.abs(rows @ y)
        if products.any():
            largest = np.sqrt(np.add.reduceat(products**2, self._starts[:-1]).max()), products.max()
            lambda1, lambda2 = np.ascontiguousarray(np.multiply(shares, largest).T)
            descend_path(rows, y, self._starts, lambda1, lambda2, TOLERANCE, coefficients, violations)
        return coefficients, violations


def choose_penalties(
    X: np.ndarray,
    Y: np.ndarray,
    sizes: Sequence[int],
    lambda1: Sequence[float],
    lambda2: Sequence[float],
    parts: np.ndarray,
) -> tuple[float, float]:
    """Return the pair of shares with the least squared error under cross-validation; on ties the larger.

    X, Y and `sizes` are as in `Rows`. All pairs of shares are tried. `parts`, (n,), says for each row the part, 0 ..
    k - 1, in which it is left out.
    """
    pairs = [(a, b) for a in sorted(lambda1, reverse=True) for b in sorted(lambda2, reverse=True)]
    if len(pairs) == 1:
        return pairs[0]
    errors = np.zeros(len(pairs))
    for part in range(parts.max() + 1):
        out = parts == part
        errors += Rows(X[~out], Y[~out], sizes).errors(pairs, X[out], Y[out])
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
