"""Tests on the contingency tables of many candidates with one target in the strata of one conditioning set.

Columns are coded as in kernels/strata.py. A cell is one value of the target in one stratum. A candidate's table is
counted from the rows outside its most frequent level, or, with few cells, by intersecting bit sets; the counts of that
level are the remainder.

Sums of ``c log c`` are integers (fixed point), independent of the order of levels, rows or columns: relabelled columns
tie exactly, and swapping candidate and target changes nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from .chi_square import log_tail
from .small_counts import LARGEST_LOG_P, SMALLEST_LOG_P, corrected_log_p
from .strata import stratify

#: Degrees of freedom: without empty rows, columns and strata; of all combinations of levels; of strata that occur.
ADJUSTED, NOMINAL, OBSERVED = 0, 1, 2
#: The cost of intersecting bit sets of 64 rows, relative to counting one row by a list.
WORD_COST = 0.25


@intrinsic
def _popcount(typing_context, word):  # numba has no name for the processor's own instruction
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit
def _fixed(count, terms, scale):
    if count < len(terms):
        return terms[count]
    return np.int64(round(count * math.log(count) * scale))


@njit
def pearson_scale(n_rows, fewest_levels):
    """Return the fixed-point steps per unit for X2, which is at most the rows times the smaller number of levels."""
    return 2.0 ** math.floor(61.0 - math.log2(n_rows * fewest_levels + 1.0))


@njit
def _cell_bits(cells, n_cells):
    bits = np.zeros((n_cells, (len(cells) + 63) >> 6), dtype=np.uint64)
    for i in range(len(cells)):
        bits[cells[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)
    return bits


@njit
def _count_by_bits(counts, n_cells, first, r, level_bits, cell_bits, telling):
    words = cell_bits.shape[1]
    for code in range(r - 1):
        level = level_bits[first + code]
        for cell in telling:
            there, total = cell_bits[cell], np.uint64(0)
            for w in range(words):
                total += _popcount(level[w] & there[w])
            counts[code * n_cells + cell] = total


@njit
def _count_by_lists(counts, n_cells, first, r, rows, level_start, cells):
    """Count a candidate's rows. Two tables alternate, since a count must be stored before it can be increased again."""
    counts[: 2 * (r - 1) * n_cells] = 0
    for code in range(r - 1):
        here = counts[code * n_cells : (code + 1) * n_cells]
        there = counts[(r - 1 + code) * n_cells : (r + code) * n_cells]
        start, stop = level_start[first + code], level_start[first + code + 1]
        for k in range(start, stop - 1, 2):
            here[cells[rows[k]]] += np.int32(1)
            there[cells[rows[k + 1]]] += np.int32(1)
        if (stop - start) % 2:
            here[cells[rows[stop - 1]]] += np.int32(1)
        for cell in range(n_cells):
            here[cell] += there[cell]


@njit
def _totals(cells, n_cells):
    """Count the rows of each cell. Four tables alternate, since a count must be stored before it can be increased."""
    counts = np.zeros((4, n_cells), dtype=np.int32)
    whole = len(cells) - len(cells) % 4
    for i in range(0, whole, 4):
        for turn in range(4):
            counts[turn, cells[i + turn]] += np.int32(1)
    for i in range(whole, len(cells)):
        counts[0, cells[i]] += np.int32(1)
    return counts[0] + counts[1] + counts[2] + counts[3]


@njit
def _stratum_g2(counts, totals, n_cells, start, n_y, r, terms, scale):
    """Return the candidate's part of a stratum's G2 in fixed point, and its number of levels there."""
    part, present = np.int64(0), 0
    rest = 0
    for y in range(start, start + n_y):
        rest += totals[y]
    for code in range(r - 1):
        row_total = 0
        for y in range(code * n_cells + start, code * n_cells + start + n_y):
            row_total += counts[y]
            part += _fixed(counts[y], terms, scale)
        if row_total:
            part -= _fixed(row_total, terms, scale)
            present += 1
            rest -= row_total
    if rest:
        present += 1
        part -= _fixed(rest, terms, scale)
        for y in range(start, start + n_y):
            left = totals[y]
            for code in range(r - 1):
                left -= counts[code * n_cells + y]
            part += _fixed(left, terms, scale)
    return part, present


