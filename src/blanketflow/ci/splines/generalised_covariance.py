"""The generalised covariance measure: whether what is left of two variables, once others are known, goes together.

Shah and Peters (2020), The hardness of conditional independence testing and the generalised covariance measure, Annals
of Statistics 48(3), 1514-1538, doi:10.1214/19-AOS1857.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...core.rows import numbers_of
from ..tails import f_greater

#: Half the width of a 95 % interval in standard errors.
WIDTH = 1.959963984540054
#: Directions with less than this share of the largest variance are combinations of others.
SMALLEST_DIRECTION = 1e-9


@dataclass(frozen=True)
class GeneralisedCovariance:
    """What is left of two variables together.

    Attributes
    ----------
    statistic : float
        For two single columns the standardised mean of their products, with its sign; else Hotelling's T², at least 0.
    p_value, log_p : float
        Of no covariance, and its natural logarithm.
    effect : float
        For two single columns their correlation, -1 to 1. For several columns the root mean square of their canonical
        correlations, 0 to 1: Cramér's V of what is left.
    low, high : float
        Its 95 % interval.
    """

    statistic: float
    p_value: float
    log_p: float
    effect: float
    low: float
    high: float


def generalised_covariance(x: np.ndarray, y: np.ndarray, groups: np.ndarray | None = None) -> GeneralisedCovariance:
    """Test whether residuals x, (n, a), and y, (n, b), have no covariance.

    Parameters
    ----------
    x, y : ndarray of shape (n, a) and (n, b)
        What regressions on the same variables leave of two variables: one column of a number or of two levels, a column
        for each level of more.
    groups : ndarray of shape (n,), optional
        Numbers of rows that belong together: then groups are what is independent, not rows.

    Returns
    -------
    GeneralisedCovariance
        The law of the statistic is that of means of independent products: Student's t for single columns, Hotelling's
        T² for several. It is right in large samples, if the product of the two regressions' errors vanishes faster than
        1 / sqrt(n). Where nothing is left of x or of y, there is no effect, and p is 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(400, 1))
    >>> found = generalised_covariance(x, 0.5 * x + rng.normal(size=(400, 1)))
    >>> found.p_value < 1e-10, found.low < 0.45 < found.high
    (True, True)
    """
    is_signed = x.shape[1] == y.shape[1] == 1
    u, v = whitened(x), whitened(y)
    found = no_covariance(u, v, groups)
    if not found.dof:
        return GeneralisedCovariance(0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    statistic = float(np.copysign(np.sqrt(found.squared), found.first)) if is_signed else found.squared
    return GeneralisedCovariance(statistic, found.p_value, found.log_p, *_effect(u, v, groups, is_signed))


class Hotelling(NamedTuple):
    """Hotelling's T² of products with its degrees of freedom, 0 if there is nothing to test; the first one's mean."""

    squared: float
    dof: int
    p_value: float
    log_p: float
    first: float


def no_covariance(u: np.ndarray, v: np.ndarray, groups: np.ndarray | None = None) -> Hotelling:
    """Test whether residuals of `whitened`, (n, a) and (n, b), have no covariance, with groups as above."""
    n, a, b = len(u), u.shape[1], v.shape[1]
    sums = _summed((u[:, :, np.newaxis] * v[:, np.newaxis, :]).reshape(n, a * b), groups)
    m, mean = len(sums), sums.mean(axis=0)
    centred = sums - mean
    values, axes = np.linalg.eigh(centred.T @ centred / (m * (m - 1)))
    d = min(int((values > SMALLEST_DIRECTION * values[-1:].clip(min=0.0)).sum()), m - 1)
    if d < 1:
        return Hotelling(0.0, 0, 1.0, 0.0, 0.0)
    along = (axes.T @ mean)[-d:] / np.sqrt(values[-d:])
    squared = float(along @ along)
    p, log_p = f_greater(np.array([squared * (m - d) / (d * (m - 1))]), np.array([float(d)]), np.array([float(m - d)]))
    return Hotelling(squared, d, float(p[0]), float(log_p[0]), float(mean[0]))


def _effect(u: np.ndarray, v: np.ndarray, groups: np.ndarray | None, is_signed: bool) -> tuple[float, float, float]:
    """Return the effect and its interval, by the delta method on the scale of Fisher's z."""
    covariance, least = u.T @ v / len(u), min(u.shape[1], v.shape[1])
    size = float(np.sqrt((covariance**2).sum() / least))
    if not size:
        return 0.0, 0.0, 0.0
    # How much each row changes the sum of the squared canonical correlations: of single columns 2 r (u v - r (u² +
    # v²) / 2).
    of_rows = 2.0 * ((u @ covariance) * v).sum(axis=1) - ((u @ covariance) ** 2).sum(axis=1)
    of_rows -= ((v @ covariance.T) ** 2).sum(axis=1)
    sums = _summed(of_rows[:, np.newaxis] / (2.0 * least * size), groups)
    size = min(size, 1.0 - 1e-12)
    error = float(sums.std(ddof=1)) / np.sqrt(len(sums)) / (1.0 - size * size)
    low, high = np.tanh(np.arctanh(size) + WIDTH * error * np.array([-1.0, 1.0])).tolist()
    if is_signed:
        return (size, low, high) if covariance[0, 0] > 0 else (-size, -high, -low)
    return size, max(low, 0.0), high


def _summed(of_rows: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Return what is independent: the rows, or their sums over groups, of the same mean."""
    if groups is None:
        return of_rows
    numbers = numbers_of(groups)
    sums = np.zeros((numbers.max() + 1, of_rows.shape[1]))
    np.add.at(sums, numbers, of_rows)
    return sums * (len(sums) / len(of_rows))


def whitened(columns: np.ndarray) -> np.ndarray:
    """Return uncorrelated columns of variance 1 that span the centred columns; none where nothing varies."""
    centred = columns - columns.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    if columns.shape[1] == 1:  # which keeps its sign
        left = centred / (singular[0] or 1.0)
    return left[:, singular > SMALLEST_DIRECTION * singular.max(initial=1e-300)] * np.sqrt(len(columns))
