"""Gaussian knockoffs of columns whose inverse covariance is banded: a column depends on the few before it alone.

For columns with an order, such as places on a genome, points in time or the bands of a spectrum. Nothing here has the
shape (m, m): O(n m b) for m columns and the bandwidth b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .gaussian_knockoffs import KnockoffLaw
from .knockoff_distances import INSIDE, reconstructing_least

#: Bandwidths that are compared if none is given; each needs so many rows.
MOST_BANDS, ROWS_EACH = 20, 10
#: What correlations are shrunken by, so that copies of a column do not make them singular.
SHRUNKEN = 1e-6
#: Columns at a time; and the columns whose distances are found together, with so many on each side.
BLOCK, CORE, MARGIN = 256, 128, 64
#: How close the share of the distances that is allowed is found.
CLOSE = 1e-3


@dataclass(frozen=True)
class Regressions:
    """The law of columns of variance 1, each given the `b` before it.

    `coefficients`, (m, b), are those of the column before, the one before that, and so on; `variances`, (m,), are left.
    """

    coefficients: np.ndarray
    variances: np.ndarray

    def precision(self) -> np.ndarray:
        """Return the inverse covariance as diagonals, (b + 1, m): row k has what is k below the diagonal."""
        m, b = self.coefficients.shape
        rows = np.column_stack([np.ones(m), -self.coefficients])  # entries i, i - k of the unit lower triangle
        weighted = rows / self.variances[:, np.newaxis]
        diagonals = np.zeros((b + 1, m))
        for k in range(min(b + 1, m)):
            for t in range(min(b - k, m - 1 - k) + 1):
                diagonals[k, : m - k - t] += rows[k + t :, t] * weighted[k + t :, k + t]
        return diagonals

    def correlations(self, reach: int) -> np.ndarray:
        """Return the correlation of each column with itself and those before it, up to `reach` of them, (m, 1 + reach).

        Those before the first column are 0.
        """
        m, b = self.coefficients.shape
        found = np.zeros((m + reach, reach + 1))  # rows before the first column stay 0
        lags, bands = np.arange(1, reach + 1)[:, np.newaxis], np.arange(1, b + 1)
        above, apart = np.minimum(lags, bands), np.abs(lags - bands)
        for j in range(m):
            at = j + reach
            found[at, 1:] = found[at - above, apart] @ self.coefficients[j]
            found[at, 0] = self.variances[j] + self.coefficients[j] @ found[at, 1 : b + 1]
        return found[reach:]


def regressions_of(columns: np.ndarray, bandwidth: int | None = None) -> Regressions:
    """Return the regression of each centred column of variance 1 on those before it, from rows of shape (n, m).

    The estimate of Bickel and Levina (2008), doi:10.1214/009053607000000758, section 2.3. Without a `bandwidth` it is
    the one of the least Bayesian information criterion.
    """
    n, m = columns.shape
    most = min(MOST_BANDS, n // ROWS_EACH) if bandwidth is None else bandwidth
    most = max(min(most, m - 1), 0)
    products = np.zeros((most + 1, m))  # of each column with the one k behind it
    for start in range(0, m, BLOCK):
        stop = min(start + BLOCK, m)
        block = columns[:, start:stop].T @ columns[:, start : min(stop + most, m)] / n
        for k in range(most + 1):
            diagonal = np.diagonal(block, k)
            products[k, start : start + len(diagonal)] = diagonal
    products[1:] *= 1.0 - SHRUNKEN
    products[0] = 1.0
    # The columns before each, the nearest first, and the column itself at the end; those before the first are noise.
    places = np.arange(m)[:, np.newaxis] - np.append(np.arange(1, most + 1), 0)
    first, second = places[:, :, np.newaxis], places[:, np.newaxis, :]
    windows = products[np.abs(first - second), np.maximum(np.minimum(first, second), 0)]
    windows = np.where(np.minimum(first, second) < 0, first == second, windows)
    if bandwidth is None:
        root = np.linalg.cholesky(windows)[:, -1, :-1]
        left = 1.0 - np.column_stack([np.zeros(m), np.cumsum(root**2, axis=1)])
        criteria = n * np.log(np.maximum(left, SHRUNKEN)).sum(axis=0) + np.arange(most + 1) * m * np.log(n)
        most = int(np.argmin(criteria))
    inner, across = windows[:, :most, :most], windows[:, :most, -1]
    coefficients = np.linalg.solve(inner, across[..., np.newaxis])[..., 0]
    coefficients[np.arange(m)[:, np.newaxis] < np.arange(1, most + 1)] = 0.0
    return Regressions(coefficients, 1.0 - np.vecdot(coefficients, across))


def distances_of(law: Regressions) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of knockoffs from their columns, (m,), and the root of what these leave, (b + 1, m).

    The distances are those that `reconstructing_least` has for windows.

    Each window is a stretch of columns with more on each side, whose distances are not kept. At the end all are made
    smaller by one share until the law allows them: the approximation of Candes et al. (2018), section 3.4.2.
    """
    m, b = law.coefficients.shape
    margin = MARGIN + b
    near = law.correlations(max(min(CORE + 2 * margin, m) - 1, b))
    s = np.empty(m)
    for start in range(0, m, CORE):
        stop = min(start + CORE, m)
        low, high = max(start - margin, 0), min(stop + margin, m)
        at = np.arange(low, high)
        window = near[np.maximum.outer(at, at), np.abs(np.subtract.outer(at, at))]
        s[start:stop] = reconstructing_least(window)[start - low : stop - low]
    precision, root, most = law.precision(), None, 2.0
    allowed = 0.0
    while root is None or most - allowed > CLOSE:  # 1 is tried first
        share = 0.5 * (allowed + most)
        found = _root(precision, share * s * INSIDE)
        if found is None:
            most = share
        else:
            allowed, root = share, found
            if share == 1.0:
                break
    return allowed * s * INSIDE, root


