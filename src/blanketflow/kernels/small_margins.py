"""The p-values of kernels/small_counts.py for marginal tests, from statistics and level counts alone."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .small_counts import (
    EXPECTED,
    LARGEST_LOG_P,
    ROUNDING,
    SMALLEST_LOG_P,
    corrected_log_p,
    exact_log_p,
    smallest_expected,
)


@njit("float64(int64, int64, int64, int64)", cache=True, nogil=True)
def flags_log_p(both, first, second, n):
    """Return log p of Fisher's test from n rows and the counts of ones of both flags and of each; 1.0 if not
    applicable.
    """
    rows, totals, sizes = np.array([[first, n - first]]), np.array([second, n - second]), np.array([n])
    least = smallest_expected(rows, totals, sizes, 2)
    return exact_log_p(rows, totals, sizes, np.array([both]), least) if least < EXPECTED else 1.0


@njit
def _term(count, mean):
    return 2.0 * count * math.log(count / mean) if count > 0 else 0.0


@njit
def _g2_of_flags(count, a, b, t):
    """Return G2 of a table of two flags with `count` of t rows in the cell of margins a and b."""
    rest_a, rest_b = float(t - a), float(t - b)
    of_first = _term(count, float(a) * b / t) + _term(a - count, a * rest_b / t)
    return of_first + _term(b - count, rest_a * b / t) + _term(t - a - b + count, rest_a * rest_b / t)


@njit
def _count_with(statistic, a, b, t):
    """Return the first cell's count in the table of two flags with a given G2, which rises away from the mean."""
    found, least = 0, np.inf
    for side in (-1, 1):
        start = int(float(a) * b / t) + (side > 0)
        low, high = 0, start - max(0, a + b - t) if side < 0 else min(a, b) - start
        while low < high:
            middle = (low + high + 1) // 2
            if _g2_of_flags(start + side * middle, a, b, t) <= statistic * (1.0 + ROUNDING):
                low = middle
            else:
                high = middle - 1
        error = abs(_g2_of_flags(start + side * low, a, b, t) - statistic) if high >= 0 else np.inf
        if error < least:
            found, least = start + side * low, error
    return found


@njit(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], float64[::1])",
    cache=True,
    nogil=True,
)
def correct_marginal_tests(x_counts, x_start, y_counts, asked, statistic, dof, log_p, p_value):
    """Correct the marginal tests at positions `asked`, (m,), of the last four arrays, from statistics and level counts.

    The levels of the i-th one have ``x_counts[x_start[i] : x_start[i + 1]]`` rows.
    """
    sizes, both = np.array([y_counts.sum()]), np.zeros(1, dtype=np.int64)
    for i in range(len(asked)):
        at, counts = asked[i], x_counts[x_start[i] : x_start[i + 1]]
        if SMALLEST_LOG_P < log_p[at] < LARGEST_LOG_P:
            if len(counts) == 2 and len(y_counts) == 2:
                both[0] = _count_with(statistic[at], counts[0], y_counts[0], sizes[0])
            rows = np.empty((1, len(counts)), dtype=np.int64)
            for j in range(len(counts)):
                rows[0, j] = counts[j]
            log_p[at] = corrected_log_p(rows, y_counts, sizes, len(y_counts), both, statistic[at], dof[at], log_p[at])
            p_value[at] = math.exp(log_p[at])
