"""The one-sided Wilcoxon signed-rank test for many rows of paired differences at once."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: Up to this many pairs the p-value comes from all sign flips, above it from the normal approximation.
MAX_EXACT_PAIRS = 13


@njit("float64(float64[::1], boolean[::1], float64)", cache=True)
def _exact_tail(ranks, is_zero, observed):
    """Return the share of sign flips whose positive rank sum is at least the observed one."""
    # Average ranks are multiples of a half: doubled, they count in whole steps.
    n = len(ranks)
    counts = np.zeros(n * (n + 1) + 1, dtype=np.float64)
    counts[0] = 1.0
    flips, fixed, reach = 1.0, 0.0, 0
    for i in range(n):
        if is_zero[i]:
            fixed += 0.5 * ranks[i]
            continue
        step = round(2.0 * ranks[i])
        for total in range(reach, -1, -1):
            counts[total + step] += counts[total]
        reach += step
        flips *= 2.0
    tail = 0.0
    for total in range(reach + 1):
        if 0.5 * total + fixed >= observed - 1e-9:
            tail += counts[total]
    return tail / flips


@njit("void(float64[:, ::1], float64[::1], float64[::1])", cache=True)
def signed_rank_greater(differences, p_values, log_p):
    """Fill the p-values of "the differences lie above zero", zero differences split between both signs.

    Parameters
    ----------
    differences : float64 array of shape (m, B)
        One row of paired differences a test.
    p_values, log_p : float64 arrays of shape (m,)
        Written. Rows of zeros only get p = 1.
    """
    n = differences.shape[1]
    ranks = np.empty(n, dtype=np.float64)
    is_zero = np.empty(n, dtype=np.bool_)
    for row in range(differences.shape[0]):
        size = np.abs(differences[row])
        order = np.argsort(size)
        i = 0
        while i < n:
            j = i
            while j + 1 < n and size[order[j + 1]] == size[order[i]]:
                j += 1
            for k in range(i, j + 1):
                ranks[order[k]] = 0.5 * (i + j) + 1.0
            i = j + 1
        positive, squares, n_zero = 0.0, 0.0, 0
        for i in range(n):
            is_zero[i] = differences[row, i] == 0.0
            n_zero += is_zero[i]
            squares += ranks[i] * ranks[i]
            if differences[row, i] > 0.0:
                positive += ranks[i]
            elif is_zero[i]:
                positive += 0.5 * ranks[i]
        if n_zero == n:
            p_values[row], log_p[row] = 1.0, 0.0
        elif n <= MAX_EXACT_PAIRS:
            p_values[row] = _exact_tail(ranks, is_zero, positive)
            log_p[row] = math.log(p_values[row])
        else:
            z = (positive - 0.25 * n * (n + 1)) / math.sqrt(0.25 * squares)
            p_values[row] = 0.5 * math.erfc(z / math.sqrt(2.0))
            if p_values[row] > 1e-290:
                log_p[row] = math.log(p_values[row])
            else:  # Mills' ratio, where the tail underflows
                log_p[row] = -0.5 * z * z - math.log(z * math.sqrt(2.0 * math.pi)) + math.log1p(-1.0 / (z * z))
