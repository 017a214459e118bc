"""Gaussian knockoffs: copies of columns, made without the target, that are exchangeable with the columns.

Exchanging any columns with their copies does not change the joint distribution of Gaussian columns with the given
correlations (Candes, Fan, Janson and Lv 2018, doi:10.1111/rssb.12265). The factor and banded laws need no (m, m)
matrix; a banded law takes O(n m b) for m columns and the bandwidth b.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

#: Share of the largest possible distance, so that rounding makes no eigenvalue negative.
INSIDE = 1.0 - 1e-9
#: Steps of a sweep that are applied to the inverse at once, which is faster.
TOGETHER = 64
#: The search ends when a sweep changes its sum by less than this share, or after so many sweeps.
SMALLEST_CHANGE, MOST_SWEEPS = 1e-4, 50


def equal_distance(smallest_eigenvalue: float) -> float:
    """Return the largest distance common to all columns, given the smallest eigenvalue of R.

    The equicorrelated construction of Barber and Candes (2015), doi:10.1214/15-AOS1337.

    >>> round(equal_distance(0.3), 6), equal_distance(0.8)
    (0.6, 1.0)
    """
    return min(1.0, 2.0 * INSIDE * max(smallest_eigenvalue, 0.0))


def reconstructing_least(correlations: np.ndarray) -> np.ndarray:
    """Return the distances that minimise the reconstructability of columns from all others and knockoffs, (m,).

    They minimise sum_j 1 / s_j + trace((2 R - diag(s))^-1), half the sum of 1 / Var(column | all others), by coordinate
    descent: minimum variance-based reconstructability (Spector and Janson 2022, doi:10.1214/22-AOS2225). With D = 2 R -
    diag(s), a = (D^-1)_jj and c = |D^-1 e_j|^2, the best s_j is (1 + a s_j) / (a + sqrt(c)). O(m^3) for each of about
    ten sweeps. `correlations`, (m, m), must be positive definite.

    >>> reconstructing_least(np.eye(2)).round(6).tolist()
    [1.0, 1.0]
    """
    m = len(correlations)
    s = np.full(m, 0.5 * equal_distance(float(np.linalg.eigvalsh(correlations)[0])))
    before = np.inf
    for _ in range(MOST_SWEEPS):
        inverse = np.linalg.inv(2.0 * correlations - np.diag(s))  # anew, so that rounding errors do not add up
        now = float(np.sum(1.0 / s) + np.trace(inverse))
        if now > before * (1.0 - SMALLEST_CHANGE):
            break
        before = now
        for start in range(0, m, TOGETHER):
            _improve(inverse, s, range(start, min(start + TOGETHER, m)))
    return s * INSIDE


def _improve(inverse: np.ndarray, s: np.ndarray, columns: range) -> None:
    """Update some columns by one step each, and the inverse of D, in place."""
    added, weights = np.empty((len(s), len(columns))), np.zeros(len(columns))
    for k, j in enumerate(columns):
        of_j = inverse[:, j] + added[:, :k] @ (weights[:k] * added[j, :k])
        a, root = of_j[j], np.sqrt(of_j @ of_j)
        new = (1.0 + a * s[j]) / (a + root)
        change = new - s[j]
        added[:, k], weights[k] = of_j, change / (1.0 - change * a)
        s[j] = new
    inverse += (added * weights) @ added.T


#: Constructions, and the maximum number of columns for which ``auto`` uses the one of cubic cost.
MINIMUM_RECONSTRUCTABILITY, EQUICORRELATED, AUTO = "mvr", "equicorrelated", "auto"
MOST_BY_SWEEPS = 2000
#: Eigenvalues of correlations below it are raised to it: copies of columns, and combinations of others.
SMALLEST_EIGENVALUE = 1e-8


class KnockoffLaw(ABC):
    """Base of the laws of columns from which knockoffs are drawn."""

    @abstractmethod
    def draw(self, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of columns of variance 1, both (n, m)."""


