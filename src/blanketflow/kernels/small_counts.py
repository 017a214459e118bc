"""p-values of contingency tables with small expected counts, where chi-square does not approximate G2.

Given the level counts of each stratum, tables are hypergeometric under independence, as if X were permuted within
strata. A table of two flags is tested exactly: p is the probability of all tables no more likely than the observed one
(Fisher's test; for several strata: Freeman, Halton 1951, Biometrika 38, 141-149, doi:10.1093/biomet/38.1-2.141). For
other tables, and in many strata, the degrees of freedom are the mean of G2 over all permutations, if it is larger
(Tsamardinos, Borboudakis 2010, Permutation testing improves Bayesian network learning, ECML PKDD, 322-337).

Sums over cells are in fixed point and strata are sorted, so that names of levels and columns do not matter.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .chi_square import log_tail

#: Smallest expected cell count with which chi-square is right (Cochran, 1954, doi:10.2307/3001666).
EXPECTED = 5.0
#: The same for two flags: then chi-square rejects at most about 7 % at 0.05, over many margins. And the smallest for
#: the mid-p-value of a table without strata, which has more power than the exact test (up to 6.5 %).
EXPECTED_OF_FLAGS, EXPECTED_FOR_MID_P = 20.0, 10.0
#: Other p-values are not corrected, since they do not change decisions.
SMALLEST_LOG_P, LARGEST_LOG_P = math.log(1e-10), math.log(0.1)
#: Number of steps of -log likelihood of the observed tables, the unit in which tables of strata are compared; the order
#: changes slightly, and p stays exact.
STEPS = 32
#: Tables within this rounding are as likely as the observed one.
ROUNDING = 1e-7
#: Most strata of two flags tested exactly, and most tables per stratum.
MOST_STRATA, MOST_TABLES = 8, 100_000
#: Tables of smaller relative likelihood are left out.
SMALLEST_WEIGHT = 1e-30
#: Fixed-point steps per unit for means of G2, and the share of the largest term below which terms are left out.
MEAN_SCALE, SMALLEST_TERM = 2.0**40, 1e-12
#: c log c for more counts than a cell can have, with all but such a share, where fewer than `EXPECTED` are expected.
C_LOG_C = np.array([0.0, *(c * math.log(c) for c in range(1, 64))])


@njit
def smallest_expected(rows, totals, sizes, n_y):
    """Return the smallest expected cell count, over strata in which both columns vary.

    `rows`, (S, r), counts the levels of X per stratum; `totals`, (S * n_y,), the target's levels; `sizes`, (S,), the
    rows.
    """
    least = np.inf
    for s in range(len(sizes)):
        fewest_x, fewest_y = sizes[s], sizes[s]
        for count in rows[s]:
            if 0 < count < fewest_x:
                fewest_x = count
        for cell in range(s * n_y, (s + 1) * n_y):
            if 0 < totals[cell] < fewest_y:
                fewest_y = totals[cell]
        if fewest_x < sizes[s] and fewest_y < sizes[s]:
            least = min(least, float(fewest_x) * fewest_y / sizes[s])
    return least


@njit
def _excess(a, b, t, share, factor):
    """Return the mean of 2 C log(C / E[C]) minus that of (C - E[C])^2 / E[C], for C of a drawn among b of t.

    `share` is 1 / t, and `factor` is t / (t - 1).
    """
    mean, rest_a, rest_b = a * b * share, 1.0 - a * share, 1.0 - b * share
    of_square = rest_a * rest_b * factor
    if mean >= EXPECTED:  # the next terms of its expansion in 1 / mean, the last one as of a rare level
        next_term = of_square * (of_square / 2.0 - (2.0 * rest_a - 1.0) * (2.0 * rest_b - 1.0) / 3.0) / mean
        return next_term * (1.0 + 1.0 / mean)
    least, most = max(0, a + b - t), min(a, b)
    count, weight, whole, total = least, 1.0, 0.0, 0.0
    while True:
        whole += weight
        total += weight * C_LOG_C[count]
        if count == most:
            break
        weight *= float(a - count) * float(b - count) / (float(count + 1) * float(t - a - b + count + 1))
        count += 1
        if count > mean and weight < SMALLEST_TERM * whole:
            break
    return 2.0 * (total / whole - mean * math.log(mean)) - of_square


@njit
def mean_of_g2(rows, totals, sizes, n_y):
    """Return the mean of G2 over all permutations of X within strata; arguments as in `smallest_expected`."""
    total = np.int64(0)
    for s in range(len(sizes)):
        n_x, n_present = 0, 0
        for count in rows[s]:
            n_x += count > 0
        for cell in range(s * n_y, (s + 1) * n_y):
            n_present += totals[cell] > 0
        if n_x < 2 or n_present < 2:
            continue
        size, share, factor = sizes[s], 1.0 / sizes[s], sizes[s] / (sizes[s] - 1.0)
        total += np.int64(round((n_x - 1) * (n_present - 1) * factor * MEAN_SCALE))
        for count in rows[s]:
            for cell in range(s * n_y, (s + 1) * n_y if count else s * n_y):
                if totals[cell]:
                    total += np.int64(_excess(count, totals[cell], size, share, factor) * MEAN_SCALE)
    return total / MEAN_SCALE


@njit
def _sorted_strata(rows, totals, sizes, both):
    """Return sorted strata: rows, smaller margin, larger margin and count of the cell of the rarer levels.

    Strata in which a column is constant are left out; at most `MOST_STRATA` + 1 are returned.
    """
    found, n = np.empty((min(len(sizes), MOST_STRATA + 1), 4), dtype=np.int64), 0
    for s in range(len(sizes)):
        if n > MOST_STRATA:
            break
        size, x, y, k = sizes[s], rows[s, 0], totals[2 * s], both[s]
        if 2 * x > size:
            x, k = size - x, y - k
        if 2 * y > size:
            y, k = size - y, x - k
        if not x or not y:
            continue
        stratum, at = (size, min(x, y), max(x, y), k), n
        while at and _is_before(stratum, found[at - 1]):
            for j in range(4):
                found[at, j] = found[at - 1, j]
            at -= 1
        for j in range(4):
            found[at, j] = stratum[j]
        n += 1
    return found[:n]


@njit
def _is_before(one, other):
    for j in range(4):
        if one[j] != other[j]:
            return one[j] < other[j]
    return False


@njit
def _tables(size, a, b, weights):
    """Fill the probabilities of tables of two flags, relative to the likeliest, by the count of the first cell.

    Returns the range of counts with non-negligible probability, without its end.
    """
    mode = int((a + 1.0) * (b + 1.0) / (size + 2.0))
    weights[mode] = 1.0
    stop, start = mode + 1, mode
    while stop <= a and weights[stop - 1] > SMALLEST_WEIGHT:
        ratio = float((a - stop + 1) * (b - stop + 1)) / float(stop * (size - a - b + stop))
        weights[stop] = weights[stop - 1] * ratio
        stop += 1
    while start > 0 and weights[start] > SMALLEST_WEIGHT:
        ratio = float(start * (size - a - b + start)) / float((a - start + 1) * (b - start + 1))
        weights[start - 1] = weights[start] * ratio
        start -= 1
    return start, stop


@njit
def exact_log_p(rows, totals, sizes, both, least):
    """Return log p of the exact test of two flags: the probability of all tables no more likely than the observed one.

    `both`, (S,), are the rows of the first level of both; `least` is the result of `smallest_expected` for the other
    arguments. Returns 1.0 for more than `MOST_STRATA` strata, more than `MOST_TABLES` tables in one, or a p that is too
    small.
    """
    strata = _sorted_strata(rows, totals, sizes, both)
    n_strata, most = len(strata), 0
    for s in range(n_strata):
        most = max(most, strata[s, 1] + 1)
    if n_strata > MOST_STRATA or most > MOST_TABLES:
        return 1.0
    weights, ranges, seen = np.empty((n_strata, most)), np.empty((n_strata, 2), dtype=np.int64), 0.0
    for s in range(n_strata):
        start, stop = _tables(strata[s, 0], strata[s, 1], strata[s, 2], weights[s])
        if not start <= strata[s, 3] < stop:
            return 1.0
        ranges[s, 0], ranges[s, 1] = start, stop
        seen -= math.log(weights[s, strata[s, 3]])
    if seen <= ROUNDING:
        return 0.0
    per_step, threshold = STEPS / seen, 0
    for s in range(n_strata):
        threshold += int(-math.log(weights[s, strata[s, 3]]) * per_step + ROUNDING)
    # below[j]: probability of the strata so far at j steps from the likeliest; beyond[j]: at j or more, up to the
    # observed table; tail: at that or more.
    below, beyond, shares, tail = np.zeros(threshold), np.zeros(threshold + 1), np.empty(threshold + 1), 0.0
    below[0] = 1.0
    for s in range(n_strata):
        whole = 0.0
        for j in range(threshold + 1):
            shares[j] = 0.0
        for count in range(ranges[s, 0], ranges[s, 1]):
            steps = -math.log(weights[s, count]) * per_step + ROUNDING
            shares[int(min(steps, threshold))] += weights[s, count]
            whole += weights[s, count]
        for j in range(threshold - 1, -1, -1):
            beyond[j] = beyond[j + 1] + below[j]
        after = np.zeros(threshold)
        for steps in range(threshold + 1):
            if shares[steps] > 0.0:
                share = shares[steps] / whole
                tail += share * beyond[threshold - steps]
                for j in range(threshold - steps):
                    after[j + steps] += share * below[j]
        below = after
        if n_strata == 1 and least >= EXPECTED_FOR_MID_P:
            tail -= 0.5 * weights[s, strata[s, 3]] / whole
    return math.log(min(tail, 1.0)) if tail > 0.0 else 1.0


@njit
def corrected_log_p(rows, totals, sizes, n_y, both, statistic, dof, log_p):
    """Return log p of G2 corrected for small expected counts; elsewhere `log_p`, that of chi-square."""
    are_flags = rows.shape[1] == 2 and n_y == 2
    least = smallest_expected(rows, totals, sizes, n_y)
    if least >= (EXPECTED_OF_FLAGS if are_flags else EXPECTED):
        return log_p
    exact = exact_log_p(rows, totals, sizes, both, least) if are_flags else 1.0
    if exact <= 0.0:
        return exact
    return log_tail(statistic, max(dof, mean_of_g2(rows, totals, sizes, n_y))) if least < EXPECTED else log_p
