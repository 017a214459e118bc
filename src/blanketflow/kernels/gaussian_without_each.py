"""Weighted sums of Gaussian kernels on all columns but one, for each column in turn.

The squared distance without a column is the total minus one square, recomputed where that square is nearly all of it,
so that no digits are lost and equal rows have distance 0. Tables have shape (d, m), one column per row; squared
distances are above the diagonal of an (m, m) array.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .middle_values import middle_of_positive, order_statistics

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
#: Pairs of rows around the median of all columns from which a column's effect on the median is guessed.
NEAR = 8192
#: Bins of squared distances.
BINS = 64


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


# --- widths of the kernels: median distances of rows on all columns but one, for each column in turn ------------------


@njit
def _all_rests(values, column, squares, rests):
    m, n = squares.shape[0], 0
    rest = np.empty(m)
    for a in range(m):
        size = m - a - 1
        rest_of_row(values, column, squares, a, rest[:size])
        rests[n : n + size] = rest[:size]
        n += size


@njit
def _median_root(found, n_below, n_zero, n_pairs):
    """Return the median of the square roots of positive numbers, given the middle ones, `found`, or NaN."""
    n_positive = n_pairs - n_zero
    if n_positive == 0:
        return 1.0
    first, second = n_zero + (n_positive - 1) // 2 - n_below, n_zero + n_positive // 2 - n_below
    if first < 0 or second >= len(found):
        return math.nan
    lower, upper = order_statistics(found, first, second)
    return (math.sqrt(lower) + math.sqrt(upper)) / 2.0


@njit
def _guesses(values, squares, flat, lows, highs):
    """Fill guesses of the median without each column: near that of all minus the column's mean square there."""
    d, m = values.shape
    n_pairs = len(flat)
    sample = np.sort(flat[:: max(1, n_pairs // NEAR)])
    spread = sample[len(sample) * 3 // 4] - sample[len(sample) // 4]
    middle = middle_of_positive(flat)[0] if sample[-1] else 0.0
    half = spread * 0.5 * NEAR / n_pairs
    near_a, near_b, n_near = np.empty(NEAR, dtype=np.int64), np.empty(NEAR, dtype=np.int64), 0
    for a in range(m):
        for b in range(a + 1, m):
            if n_near < NEAR and abs(squares[a, b] - middle) <= half:
                near_a[n_near], near_b[n_near] = a, b
                n_near += 1
    for column in range(d):
        x, total, square = values[column], 0.0, 0.0
        for k in range(n_near):
            difference = (x[near_a[k]] - x[near_b[k]]) ** 2
            total += difference
            square += difference * difference
        shift = total / max(n_near, 1)
        variance = max(square / max(n_near, 1) - shift * shift, 0.0)
        margin = 3.0 * math.sqrt(variance / max(n_near, 1)) + 0.2 * variance / max(spread, 1e-300) + 1e-9 * middle
        lows[column], highs[column] = middle - shift - margin, middle - shift + margin


@njit
def _bin(square, low, rate):
    """Return the bin of a squared distance, 0 .. BINS - 1, a monotone function."""
    return int(min(max((square - low) * rate + 1.0, 0.0), BINS - 1.0))


@njit
def _binned_rows(squares, low, rate, sizes, others, starts):
    """Sort each row's squared distances to the rows after it by bins, with the other row of each.

    Writes `sizes` and `others`, (pairs,), and `starts`, (m, BINS + 1), of each row's bins.
    """
    m, n = len(squares), 0
    for a in range(m):
        places = starts[a]
        for i in range(BINS + 1):
            places[i] = 0
        for b in range(a + 1, m):
            places[_bin(squares[a, b], low, rate)] += 1
        for i in range(BINS + 1):
            n += places[i]
            places[i] = n
        for b in range(a + 1, m):
            i = _bin(squares[a, b], low, rate)
            places[i] -= 1
            sizes[places[i]], others[places[i]] = squares[a, b], b


@njit(fastmath=VECTORS)
def _without(x, here, sizes, others, rest):
    for k in range(len(sizes)):
        difference = x[others[k]] - here
        rest[k] = sizes[k] - difference * difference


@njit
def _between(rest, low, high, found, n_found):
    """Append values from `low` to `high` to the first `n_found` of `found`; return the number below, and found."""
    n_below = 0
    for value in rest:  # without a branch, which would be guessed wrongly
        found[n_found] = value
        n_below += value < low
        n_found += (value >= low) & (value <= high)
    return n_below, n_found


@njit("void(float64[:, ::1], float64[:, ::1], float64[::1])", cache=True, nogil=True)
def widths_without_each(values, squares, widths):
    """Fill the median positive distance between rows without each column, (d,); 1 if all rows are equal.

    The median is guessed. Distances below the guess with the column are so without it, and those above it by more than
    the largest square of the row in the column remain above; bins count both. Only the others are inspected. A wrong
    guess is corrected by a full sort.
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
    lows, highs = np.empty(d), np.empty(d)
    _guesses(values, squares, flat, lows, highs)
    smallest, largest, least, low, high = np.empty(d), np.empty(d), math.inf, math.inf, 0.0
    for pair in range(n_pairs):
        least = min(least, flat[pair])
    for column in range(d):
        smallest[column], largest[column] = values[column].min(), values[column].max()
        low = min(low, lows[column])
        high = max(high, highs[column] + (largest[column] - smallest[column]) ** 2)
    rate = (BINS - 2.0) / max(high - low, 1e-300)
    others, starts = np.empty(n_pairs, dtype=np.uint32), np.empty((m, BINS + 1), dtype=np.int64)
    sizes, found, rest = np.empty(n_pairs), np.empty(n_pairs + 1), np.empty(m)
    _binned_rows(squares, low, rate, sizes, others, starts)
    for column in range(d):
        x, first = values[column], _bin(lows[column], low, rate)
        n_zero, n_below, n_found = 0, 0, 0
        for a in range(m):
            reach = max(x[a] - smallest[column], largest[column] - x[a]) ** 2
            if least * (1.0 - 2.0 * FEW_DIGITS) <= reach:  # the column may be nearly all of a distance
                here = rest[: m - a - 1]
                rest_of_row(values, column, squares, a, here)
                for value in here:
                    n_zero += value == 0.0
            else:
                start, stop = starts[a, first], starts[a, _bin((highs[column] + reach) * (1.0 + 1e-9), low, rate) + 1]
                n_below += start - starts[a, 0]
                here = rest[: stop - start]
                _without(x, x[a], sizes[start:stop], others[start:stop], here)
            below, n_found = _between(here, lows[column], highs[column], found, n_found)
            n_below += below
        width = _median_root(found[:n_found], n_below, n_zero, n_pairs)
        if math.isnan(width):
            _all_rests(values, column, squares, flat)
            width = _median_root(flat, 0, n_zero, n_pairs)
        widths[column] = width