def law_of(columns: np.ndarray, construction: str, correlations: np.ndarray | None = None) -> KnockoffLaw:
    """Return the knockoff law of centred columns of variance 1, (n, m); unknown `correlations` are shrunken."""
    n, m = columns.shape
    if not m:
        return DenseLaw(np.empty((0, 0)), np.empty((0, 0)))
    if construction == AUTO:
        construction = MINIMUM_RECONSTRUCTABILITY if m <= MOST_BY_SWEEPS else EQUICORRELATED
    if correlations is None:
        share = shrinkage(columns)
        if construction == EQUICORRELATED and n < m:
            return wide_law(columns, share)
        correlations = (1.0 - share) * (columns.T @ columns) / n + share * np.eye(m)
    values, vectors = np.linalg.eigh(correlations)
    if values[0] < SMALLEST_EIGENVALUE:
        values = np.maximum(values, SMALLEST_EIGENVALUE)
        correlations = (vectors * values) @ vectors.T
    if construction == EQUICORRELATED:
        s = np.full(m, equal_distance(float(values[0])))
    else:
        s = reconstructing_least(correlations)
    change = ((vectors / values) @ vectors.T) * s
    left, axes = np.linalg.eigh(2.0 * np.diag(s) - s[:, np.newaxis] * change)
    return DenseLaw(change, (axes * np.sqrt(np.maximum(left, 0.0))).T)


