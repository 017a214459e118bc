"""Gaussian kernels on all columns but one, for each column in turn: their widths, and their sums with given weights.

A squared distance without a column is the sum over all columns less the square of one difference. Where the difference
is nearly all of the sum, the others are added up anew: no digits are lost, and rows that are equal without
a column have a distance of exactly 0.

Tables are of shape (d, m), one column of the table per row. Squared distances between two rows stand in the triangle
above the diagonal of an array of shape (m, m).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .middle_values import count_and_copy, middle_of_positive, order_statistics

#: The other columns are added up anew where they are less than this share of the sum.
FEW_DIGITS = 1e-3
#: Rows that all columns pass together, so that their distances stay in the processor's cache, and columns at a time.
TILE, COLUMNS = 32, 64
#: The exponents of smaller kernels are set to this; e^-45 is 3e-20.
LEAST = -45.0
#: exp(x) is a Taylor series of 11 terms at x / 2^k, |x / 2^k| < 0.18, and k squares: right to 2^k / 1e16.
SERIES_RANGE = 0.18
C3, C4, C5, C6, C7, C8, C9, C10 = (1.0 / math.factorial(k) for k in range(3, 11))
#: Pairs of rows around the median of all columns from which a column's effect on the median is guessed.
NEAR = 8192
#: Orders of floating point that let a loop use the processor's vectors.
VECTORS = {"reassoc", "contract", "nsz"}


@njit("void(float64[:, ::1], float64[:, ::1])", cache=True, nogil=True, fastmath=VECTORS)
def squared_distances(values, squares):
    """Fill the triangle above the diagonal of `squares`, (m, m), with the sums of squared differences, (d, m)."""
    d, m = values.shape
    squares[:] = 0.0
    for low in range(0, m, TILE):
        for column in range(d):
            x = values[column]
            for a in range(low, min(low + TILE, m)):
                here, there, row = x[a], x[a + 1 :], squares[a, a + 1 :]
                for b in range(len(row)):
                    difference = there[b] - here
                    row[b] += difference * difference


@njit(fastmath=VECTORS)
def _fill_rest(here, there, row, rest):
    """Fill the distances of a row without a column; return how many are few digits of the sum."""
    n_few = 0
    for b in range(len(rest)):
        difference = there[b] - here
        left = row[b] - difference * difference
        rest[b] = left
        n_few += left <= FEW_DIGITS * row[b]
    return n_few


@njit
def _rest(values, column, squares, a, rest):
    """Fill the squared distances of row `a` to those behind it without a column; return how many are exactly 0."""
    d, n_zero = len(values), 0
    row = squares[a, a + 1 :]
    if _fill_rest(values[column, a], values[column, a + 1 :], row, rest):
        for b in range(len(row)):
            if rest[b] <= FEW_DIGITS * row[b]:
                total = 0.0
                for other in range(d):
                    if other != column:
                        total += (values[other, a + 1 + b] - values[other, a]) ** 2
                rest[b] = total
                n_zero += total == 0.0
    return n_zero


@njit
def _all_rests(values, column, squares, rests):
    m, n = squares.shape[0], 0
    rest = np.empty(m)
    for a in range(m):
        size = m - a - 1
        _rest(values, column, squares, a, rest[:size])
        rests[n : n + size] = rest[:size]
        n += size


@njit
def _median_root(found, n_below, n_zero, n_pairs):
    """Return the median of the square roots of the positive numbers of which the middle ones are `found`, or NaN."""
    n_positive = n_pairs - n_zero
    if n_positive == 0:
        return 1.0
    first, second = n_zero + (n_positive - 1) // 2 - n_below, n_zero + n_positive // 2 - n_below
    if first < 0 or second >= len(found):
        return math.nan
    lower, upper = order_statistics(found, first, second)
    return (math.sqrt(lower) + math.sqrt(upper)) / 2.0


@njit("void(float64[:, ::1], float64[:, ::1], float64[::1])", cache=True, nogil=True)
def widths_without_each(values, squares, widths):
    """Fill the median positive distance between two of the rows without each column, (d,); 1 if all rows are equal.

    The median without a column is near the median of all less the mean of that column's squared differences there. So
    one pass counts what is below this guess, and copies what is around it; a wrong guess is corrected by sorting all.
    """
    d, m = values.shape
    n_pairs = m * (m - 1) // 2
    if n_pairs == 0:
        widths[:] = 1.0
        return
    flat, n = np.empty(n_pairs), 0
    for a in range(m):
        flat[n : n + m - a - 1] = squares[a, a + 1 :]
        n += m - a - 1
    step = max(1, n_pairs // NEAR)
    sample = np.sort(flat[::step])
    spread = sample[len(sample) * 3 // 4] - sample[len(sample) // 4]
    middle = middle_of_positive(flat)[0] if sample[-1] else 0.0
    half = spread * 0.5 * NEAR / n_pairs
    near_a, near_b, n_near = np.empty(NEAR, dtype=np.int64), np.empty(NEAR, dtype=np.int64), 0
    for a in range(m):
        for b in range(a + 1, m):
            if n_near < NEAR and abs(squares[a, b] - middle) <= half:
                near_a[n_near], near_b[n_near] = a, b
                n_near += 1
    rest = np.empty(m)
    found = np.empty((COLUMNS, n_pairs // 8 + 64))
    low, high = np.empty(COLUMNS), np.empty(COLUMNS)
    n_below, n_found, n_zero = np.zeros((3, COLUMNS), dtype=np.int64)
    for start in range(0, d, COLUMNS):
        size = min(COLUMNS, d - start)
        n_below[:], n_found[:], n_zero[:] = 0, 0, 0
        for i in range(size):
            x, total, square = values[start + i], 0.0, 0.0
            for k in range(n_near):
                difference = (x[near_a[k]] - x[near_b[k]]) ** 2
                total += difference
                square += difference * difference
            shift = total / max(n_near, 1)
            variance = max(square / max(n_near, 1) - shift * shift, 0.0)
            margin = 3.0 * math.sqrt(variance / max(n_near, 1)) + 0.2 * variance / max(spread, 1e-300) + 1e-9 * middle
            low[i], high[i] = middle - shift - margin, middle - shift + margin
        for tile in range(0, m, TILE):
            for i in range(size):
                for a in range(tile, min(tile + TILE, m)):
                    here = rest[: m - a - 1]
                    n_zero[i] += _rest(values, start + i, squares, a, here)
                    below, n_found[i] = count_and_copy(here, low[i], high[i], found[i], n_found[i])
                    n_below[i] += below
        for i in range(size):
            width = math.nan
            if n_found[i] <= found.shape[1]:
                width = _median_root(found[i, : n_found[i]], n_below[i], n_zero[i], n_pairs)
            if math.isnan(width):
                _all_rests(values, start + i, squares, flat)
                width = _median_root(flat, 0, n_zero[i], n_pairs)
            widths[start + i] = width


@njit(fastmath=VECTORS)
def _weighted_exponentials(rest, rate, weights, many):
    """Return the sum of weights times exp(-rate * rest); many squares if exponents below -2.8 occur."""
    total = 0.0
    scale = -rate / (256.0 if many else 16.0)
    least = LEAST / (256.0 if many else 16.0)
    for b in range(len(rest)):
        x = max(rest[b] * scale, least)
        p = C10
        p = C9 + x * p
        p = C8 + x * p
        p = C7 + x * p
        p = C6 + x * p
        p = C5 + x * p
        p = C4 + x * p
        p = C3 + x * p
        p = 0.5 + x * p
        p = 1.0 + x * p
        p = 1.0 + x * p
        rest[b] = p
    if many:
        for b in range(len(rest)):
            p = rest[b]
            p *= p
            p *= p
            p *= p
            p *= p
            rest[b] = p
    for b in range(len(rest)):
        p = rest[b]
        p *= p
        p *= p
        p *= p
        p *= p
        total += weights[b] * p
    return total


@njit(
    "void(float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[::1])",
    cache=True,
    nogil=True,
    fastmath=VECTORS,
)
def sums_without_each(values, squares, widths, weights, sums):
    """Fill the sum over pairs a < b of `weights` (m, m) times the Gaussian kernel without each column, (d,).

    `widths`, (d,), are the kernels' widths sigma; a kernel is exp(-distance^2 / (2 sigma^2)).
    """
    d, m = values.shape
    largest = 0.0
    for a in range(m):
        for b in range(a + 1, m):
            largest = max(largest, squares[a, b])
    rest = np.empty(m)
    sums[:] = 0.0
    for start in range(0, d, COLUMNS):
        for tile in range(0, m, TILE):
            for i in range(start, min(start + COLUMNS, d)):
                rate = 0.5 / widths[i] ** 2
                many = largest * rate > 16.0 * SERIES_RANGE
                for a in range(tile, min(tile + TILE, m)):
                    here = rest[: m - a - 1]
                    _rest(values, i, squares, a, here)
                    sums[i] += _weighted_exponentials(here, rate, weights[a, a + 1 :], many)