@njit
def _stratum_pearson(counts, totals, n_cells, start, n_y, r, n, scale):
    """Return the sum of O^2 / (R C) n in fixed point over a stratum of n rows, and the number of levels there."""
    part, present = np.int64(0), 0
    for code in range(r):
        row_total = 0
        for turn in range(2):  # first the row's total, then its terms
            if turn and not row_total:
                break
            for y in range(start, start + n_y):
                count = counts[code * n_cells + y] if code < r - 1 else totals[y]
                if code == r - 1:
                    for other in range(r - 1):
                        count -= counts[other * n_cells + y]
                if not turn:
                    row_total += count
                elif count:
                    term = float(count) * float(count) / (float(row_total) * float(totals[y])) * float(n)
                    part += np.int64(round(term * scale))
        present += row_total > 0
    return part, present


@njit
def shared_by_candidates(totals, n_strata, n_y, terms, scale):
    """Return what candidates share: each stratum's rows and its number of target levels, and a part of G2."""
    sizes = np.zeros(n_strata, dtype=np.int64)
    columns_present = np.zeros(n_strata, dtype=np.int64)
    known = np.int64(0)
    for s in range(n_strata):
        part = np.int64(0)
        for cell in range(s * n_y, (s + 1) * n_y):
            if totals[cell]:
                sizes[s] += totals[cell]
                columns_present[s] += 1
                part -= _fixed(totals[cell], terms, scale)
        if columns_present[s] > 1:
            known += part + _fixed(sizes[s], terms, scale)
    return sizes, columns_present, known


