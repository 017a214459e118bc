"""The expected mutual information of independent columns, given the counts of their levels.

If the levels of one column are permuted within a stratum, the count C of a cell is hypergeometric with margins a and b
among t rows, and the mutual information varies only by the sum of C log C. So the sum of E[C log C] over cells is
enough, in fixed point as in kernels/contingency.py. Vinh, Epps, Bailey (2010) Information theoretic measures for
clusterings comparison: variants, properties, normalization and correction for chance, JMLR 11, 2837-2854.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .contingency import _fixed

#: Terms below this share of the largest are left out.
SMALLEST_SHARE = 1e-19
#: Every h-th count replaces all if the error is below exp(-EXPONENT) of the whole.
EXPONENT = 40.0
#: Marks a sum not yet computed.
UNKNOWN = np.iinfo(np.int64).min


@njit
def _log_factorial(count, factorials):
    return factorials[count] if count < len(factorials) else math.lgamma(count + 1.0)


@njit
def _stride(variance):
    """Return the largest h for which every h-th count is enough.

    A hypergeometric count is a sum of independent indicators, so its characteristic function at angle v is at most
    exp(-variance (1 - cos v)); the error of every h-th count is its value at multiples of 2 pi / h.
    """
    return int(2.0 * math.pi / math.acos(1.0 - EXPONENT / variance)) if variance > 0.5 * EXPONENT else 1


@njit
def _remainder(count, mean, log_mean, terms, scale):
    """Return c log c minus its tangent at the mean, so that large terms do not cancel in sums."""
    return _fixed(count, terms, scale) / scale - count * log_mean - (count - mean)


@njit
def expected_cells(a, b, t, n_cells, terms, scale, factorials):
    """Return E[C log C] in fixed point, summed over cells, for the count C of a drawn rows among b of t.

    `n_cells` is 1; 2 adds the cell of the other drawn rows; 4 adds those of the rows that are not drawn.
    """
    least, most = max(0, a + b - t), min(a, b)
    means = (float(a) * b / t, float(a) * (t - b) / t, float(t - a) * b / t, float(t - a) * (t - b) / t)
    if least == most:
        total = _fixed(least, terms, scale)
        if n_cells > 1:
            total += _fixed(a - least, terms, scale)
        if n_cells > 2:
            total += _fixed(b - least, terms, scale) + _fixed(t - a - b + least, terms, scale)
        return total
    logs = (math.log(means[0]), math.log(means[1]), math.log(means[2]), math.log(means[3]))
    stride = _stride(means[0] * (1.0 - a / t) * (t - b) / (t - 1.0))
    mode = min(max(int((a + 1.0) * (b + 1.0) / (t + 2.0)), least), most)
    at_mode = _log_weight(mode, a, b, t, factorials) if stride > 1 else 0.0
    whole, rest = 0.0, 0.0
    for direction in (1, -1):
        count, weight = mode, 1.0
        while True:
            if count != mode or direction == 1:
                whole += weight
                here = _remainder(count, means[0], logs[0], terms, scale)
                if n_cells > 1:
                    here += _remainder(a - count, means[1], logs[1], terms, scale)
                if n_cells > 2:
                    here += _remainder(b - count, means[2], logs[2], terms, scale)
                    here += _remainder(t - a - b + count, means[3], logs[3], terms, scale)
                rest += weight * here
            before = count
            count += direction * stride
            if count < least or count > most:
                break
            if stride > 1:
                weight = math.exp(_log_weight(count, a, b, t, factorials) - at_mode)
            elif direction == 1:
                weight *= float((a - before) * (b - before)) / float(count * (t - a - b + count))
            else:
                weight *= float(before * (t - a - b + before)) / float((a - count) * (b - count))
            if weight < SMALLEST_SHARE:
                break
    total = rest / whole + means[0] * logs[0]
    if n_cells > 1:
        total += means[1] * logs[1]
    if n_cells > 2:
        total += means[2] * logs[2] + means[3] * logs[3]
    return np.int64(round(total * scale))


@njit
def _log_weight(count, a, b, t, factorials):
    inside = _log_factorial(count, factorials) + _log_factorial(a - count, factorials)
    return -(inside + _log_factorial(b - count, factorials) + _log_factorial(t - a - b + count, factorials))


@njit
def stratum_share(counts, terms, scale):
    """Return the part of n E[I(X;Y)] in a stratum that all X share, from the counts of the levels of Y."""
    total = _fixed(counts.sum(), terms, scale)
    for count in counts:
        total -= _fixed(count, terms, scale)
    return total


@njit
def level_of(a, t, counts, n_present, terms, scale, factorials):
    """Return the sum of E[C log C] over the cells of a level with a of t rows, minus a log a.

    `counts` are those of the other column's `n_present` levels; equal neighbours are computed once.
    """
    total, term, before = -_fixed(a, terms, scale), np.int64(0), np.int64(0)
    for count in counts:
        if count and n_present == 2:
            return total + expected_cells(a, count, t, 2, terms, scale, factorials)
        if count:
            term = term if count == before else expected_cells(a, count, t, 1, terms, scale, factorials)
            total, before = total + term, count
    return total


@njit
def expected_pair(a, t, counts, n_present, terms, scale, factorials):
    """Return n E[I(X;Y)] in fixed point for an X of two levels, one with a of t rows."""
    total = stratum_share(counts, terms, scale)
    if n_present > 2:
        total += level_of(a, t, counts, n_present, terms, scale, factorials)
        return total + level_of(t - a, t, counts, n_present, terms, scale, factorials)
    for count in counts:
        if count:
            total += expected_cells(a, count, t, 4, terms, scale, factorials)
            break
    return total - _fixed(a, terms, scale) - _fixed(t - a, terms, scale)


@njit(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], float64, float64[::1], int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def expected_sums(x_counts, x_start, y_counts, y_start, terms, scale, factorials, sums, dofs):
    """Fill `sums` with n E[I(X;Y|Z)] in fixed point, and `dofs` with (levels of X - 1) (of Y - 1) summed over strata,
    (m,).

    The counts of Y in stratum s of S are ``y_counts[y_start[s] : y_start[s + 1]]``, in any order, those of the k-th X
    start at ``x_start[k S + s]``; zeros are ignored. `terms` and `scale` are as in `contingency.cell_tests`;
    `factorials` are log k! for k = 0, 1, ...; others are computed.
    """
    n_strata = len(y_start) - 1
    sums[:] = 0
    dofs[:] = 0
    for s in range(n_strata):
        y = np.sort(y_counts[y_start[s] : y_start[s + 1]])
        t, n_y = y.sum(), np.count_nonzero(y)
        if n_y < 2:
            continue
        known, shared = np.full(t + 1, UNKNOWN), stratum_share(y, terms, scale)
        for k in range(len(sums)):
            at = k * n_strata + s
            part, n_x = shared, 0
            for a in x_counts[x_start[at] : x_start[at + 1]]:
                if a:
                    n_x += 1
                    if known[a] == UNKNOWN:
                        known[a] = level_of(a, t, y, n_y, terms, scale, factorials)
                    part += known[a]
            if n_x > 1:
                sums[k] += part
                dofs[k] += (n_x - 1) * (n_y - 1)