def _root(precision: np.ndarray, s: np.ndarray) -> np.ndarray | None:
    """Return the lower triangle, as diagonals, of the covariance that the columns leave of knockoffs; None if there is
    no such.
    """
    from scipy.linalg import LinAlgError, cholesky_banded

    left = -precision * s
    for k in range(len(left)):
        left[k, : len(s) - k] *= s[k:]
    left[0] += 2.0 * s
    try:
        return cholesky_banded(left, lower=True)
    except LinAlgError:
        return None


@dataclass(frozen=True)
class BandedLaw(KnockoffLaw):
    """Knockoffs are X - X P diag(s) + Z R', with the inverse covariance P and the root R as diagonals, (b + 1, m)."""

    precision: np.ndarray
    distances: np.ndarray
    root: np.ndarray

    def draw(self, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of columns, a block of them at a time."""
        (n, m), b = columns.shape, len(self.precision) - 1
        found, before = np.empty((n, m)), np.empty((n, 0))
        for start in range(0, m, BLOCK):
            stop, low, high = min(start + BLOCK, m), max(start - b, 0), min(start + BLOCK + b, m)
            noise = np.hstack([before[:, before.shape[1] - (start - low) :], rng.standard_normal((n, stop - start))])
            change = _dense(self.precision, np.arange(low, high), np.arange(start, stop)) * self.distances[start:stop]
            own = np.arange(start, stop)
            root = np.where(
                np.greater_equal.outer(own, np.arange(low, stop)), _dense(self.root, own, np.arange(low, stop)), 0.0
            )
            found[:, start:stop] = columns[:, start:stop] - columns[:, low:high] @ change + noise @ root.T
            before = noise
        return found


def _dense(diagonals: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return a part of a symmetric matrix of which the lower diagonals are given."""
    apart = np.abs(np.subtract.outer(rows, columns))
    inside = np.minimum(apart, len(diagonals) - 1)
    return np.where(apart < len(diagonals), diagonals[inside, np.minimum.outer(rows, columns)], 0.0)


def banded_law(columns: np.ndarray, bandwidth: int | None = None) -> BandedLaw:
    """Return the law of the knockoffs of centred columns of variance 1, shape (n, m), in their order."""
    law = regressions_of(columns, bandwidth)
    s, root = distances_of(law)
    return BandedLaw(law.precision(), s, root)
