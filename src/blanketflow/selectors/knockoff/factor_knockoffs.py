"""Gaussian knockoffs of columns that a few factors make alike: covariance L L' + diag(u), with L of shape (m, k).

Nothing here has the shape (m, m), but for the products of at most 2,000 columns that are fewer than the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .gaussian_knockoffs import KnockoffLaw
from .knockoff_distances import INSIDE

#: Numbers of factors that are compared if none is given, and the least share of a column that is its own.
MOST_FACTORS, SMALLEST_OWN = 20, 1e-3
#: Of more rows and columns than this the components are found by iteration, with so many rounds.
MOST_BY_PRODUCTS, N_ROUNDS = 2000, 7
#: The search for distances ends when a round changes its sum by less than this share, or after so many rounds.
SMALLEST_CHANGE, MOST_ROUNDS = 1e-6, 200
#: Cells of a block of rows.
BLOCK_CELLS = 2**22


def loadings_of(columns: np.ndarray, n_factors: int | None = None) -> np.ndarray:
    """Return the loadings of centred columns of variance 1, shape (m, k), from rows of shape (n, m).

    The first principal components, with eigenvalues reduced by what chance adds where columns are many (Wang, Fan 2017,
    S-POET, doi:10.1214/16-AOS1487). Without `n_factors` it is the largest ratio of an eigenvalue to the next one (Ahn,
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
    """Return the k largest eigenvalues of columns' products over n, the largest first, and the eigenvectors, (m, k)."""
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


def distances_of(loadings: np.ndarray) -> np.ndarray:
    """Return the distances of knockoffs from their columns, shape (m,), by minimum reconstructability.

    The sum of `knockoff_distances.reconstructing_least`, of which each round makes half of the best step for all
    columns at once. A distance is at most twice what is the column's own.
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
        if now > least * (1.0 - SMALLEST_CHANGE):
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
        # The covariance that is left is diag(2 s - s^2 / own) + shared shared'.
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
    """Return the law of the knockoffs of centred columns of variance 1, shape (n, m)."""
    loadings = loadings_of(columns, n_factors)
    return FactorLaw(loadings, 1.0 - np.sum(loadings**2, axis=1), distances_of(loadings))
