"""The middle order statistics of many numbers, of which a sample tells where to look."""

from __future__ import annotations

import numpy as np
from numba import njit

#: Numbers that are looked at together for one in the middle.
CHUNK = 32
#: Size of the sample, and how many of its standard errors the middle may be away from its own.
SAMPLE, ERRORS = 4096, 3.5


@njit(fastmath={"reassoc", "nsz"})
def _two_counts(values, low, high):
    below, upto = 0, 0
    for i in range(len(values)):
        below += values[i] < low
        upto += values[i] <= high
    return below, upto


@njit
def count_and_copy(values, low, high, found, n_found):
    """Count what is below `low`, and copy what is from there up to `high` behind the first `n_found` of `found`.

    Returns the number below and that of `found`; what does not fit is counted only.
    """
    n_below = 0
    for start in range(0, len(values), CHUNK):
        chunk = values[start : start + CHUNK]
        below, upto = _two_counts(chunk, low, high)
        n_below += below
        if upto > below:
            for i in range(len(chunk)):
                if low <= chunk[i] <= high:
                    if n_found < len(found):
                        found[n_found] = chunk[i]
                    n_found += 1
    return n_below, n_found


@njit
def order_statistics(values, first, second):
    """Return the numbers of rank `first` and `second`, which is `first` or the next, from 0, by Hoare's selection."""
    ordered = values.copy()
    start, stop = 0, len(ordered) - 1
    while start < stop:
        a, b, c = ordered[start], ordered[(start + stop) // 2], ordered[stop]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = start, stop
        while i <= j:
            while ordered[i] < pivot:
                i += 1
            while ordered[j] > pivot:
                j -= 1
            if i <= j:
                ordered[i], ordered[j] = ordered[j], ordered[i]
                i += 1
                j -= 1
        if second <= j:
            stop = j
        elif second >= i:
            start = i
        else:
            break
    last = ordered[second]
    if first == second:
        return last, last
    largest = ordered[0]
    for i in range(1, second):
        largest = max(largest, ordered[i])
    return largest, last


@njit("UniTuple(float64, 2)(float64[::1])", cache=True, nogil=True)
def middle_of_positive(values):
    """Return the middle two of the positive numbers among non-negative ones, or the middle one twice.

    At least one is positive.
    """
    n, n_zero = len(values), 0
    for i in range(n):
        n_zero += values[i] == 0.0
    first, second = n_zero + (n - n_zero - 1) // 2, n_zero + (n - n_zero) // 2
    if n > 16 * SAMPLE:
        sample = np.sort(values[:: n // SAMPLE])
        margin = ERRORS * 0.5 * np.sqrt(len(sample)) + 1.0
        place = len(sample) * (second / n)
        low = sample[max(0, int(place - margin))]
        high = sample[min(len(sample) - 1, int(place + margin))]
        found, n_below, n_found = np.empty(n + 1), 0, 0
        for i in range(n):  # without a branch, which would be guessed wrongly
            found[n_found] = values[i]
            n_below += values[i] < low
            n_found += low <= values[i] <= high
        if n_below <= first and second < n_below + n_found:
            return order_statistics(found[:n_found], first - n_below, second - n_below)
    return order_statistics(values, first, second)
