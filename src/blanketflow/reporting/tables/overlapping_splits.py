"""The mean of scores over evaluation splits, whose training rows overlap, with its interval.

Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52, 239-281,
doi:10.1023/A:1024068626366.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Coverage of the intervals.
LEVEL = 0.95


class Mean(NamedTuple):
    """A mean with its standard error and the ends of its 95 % interval; NaN where they are not known."""

    value: float
    error: float
    low: float
    high: float


def corrected_mean(values: np.ndarray, n_parts: int) -> Mean:
    """Return the mean of one value per split with the corrected standard error and Student's interval.

    Parameters
    ----------
    values : ndarray of shape (n_splits,)
        NaN where a split has none.
    n_parts : int
        Outer folds of one repetition: each split tests on one part of so many.

    Returns
    -------
    Mean
        The variance of the mean is that of the values times 1 / n_splits + 1 / (n_parts - 1), the rows that a split
        tests on for each that it trains on. One value has no interval.

    Examples
    --------
    >>> [round(float(number), 3) for number in corrected_mean(np.array([0.7, 0.8, 0.9]), 3)]
    [0.8, 0.091, 0.407, 1.193]
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    mean = float(known.mean()) if len(known) else float("nan")
    if len(known) < 2 or n_parts < 2:
        return Mean(mean, *[float("nan")] * 3)
    from scipy.special import stdtrit

    error = float(np.sqrt(known.var(ddof=1) * (1 / len(known) + 1 / (n_parts - 1))))
    half = error * float(stdtrit(len(known) - 1, (1 + LEVEL) / 2))
    return Mean(mean, error, mean - half, mean + half)
