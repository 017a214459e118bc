"""How far knockoffs are from their columns: the variances s_j, as large as the correlations R of the columns allow.

Knockoffs have correlations R among each other, and R - diag(s) with the columns; so 2 R - diag(s) must have no negative
eigenvalue. Power grows with s.
"""

from __future__ import annotations

import numpy as np

#: What is left of the largest possible distance, so that rounding makes no eigenvalue negative.
INSIDE = 1.0 - 1e-9
#: Steps of a sweep that are kept apart before they enter the whole inverse at once, which is faster.
TOGETHER = 64
#: The search ends when a sweep changes its sum by less than this share, or after so many sweeps.
SMALLEST_CHANGE, MOST_SWEEPS = 1e-4, 50


def equal_distance(smallest_eigenvalue: float) -> float:
    """Return the largest distance that all columns can have alike, given the smallest eigenvalue of R.

    The equicorrelated construction of Barber and Candes (2015), doi:10.1214/15-AOS1337.

    Examples
    --------
    >>> round(equal_distance(0.3), 6), equal_distance(0.8)
    (0.6, 1.0)
    """
    return min(1.0, 2.0 * INSIDE * max(smallest_eigenvalue, 0.0))


def reconstructing_least(correlations: np.ndarray) -> np.ndarray:
    """Return the distances under which a column is told least well from all others and all knockoffs, shape (m,).

    They minimise sum_j 1 / s_j + trace((2 R - diag(s))^-1), half the sum of 1 / Var(column | all others), by coordinate
    descent: minimum variance-based reconstructability of Spector and Janson (2022), doi:10.1214/22-AOS2225. Each step
    has a closed form. With D = 2 R - diag(s), a = (D^-1)_jj and c = |D^-1 e_j|^2, the best s_j is

        (1 + a s_j) / (a + sqrt(c)).

    Takes O(m^3) for each of some ten sweeps.

    Parameters
    ----------
    correlations : ndarray of shape (m, m)
        Positive definite.

    Examples
    --------
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
    """Make one step for each of some columns, in place, and bring the inverse of D up to date."""
    added, weights = np.empty((len(s), len(columns))), np.zeros(len(columns))
    for k, j in enumerate(columns):
        of_j = inverse[:, j] + added[:, :k] @ (weights[:k] * added[j, :k])
        a, root = of_j[j], np.sqrt(of_j @ of_j)
        new = (1.0 + a * s[j]) / (a + root)
        change = new - s[j]
        added[:, k], weights[k] = of_j, change / (1.0 - change * a)
        s[j] = new
    inverse += (added * weights) @ added.T
