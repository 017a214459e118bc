"""The one-sided Wilcoxon signed-rank test for many rows of paired differences at once, on doubled (integer) ranks."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: Most pairs for which the p-value is from all sign flips, not the normal approximation.
MAX_EXACT_PAIRS = 13


@njit
def _sort_by_size(differences, by_size):
    """Copy differences in ascending order of absolute values; there are few, and many are equal."""
    for i in range(len(differences)):
        new = differences[i]
        k = i
        while k > 0 and abs(by_size[k - 1]) > abs(new):
            by_size[k] = by_size[k - 1]
            k -= 1
        by_size[k] = new


@njit
def _count_sums(steps, counts):
    """Count the subsets of `steps` with each sum; return the largest sum."""
    reach = 0
    counts[0] = 1.0
    for step in steps:
        counts[reach + 1 : reach + step + 1] = 0.0
        for total in range(reach, -1, -1):
            counts[total + step] += counts[total]
        reach += step
    return reach


@njit("void(float64[:, ::1], float64[::1], float64[::1])", cache=True)
def signed_rank_greater(differences, p_values, log_p):
    """Fill one-sided p-values, (m,), of `differences`, (m, B); zeros are split between signs, and p = 1 if all are."""
    n = differences.shape[1]
    by_size = np.empty(n, dtype=np.float64)
    steps = np.arange(2, 2 * n + 2, 2)
    most = min(n, MAX_EXACT_PAIRS) * (min(n, MAX_EXACT_PAIRS) + 1)
    counts = np.empty(most + 1, dtype=np.float64)
    tails = np.empty(most + 1, dtype=np.float64)  # without ties and zeros, of which most rows have none
    if n <= MAX_EXACT_PAIRS:
        tail = 0.0
        for total in range(_count_sums(steps, counts), -1, -1):
            tail += counts[total]
            tails[total] = tail
    for row in range(differences.shape[0]):
        _sort_by_size(differences[row], by_size)
        # Zeros add the same to every sum of ranks, and are left out; their ranks count in the variance.
        positive, squares, n_zero, is_tied, start = 0, 0.0, 0, False, 0
        while start < n:
            stop = start + 1
            while stop < n and abs(by_size[stop]) == abs(by_size[start]):
                stop += 1
            rank = start + stop + 1
            squares += 0.25 * rank * rank * (stop - start)
            is_tied |= stop > start + 1
            if by_size[start] == 0.0:
                n_zero = stop
            for i in range(start, stop):
                steps[i] = rank
                if by_size[i] > 0.0:
                    positive += rank
            start = stop
        if n_zero == n:
            p_values[row], log_p[row] = 1.0, 0.0
        elif n <= MAX_EXACT_PAIRS:
            if is_tied or n_zero > 0:
                tail = 0.0
                reach = _count_sums(steps[n_zero:], counts)
                for total in range(positive, reach + 1):
                    tail += counts[total]
            else:
                tail = tails[positive]
            p_values[row] = tail / 2.0 ** (n - n_zero)
            log_p[row] = math.log(p_values[row])
        else:
            # The mean is half the sum of all ranks without the ranks of zeros.
            above = 0.5 * positive - 0.25 * (n * (n + 1) - n_zero * (n_zero + 1))
            z = above / math.sqrt(0.25 * squares)
            p_values[row] = 0.5 * math.erfc(z / math.sqrt(2.0))
            if p_values[row] > 1e-290:
                log_p[row] = math.log(p_values[row])
            else:  # Mills' ratio, if the tail underflows
                log_p[row] = -0.5 * z * z - math.log(z * math.sqrt(2.0 * math.pi)) + math.log1p(-1.0 / (z * z))
