"""Normal scores: the quantiles of the normal distribution at the ranks of some values."""

from __future__ import annotations

import numpy as np


def normal_scores(counts: np.ndarray) -> np.ndarray:
    """Return the normal scores of distinct ascending values, (m,), with these counts.

    >>> normal_scores(np.array([1, 2, 1])).round(3)
    array([-1.15,  0.  ,  1.15])
    """
    from scipy.special import ndtri

    return ndtri((np.cumsum(counts) - counts / 2.0) / counts.sum())


def scores_of(numbers: np.ndarray) -> np.ndarray:
    """Return the normal scores of some numbers, (n,).

    >>> scores_of(np.array([3.0, 1e9, 7.0])).round(3).tolist()
    [-0.967, 0.967, 0.0]
    """
    _, place, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    return normal_scores(counts)[place]
