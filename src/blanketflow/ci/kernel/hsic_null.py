"""The null distribution of the HSIC: moments and samples of ||A' B||^2 for centred feature matrices A and B."""

from __future__ import annotations

import numpy as np

from ..clusters import Exchange
from ..tails import chi2_tail

#: A variance below this share of the squared mean is rounding: the order of the rows does not change the statistic.
NO_VARIANCE = 1e-12
#: The fewest rows of a test, for the variance over permutations.
FEWEST_ROWS = 4
#: The largest number of entries of a working matrix, 32 MB.
BLOCK = 2**22


def cross(a: np.ndarray, b: np.ndarray) -> float:
    """Return ||A' B||^2 = tr(A A' B B'), the HSIC times (m - 1)^2."""
    product = a.T @ b
    return float(np.sum(product * product))


def gamma_tail(statistic: float, mean: float, variance: float) -> tuple[float, float]:
    """Return p and log p of a statistic under the gamma distribution with this mean and variance."""
    if variance <= NO_VARIANCE * mean**2:
        return 1.0, 0.0
    rate = mean / variance
    p_value, log_p = chi2_tail(np.array([2.0 * rate * statistic]), np.array([2.0 * rate * mean]))
    return float(p_value[0]), float(log_p[0])


def traces(a: np.ndarray) -> tuple[float, float, float]:
    """Return tr K, tr K^2 and the sum of squared diagonal entries of K = A A'."""
    norms = np.einsum("ij,ij->i", a, a)
    return float(norms.sum()), cross(a, a), float(norms @ norms)


def permutation_moments(a: tuple[float, float, float], b: tuple[float, float, float], n: int) -> tuple[float, float]:
    """Return mean and variance of ||A' P B||^2 over all n! row permutations P, n >= 4, from the `traces` of A and B.

    Kazi-Aoual, Hitier, Sabatier, Lebreton (1995), 10.1016/0167-9473(94)00064-2.
    """
    mean = a[0] * b[0] / (n - 1)
    spread_a, spread_b = ((n - 1) * squares - trace**2 for trace, squares, _ in (a, b))
    diagonal_a, diagonal_b = (
        n * (n + 1) * diagonal - (n - 1) * (trace**2 + 2.0 * squares) for trace, squares, diagonal in (a, b)
    )
    variance = 2.0 * spread_a * spread_b / ((n - 1) ** 2 * (n + 1) * (n - 2))
    variance += diagonal_a * diagonal_b / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return mean, variance


def residual_moments(a: np.ndarray, b: np.ndarray, pairs: np.ndarray) -> tuple[float, float]:
    """Return mean and variance of ||A' B||^2 for residuals given Z, by the gamma approximation of Zhang et al. (2011).

    They are tr M and 2 tr M^2 for the elementwise product M of A A' and B B'; the off-diagonal part of tr M^2 is
    estimated from the `pairs` of some rows.
    """
    diagonal = np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b)
    share = len(pairs) * (len(pairs) - 1) / (len(a) * (len(a) - 1))
    a, b = a[pairs], b[pairs]
    product = (a @ a.T) * (b @ b.T)
    np.fill_diagonal(product, 0.0)
    squares = float(diagonal @ diagonal) + float(np.sum(product * product)) / share
    return float(diagonal.sum()), 2.0 * squares


def permuted(
    a: np.ndarray, b: np.ndarray, n_draws: int, rng: np.random.Generator, exchange: Exchange | None = None
) -> np.ndarray:
    """Return ||A' P B||^2 for random permutations P of the rows or exchangeable units, shape (n_draws,)."""
    moved = (rng.permutation(len(b)) if exchange is None else exchange.permutation(rng) for _ in range(n_draws))
    return np.array([cross(a, b[rows]) for rows in moved])


def multiplied(
    a: np.ndarray, b: np.ndarray, n_draws: int, rng: np.random.Generator, clusters: np.ndarray | None = None
) -> np.ndarray:
    """Return ||A' G B||^2 for random diagonal matrices G of standard normal numbers (a wild bootstrap), (n_draws,).

    With clusters, numbers of shape (n,), rows of a cluster share a number (a wild cluster bootstrap); otherwise mean
    and variance are the `residual_moments`. Random signs would omit the variance of the diagonal.
    """
    n = len(a)
    multipliers = rng.normal(size=(n_draws, n if clusters is None else clusters.max() + 1))
    multipliers = multipliers if clusters is None else multipliers[:, clusters]
    statistics = np.zeros(n_draws)
    part = max(1, BLOCK // n)
    for start in range(0, n, part):
        rows = slice(start, start + part)
        product = (a[rows] @ a.T) * (b[rows] @ b.T)
        statistics += np.einsum("bi,bi->b", multipliers[:, rows], multipliers @ product.T)
    return statistics