@dataclass(frozen=True)
class DenseLaw(KnockoffLaw):
    """Knockoffs X - X C + noise N, where N' N is the residual covariance; C and N have shape (m, m)."""

    change: np.ndarray
    noise: np.ndarray

    def draw(self, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of columns."""
        return columns - columns @ self.change + rng.standard_normal(columns.shape) @ self.noise


def wide_law(columns: np.ndarray, share: float) -> KnockoffLaw:
    """Return the equicorrelated law of more columns than rows, with correlations ``(1 - share) X'X / n + share I``.

    The rows span n dimensions; in all others the eigenvalue is `share`. O(n^2 m), without an (m, m) matrix.
    """
    _, singular, axes = np.linalg.svd(columns / np.sqrt(len(columns)), full_matrices=False)
    eigenvalues = (1.0 - share) * singular**2 + max(share, SMALLEST_EIGENVALUE)
    outside = max(share, SMALLEST_EIGENVALUE)
    s = equal_distance(outside)
    left = np.sqrt(np.maximum(2.0 * s - s * s / outside, 0.0))
    return WideLaw(axes, s / eigenvalues, np.sqrt(2.0 * s - s * s / eigenvalues) - left, left)


@dataclass(frozen=True)
class WideLaw(KnockoffLaw):
    """The same with C and N as multiples along the axes of the rows, (n, m), and one for all other directions."""

    axes: np.ndarray
    change: np.ndarray
    noise: np.ndarray
    outside: float

    def draw(self, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of columns, whose rows lie within the axes."""
        noise = rng.standard_normal(columns.shape)
        along = (noise @ self.axes.T) * self.noise - (columns @ self.axes.T) * self.change
        return columns + along @ self.axes + self.outside * noise


def shrinkage(columns: np.ndarray) -> float:
    """Return the share of the identity in Ledoit and Wolf's (2004, doi:10.1016/S0047-259X(03)00096-4) correlations.

    `columns` are centred and of variance 1, (n, m). 1 if nothing can be estimated.

    >>> x = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])
    >>> shrinkage(x)
    0.0
    """
    n, m = columns.shape
    products = columns @ columns.T if n < m else columns.T @ columns
    together = float(np.sum((products / n) ** 2))
    apart = float(np.sum(np.sum(columns**2, axis=1) ** 2)) / n
    distance = together - m
    return min(1.0, (apart - together) / n / distance) if distance > 0 else 1.0


#: Maximum default number of factors, and minimum own share of a column.
MOST_FACTORS, SMALLEST_OWN = 20, 1e-3
#: Above this many rows and columns components are computed iteratively, in so many rounds.
MOST_BY_PRODUCTS, N_ROUNDS = 2000, 7
#: The search for distances ends when a round changes its sum by less than this share, or after so many rounds.
SMALLEST_GAIN, MOST_ROUNDS = 1e-6, 200
#: Cells of a block of rows.
BLOCK_CELLS = 2**22


def loadings_of(columns: np.ndarray, n_factors: int | None = None) -> np.ndarray:
    """Return the loadings of centred columns of variance 1, (m, k), from rows, (n, m).

    The first principal components, with eigenvalues reduced by what chance adds for many columns (Wang, Fan 2017,
    S-POET, doi:10.1214/16-AOS1487). The default `n_factors` is the largest ratio of an eigenvalue to the next one (Ahn,
    Horenstein 2013, doi:10.3982/ECTA8968) of those above what independent columns have, (1 + sqrt(m / n))^2.
    """
    n, m = columns.shape
    most = min((MOST_FACTORS if n_factors is None else n_factors) + 1, n, m)
    values, vectors = components_of(columns, most)
    if n_factors is None:
        n_strong = int(np.count_nonzero(values[:-1] > (1.0 + np.sqrt(m / n)) ** 2))
        ratios = values[:n_strong] / np.maximum(values[1 : n_strong + 1], 1e-12)
        n_factors = 1 + int(np.argmax(ratios)) if n_strong else 0
    k = min(n_factors, most - 1)
    values, vectors = values[:k], vectors[:, :k]
    rest = (m - values.sum()) / max(m - k - m * k / n, 1.0)
    loadings = vectors * np.sqrt(np.maximum(values - rest * m / n, 0.0))
    shared = np.sum(loadings**2, axis=1, keepdims=True)
    return loadings * np.sqrt(np.minimum(1.0, (1.0 - SMALLEST_OWN) / np.maximum(shared, SMALLEST_OWN)))


def components_of(columns: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues of columns' products over n, in decreasing order, and eigenvectors, (m, k)."""
    n, m = columns.shape
    if min(n, m) > MOST_BY_PRODUCTS:
        from sklearn.utils.extmath import randomized_svd

        _, singular, axes = randomized_svd(columns, k, n_iter=N_ROUNDS, random_state=0)
        return singular**2 / n, axes.T
    from scipy.linalg import eigh

    products = (columns @ columns.T if n < m else columns.T @ columns) / n
    values, vectors = eigh(products, subset_by_index=[len(products) - k, len(products) - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    return values, columns.T @ (vectors / np.sqrt(n * np.maximum(values, 1e-12))) if n < m else vectors


def factor_distances(loadings: np.ndarray) -> np.ndarray:
    """Return the distances of knockoffs from their columns, (m,), by minimum reconstructability.

    Minimises the sum of `reconstructing_least`; each round makes half of the best step for all columns at once. A
    distance is at most twice the column's own variance.
    """
    own = 1.0 - np.sum(loadings**2, axis=1)
    s, best, least = own.copy(), own, np.inf
    for _ in range(MOST_ROUNDS):
        e = 2.0 * own - s
        scaled = loadings / e[:, np.newaxis]
        inner = np.linalg.inv(0.5 * np.eye(loadings.shape[1]) + loadings.T @ scaled)
        along = scaled @ inner
        a = 1.0 / e - np.vecdot(along, scaled)
        c = 1.0 / e**2 - 2.0 * np.vecdot(along, scaled) / e + np.vecdot(along @ (scaled.T @ scaled), along)
        now = float(np.sum(1.0 / s) + np.sum(a))
        if now > least * (1.0 - SMALLEST_GAIN):
            break
        best, least = s, now
        s = np.minimum(0.5 * (s + (1.0 + a * s) / (a + np.sqrt(c))), 2.0 * own * INSIDE)
    return np.minimum(best * INSIDE, 1.0)


@dataclass(frozen=True)
class FactorLaw(KnockoffLaw):
    """Knockoffs of columns with the covariance ``loadings @ loadings.T + diag(own)``."""

    loadings: np.ndarray
    own: np.ndarray
    distances: np.ndarray

    def draw(self, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of columns, a block of rows at a time."""
        scaled = self.loadings / self.own[:, np.newaxis]
        values, axes = np.linalg.eigh(np.eye(self.loadings.shape[1]) + self.loadings.T @ scaled)
        # The residual covariance is diag(2 s - s^2 / own) + shared shared'.
        shared = (scaled @ (axes / np.sqrt(values))) * self.distances[:, np.newaxis]
        alone = np.sqrt(np.maximum(2.0 * self.distances - self.distances**2 / self.own, 0.0))
        ratio, found = self.distances / self.own, np.empty(columns.shape)
        n_rows = max(1, BLOCK_CELLS // max(columns.shape[1], 1))
        for start in range(0, len(columns), n_rows):
            rows = columns[start : start + n_rows]
            along = (rows @ scaled) @ (axes / np.sqrt(values)) + rng.standard_normal((len(rows), len(values)))
            found[start : start + n_rows] = rows * (1.0 - ratio) + along @ shared.T
            found[start : start + n_rows] += rng.standard_normal(rows.shape) * alone
        return found


def factor_law(columns: np.ndarray, n_factors: int | None = None) -> FactorLaw:
    """Return the law of the knockoffs of centred columns of variance 1, (n, m)."""
    loadings = loadings_of(columns, n_factors)
    return FactorLaw(loadings, 1.0 - np.sum(loadings**2, axis=1), factor_distances(loadings))


#: Bandwidths that are compared if none is given; each needs so many rows.
MOST_BANDS, ROWS_EACH = 20, 10
#: Shrinkage of correlations, so that copies of a column do not make them singular.
SHRUNKEN = 1e-6
#: Columns per block; columns per window of distances, and its margin on each side.
BLOCK, CORE, MARGIN = 256, 128, 64
#: Tolerance of the factor by which distances are reduced.
CLOSE = 1e-3


@dataclass(frozen=True)
class Regressions:
    """The law of columns of variance 1, each given the `b` before it.

    `coefficients`, (m, b), are those of the previous column, the one before, and so on; `variances`, (m,), are
    residual.
    """

    coefficients: np.ndarray
    variances: np.ndarray

    def precision(self) -> np.ndarray:
        """Return the inverse covariance as diagonals, (b + 1, m); row k is the k-th below the main diagonal."""
        m, b = self.coefficients.shape
        rows = np.column_stack([np.ones(m), -self.coefficients])  # entries i, i - k of the unit lower triangle
        weighted = rows / self.variances[:, np.newaxis]
        diagonals = np.zeros((b + 1, m))
        for k in range(min(b + 1, m)):
            for t in range(min(b - k, m - 1 - k) + 1):
                diagonals[k, : m - k - t] += rows[k + t :, t] * weighted[k + t :, k + t]
        return diagonals

    def correlations(self, reach: int) -> np.ndarray:
        """Return the correlations of each column with itself and `reach` columns before it, (m, 1 + reach), else 0."""
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
    """Return the regression of each centred column of variance 1 on those before it, from rows, (n, m).

    The estimate of Bickel and Levina (2008), doi:10.1214/009053607000000758, section 2.3. The default `bandwidth` has
    the smallest Bayesian information criterion.
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


def banded_distances(law: Regressions) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of knockoffs from columns, (m,), and the root of the residual covariance, (b + 1, m).

    The distances are those of `reconstructing_least` in windows of columns with margins, whose distances are dropped.
    All are then reduced by one factor until the law is valid (the approximation of Candes et al. 2018, section 3.4.2).
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
    """Return the Cholesky root, as diagonals, of knockoffs' covariance given columns; None if not positive definite."""
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
    """Knockoffs X - X P diag(s) + Z R', with the inverse covariance P and the root R as diagonals, (b + 1, m)."""

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
    """Return a block of a symmetric matrix given by its lower diagonals."""
    apart = np.abs(np.subtract.outer(rows, columns))
    inside = np.minimum(apart, len(diagonals) - 1)
    return np.where(apart < len(diagonals), diagonals[inside, np.minimum.outer(rows, columns)], 0.0)


def banded_law(columns: np.ndarray, bandwidth: int | None = None) -> BandedLaw:
    """Return the law of the knockoffs of centred columns of variance 1, (n, m), in their order."""
    law = regressions_of(columns, bandwidth)
    s, root = banded_distances(law)
    return BandedLaw(law.precision(), s, root)