@njit
def _telling(totals, columns_present, n_y):
    """Return the cells of strata in which the target varies."""
    telling, n_telling = np.empty(len(totals), dtype=np.int64), 0
    for cell in range(len(totals)):
        if totals[cell] and columns_present[cell // n_y] > 1:
            telling[n_telling] = cell
            n_telling += 1
    return telling[:n_telling]


@njit
def candidate_statistic(counts, totals, shared, n_y, r, n_combinations, terms, scale, pearson, dof_rule):
    """Return a candidate's statistic and degrees of freedom, from its counts in each cell except for one level."""
    sizes, columns_present, known = shared
    n_strata, n_cells = len(sizes), len(totals)
    total, expected, freedom, n_occupied = known, np.int64(0), np.int64(0), 0
    for s in range(n_strata):
        n_occupied += sizes[s] > 0
        if columns_present[s] < 2:
            continue
        if pearson:
            part, present = _stratum_pearson(counts, totals, n_cells, s * n_y, n_y, r, sizes[s], scale)
            expected += sizes[s]
        else:
            part, present = _stratum_g2(counts, totals, n_cells, s * n_y, n_y, r, terms, scale)
        total += part
        freedom += (present - 1) * (columns_present[s] - 1)
    value = (total - known) / scale - expected if pearson else 2.0 * (total / scale)
    nominal = (r - 1.0) * (n_y - 1.0)
    dof = freedom if dof_rule == ADJUSTED else nominal * (n_combinations if dof_rule == NOMINAL else n_occupied)
    return (value if freedom and value > 0.0 else 0.0), float(dof)


@njit
def corrected(counts, totals, sizes, n_y, r, statistic, dof, log_p):
    """Return log p corrected for small expected counts, from the counts of all levels but one."""
    if not SMALLEST_LOG_P < log_p < LARGEST_LOG_P:
        return log_p
    n_cells = len(totals)
    rows, both = np.empty((len(sizes), r), dtype=np.int64), np.empty(len(sizes), dtype=np.int64)
    for s in range(len(sizes)):
        rows[s, r - 1] = sizes[s]
        for code in range(r - 1):
            rows[s, code] = 0
            for cell in range(code * n_cells + s * n_y, code * n_cells + (s + 1) * n_y):
                rows[s, code] += counts[cell]
            rows[s, r - 1] -= rows[s, code]
        both[s] = counts[s * n_y]
    return corrected_log_p(rows, totals.astype(np.int64), sizes, n_y, both, statistic, dof, log_p)


_COLUMNS = "int64[::1], int64[::1], int64[::1], uint64[:, ::1], int64[::1]"
_RULES = "int64[::1], float64, boolean, int64, float64, boolean, boolean"
_RESULTS = "float64[::1], float64[::1], float64[::1], float64[::1], boolean[::1]"


@njit(
    f"void(int32[::1], {_COLUMNS}, int32[::1], uint32[::1], int64, int64, float64, {_RULES}, {_RESULTS})",
    cache=True,
    nogil=True,
)
def cell_tests(
    rows, level_start, first_level, n_levels, level_bits, first_bits, candidates, cells, n_strata, n_y, n_combinations,
    terms, scale, pearson, dof_rule, min_samples_per_cell, unreliable_is_independent, is_corrected,
    statistic, p_value, log_p, dof, reliable,
):  # fmt: skip
    """Test each candidate, (m,), with one target in the strata of one conditioning set; fills arrays from `statistic`
    on.

    Columns are coded as in kernels/strata.py; `level_bits`, (levels, ceil(n / 64)), holds the same lists as bit sets,
    which start at `first_bits`, -1 for a column without any. `cells`, (n,), is ``stratum * n_y + code of the target``,
    and `n_combinations` the product of the levels of the conditioning set. `terms` is ``c log c`` for c = 0, 1, ... in
    fixed point, with `scale` steps per unit; others are computed.

    `dof_rule` is `ADJUSTED`, `NOMINAL` or `OBSERVED`. A test is reliable with `min_samples_per_cell` rows per cell, of
    ``levels of the candidate * n_y * n_combinations`` cells; `unreliable_is_independent` sets p = 1 otherwise.
    `is_corrected` applies kernels/small_counts.py to reliable tests, and `pearson` selects X2 instead of G2.
    """
    n_cells, words = n_strata * n_y, level_bits.shape[1]
    totals = _totals(cells, n_cells)
    shared = shared_by_candidates(totals, n_strata, n_y, terms, scale)
    telling = _telling(totals, shared[1], n_y)

    most, n_listed, n_lists = 1, 0, 0
    for candidate in candidates:
        first, r = first_level[candidate], n_levels[candidate]
        most = max(most, r)
        n_lists += r - 1
        n_listed += level_start[first + r - 1] - level_start[first]
    by_bits = n_lists * len(telling) * words * WORD_COST + n_cells * words + len(cells) < n_listed
    cell_bits = _cell_bits(cells, n_cells if by_bits else 0) if by_bits else np.zeros((0, 0), dtype=np.uint64)
    if pearson:
        scale = pearson_scale(len(cells), min(most, n_y))
    counts = np.zeros(2 * (most - 1) * n_cells, dtype=np.int32)

    for i in range(len(candidates)):
        first, r = first_level[candidates[i]], n_levels[candidates[i]]
        if by_bits and first_bits[candidates[i]] >= 0:
            _count_by_bits(counts, n_cells, first_bits[candidates[i]], r, level_bits, cell_bits, telling)
        elif len(telling):  # else no count matters
            _count_by_lists(counts, n_cells, first, r, rows, level_start, cells)
        statistic[i], dof[i] = candidate_statistic(
            counts, totals, shared, n_y, r, n_combinations, terms, scale, pearson, dof_rule
        )
        reliable[i] = len(cells) >= min_samples_per_cell * r * n_y * n_combinations
        log_p[i] = 0.0 if unreliable_is_independent and not reliable[i] else log_tail(statistic[i], dof[i])
        if is_corrected and reliable[i]:
            log_p[i] = corrected(counts, totals, shared[0], n_y, r, statistic[i], dof[i], log_p[i])
        p_value[i] = math.exp(log_p[i])


@njit(
    f"boolean(int32[::1], {_COLUMNS}, int32[::1], int64, int32[::1], int64, int64, {_RULES}, {_RESULTS})",
    cache=True,
    nogil=True,
)
def given_tests(
    rows, level_start, first_level, n_levels, level_bits, first_bits, candidates, target, given, n_rows, most_cells,
    terms, scale, pearson, dof_rule, min_samples_per_cell, unreliable_is_independent, is_corrected,
    statistic, p_value, log_p, dof, reliable,
):  # fmt: skip
    """Test like `cell_tests` on one coded table; return False, and write nothing, for more than `most_cells` cells."""
    cells, n_strata, n_combinations = stratify(given, target, rows, level_start, first_level, n_levels, n_rows)
    most_levels = np.int64(1)
    for candidate in candidates:
        most_levels = max(most_levels, n_levels[candidate])
    if n_strata * n_levels[target] * most_levels > most_cells:
        return False
    cell_tests(
        rows, level_start, first_level, n_levels, level_bits, first_bits, candidates, cells, n_strata, n_levels[target],
        n_combinations, terms, scale, pearson, dof_rule, min_samples_per_cell, unreliable_is_independent, is_corrected,
        statistic, p_value, log_p, dof, reliable,
    )  # fmt: skip
    return True
