"""Middle order statistics of many numbers, located by a sample."""

from __future__ import annotations

import numpy as np
from numba import njit

#: Size of the sample, and the searched distance of the middle from the sample's, in standard errors.
SAMPLE, ERRORS = 4096, 3.5


@njit
def order_statistics(values, first, second):
    """Return the numbers of rank `first` and `second` (`first` or the next), from 0, by Hoare's selection."""
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
    """Return the middle two of the positive numbers (at least one) among non-negative ones, or the middle one twice."""
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


@njit
def _up_to(ordered, square):
    """Return how many squared differences of ascending numbers are at most this number."""
    n_pairs, b = 0, 0
    for a in range(len(ordered)):
        while b < len(ordered) and (ordered[b] - ordered[a]) ** 2 <= square:
            b += 1
        n_pairs += b - a - 1
    return n_pairs


@njit("UniTuple(float64, 2)(float64[::1])", cache=True, nogil=True)
def middle_of_squared_differences(ordered):
    """Return `middle_of_positive` of all squared differences of ascending numbers, not all equal, by O(n) bisection."""
    n = len(ordered)
    low, high = 0.0, (ordered[n - 1] - ordered[0]) ** 2
    n_low, n_high = _up_to(ordered, low), n * (n - 1) // 2
    first, second = n_low + (n_high - n_low - 1) // 2, n_low + (n_high - n_low) // 2
    while n_high - n_low > 4 * n:
        between = low + (high - low) / 2.0
        n_between = _up_to(ordered, between)
        if not low < between < high or first < n_between <= second:
            break
        if n_between <= first:
            low, n_low = between, n_between
        else:
            high, n_high = between, n_between
    found, n_found, start = np.empty(n_high - n_low), 0, 0
    for a in range(n):
        while start < n and (ordered[start] - ordered[a]) ** 2 <= low:
            start += 1
        for b in range(start, n):
            square = (ordered[b] - ordered[a]) ** 2
            if square > high:
                break
            found[n_found] = square
            n_found += 1
    return order_statistics(found, first - n_low, second - n_low)
