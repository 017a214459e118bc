"""Weighted sums of Gaussian kernels on all columns but one, for each column in turn.

The squared distance without a column is the total minus one square, recomputed where that square is nearly all of it,
so that no digits are lost and equal rows have distance 0. Tables have shape (d, m), one column per row; squared
distances are above the diagonal of an (m, m) array.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: The other columns are summed again if they are less than this share of the sum.
FEW_DIGITS = 1e-3
#: Rows processed together, so that their distances stay in the cache, and columns at a time.
TILE, COLUMNS = 32, 64
#: The exponents of smaller kernels are set to this; e^-45 is 3e-20.
LEAST = -45.0
#: exp(x) is a Taylor series of 11 terms at x / 2^k, |x / 2^k| < 0.18, and k squares: right to 2^k / 1e16.
SERIES_RANGE = 0.18
C3, C4, C5, C6, C7, C8, C9, C10 = (1.0 / math.factorial(k) for k in range(3, 11))
#: Floating-point reordering that lets loops vectorise.
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
    """Fill a row's distances without a column; return how many keep few digits of the sum."""
    n_few = 0
    for b in range(len(rest)):
        difference = there[b] - here
        left = row[b] - difference * difference
        rest[b] = left
        n_few += left <= FEW_DIGITS * row[b]
    return n_few


@njit
def _added_up(values, column, a, b):
    """Return the squared distance of two rows without a column."""
    total = 0.0
    for other in range(len(values)):
        if other != column:
            total += (values[other, b] - values[other, a]) ** 2
    return total


@njit
def rest_of_row(values, column, squares, a, rest):
    """Fill the squared distances, without a column, of row `a` to the rows after it."""
    row = squares[a, a + 1 :]
    if _fill_rest(values[column, a], values[column, a + 1 :], row, rest):
        for b in range(len(row)):
            if rest[b] <= FEW_DIGITS * row[b]:
                rest[b] = _added_up(values, column, a, a + 1 + b)


@njit(fastmath=VECTORS)
def _series(x):
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
    return 1.0 + x * p


@njit(fastmath=VECTORS)
def _weighted_exponentials(rest, rate, weights, many):
    """Return the sum of weights times exp(-rate * rest); many squares if exponents below -2.8 occur."""
    total = 0.0
    scale = -rate / (256.0 if many else 16.0)
    least = LEAST / (256.0 if many else 16.0)
    for b in range(len(rest)):
        rest[b] = _series(max(rest[b] * scale, least))
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


@njit(fastmath=VECTORS)
def _weighted_changes(here, there, row, rate, change, weights):
    """Return the sum of weights times exp(rate * difference^2 - change * row), exponents within the series' range."""
    total = 0.0
    for b in range(len(row)):
        difference = there[b] - here
        total += weights[b] * _series(rate * (difference * difference) - change * row[b])
    return total


@njit(
    "void(float64[:, ::1], float64[:, ::1], float64[::1], float64[:, ::1], float64[::1])",
    cache=True,
    nogil=True,
    fastmath=VECTORS,
)
def sums_without_each(values, squares, widths, weights, sums):
    """Fill the sum over pairs a < b of `weights` (m, m) times the Gaussian kernel without each column, (d,).

    `widths`, (d,), are sigma in exp(-distance^2 / (2 sigma^2)). With many columns the kernel is that of all columns at
    the usual width, times a factor near 1 with a short series.
    """
    d, m = values.shape
    if d == 0:
        return
    usual, largest, usual_kernel = 0.5 / np.sort(widths)[d // 2] ** 2, 0.0, np.empty((m, m))
    for a in range(m):
        for b in range(a + 1, m):
            largest = max(largest, squares[a, b])
            usual_kernel[a, b] = weights[a, b] * math.exp(-usual * squares[a, b])
    rest = np.empty(m)
    sums[:] = 0.0
    for start in range(0, d, COLUMNS):
        for tile in range(0, m, TILE):
            for i in range(start, min(start + COLUMNS, d)):
                x, rate = values[i], 0.5 / widths[i] ** 2
                many = largest * rate > 16.0 * SERIES_RANGE
                change = rate - usual
                is_near = rate * (x.max() - x.min()) ** 2 + abs(change) * largest < SERIES_RANGE
                for a in range(tile, min(tile + TILE, m)):
                    row = squares[a, a + 1 :]
                    if is_near:
                        sums[i] += _weighted_changes(x[a], x[a + 1 :], row, rate, change, usual_kernel[a, a + 1 :])
                    else:
                        here = rest[: m - a - 1]
                        rest_of_row(values, i, squares, a, here)
                        sums[i] += _weighted_exponentials(here, rate, weights[a, a + 1 :], many)
