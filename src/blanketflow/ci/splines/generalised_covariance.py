"""The generalised covariance measure: whether the residuals of two variables given others are uncorrelated.

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
#: Products have at least this share of their squared mean as the variance of their mean: rounding is below.
SMALLEST_SPREAD = 1e-20


@dataclass(frozen=True)
class GeneralisedCovariance:
    """The test of zero covariance of two variables' residuals.

    `statistic` is the standardised mean of the products, with its sign, for two single columns, else Hotelling's T².
    `effect` is their correlation, -1 to 1, else the root mean square of the canonical correlations, 0 to 1 (Cramér's
    V), with the 95 % interval `low` to `high`.
    """

    statistic: float
    p_value: float
    log_p: float
    effect: float
    low: float
    high: float


def generalised_covariance(x: np.ndarray, y: np.ndarray, groups: np.ndarray | None = None) -> GeneralisedCovariance:
    """Test whether residuals x, (n, a), and y, (n, b), from regressions on the same variables, have zero covariance.

    A number or a label of two levels has one column of residuals, other labels one per level. With `groups`, (n,),
    groups are independent, not rows. Statistics are Student's t for single columns, else Hotelling's T², right in large
    samples if the product of the two regressions' errors vanishes faster than 1 / sqrt(n). Without residuals the effect
    is 0 and p is 1.

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
    """Hotelling's T² of products, its degrees of freedom (0 without a test), and the first product's mean."""

    squared: float
    dof: int
    p_value: float
    log_p: float
    first: float


def no_covariance(u: np.ndarray, v: np.ndarray, groups: np.ndarray | None = None) -> Hotelling:
    """Test whether `whitened` residuals, (n, a) and (n, b), have zero covariance, with groups as above."""
    n, a, b = len(u), u.shape[1], v.shape[1]
    sums = _summed((u[:, :, np.newaxis] * v[:, np.newaxis, :]).reshape(n, a * b), groups)
    m, mean = len(sums), sums.mean(axis=0)
    centred = sums - mean
    values, axes = np.linalg.eigh(centred.T @ centred / (m * (m - 1)))
    least = SMALLEST_SPREAD * float(mean @ mean)
    if least > 0.0 and values[-1] < least:  # constant products, as of two equal flags with as many ones as zeros
        values, axes, mean = np.array([least]), np.eye(1), np.sqrt(mean @ mean)[np.newaxis]
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
    # Influence of each row on the sum of squared canonical correlations; of single columns 2 r (u v - r (u² + v²) / 2).
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
    """Return independent units: the rows, or sums over groups with the same mean."""
    if groups is None:
        return of_rows
    numbers = numbers_of(groups)
    sums = np.zeros((numbers.max() + 1, of_rows.shape[1]))
    np.add.at(sums, numbers, of_rows)
    return sums * (len(sums) / len(of_rows))


def whitened(columns: np.ndarray) -> np.ndarray:
    """Return uncorrelated columns of variance 1 that span the centred columns; none if nothing varies."""
    centred = columns - columns.mean(axis=0)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    if columns.shape[1] == 1:  # which keeps its sign
        left = centred / (singular[0] or 1.0)
    return left[:, singular > SMALLEST_DIRECTION * singular.max(initial=1e-300)] * np.sqrt(len(columns))
