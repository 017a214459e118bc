"""Mutual information of many packed columns with one target in the strata of one conditioning set.

Cells and fixed-point sums of ``c log c`` are as in kernels/contingency.py, columns as in kernels/packed_columns.py.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .contingency import _fixed, _popcount, _totals
from .expected_information import UNKNOWN, expected_pair, level_of, stratum_share
from .packed_columns import BLOCK

#: Cost of following one set bit, relative to counting 64 rows of one of many columns side by side.
SET_BIT_COST = 32.0
#: Below this share of a block's bit sets, its columns are counted one by one.
FEW = 1 / 8


@njit
def _cell_bits(cells, which, words):
    """Return a bit set for each cell in `which`."""
    n_cells = np.int64(0)
    for cell in cells:
        n_cells = max(n_cells, np.int64(cell) + 1)
    place = np.full(n_cells, -1, dtype=np.int64)
    for i in range(len(which)):
        if which[i] < n_cells:
            place[which[i]] = i
    bits = np.zeros((len(which), words), dtype=np.uint64)
    for row in range(len(cells)):
        i = place[cells[row]]
        if i >= 0:
            bits[i, row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    return bits


@njit
def _count_block(block, there, counts):
    """Count a block's bit sets in one cell."""
    counts[:] = 0
    for w in range(len(there)):
        if there[w]:
            line, mask = block[w], there[w]
            for place in range(BLOCK):
                counts[place] += np.int32(_popcount(line[place] & mask))


@njit
def _count_one(block, place, there, found):
    """Count one bit set in all cells of `there`, (words, cells), side by side."""
    found[:] = 0
    for w in range(len(there)):
        word, line = block[w, place], there[w]
        if word:
            for i in range(len(found)):
                found[i] += _popcount(line[i] & word)


@njit
def _follow(block, place, cells, counts):
    """Count one bit set in all cells, by its set bits."""
    counts[:, place] = 0
    for w in range(len(block)):
        word = block[w, place]
        while word:
            lowest = word & (~word + np.uint64(1))
            row = w * 64 + np.int64(_popcount(lowest - np.uint64(1)))
            counts[cells[row], place] += np.int32(1)
            word ^= lowest


@njit
def _derive(counts, telling, derived, n_set):
    """Count the cell that was left out, as the remainder of the set bits."""
    for place in range(BLOCK):
        counts[derived, place] = n_set[place]
    for i in range(len(telling)):
        for place in range(BLOCK):
            counts[derived, place] -= counts[telling[i], place]


@njit
def _pair_terms(totals, terms, scale):
    """Return c log c + (t - c) log (t - c) for c = 0 .. t, for each t in `totals`, and where each t's terms start."""
    start = np.zeros(len(totals) + 1, dtype=np.int64)
    for i in range(len(totals)):
        start[i + 1] = start[i] + totals[i] + 1
    pairs = np.empty(start[-1], dtype=np.int64)
    for i in range(len(totals)):
        for c in range(totals[i] + 1):
            pairs[start[i] + c] = _fixed(c, terms, scale) + _fixed(totals[i] - c, terms, scale)
    return pairs, start


@njit
def _sum_binary_columns(counts, varies, n_y, has_margin, pairs, pair_start, margins, margin_start, sums):
    """Compute `_sum_of_strata` for a block of columns with two levels."""
    sums[:] = 0
    margin = np.empty(BLOCK, dtype=np.int32)
    for s in range(len(varies)):
        if not varies[s]:
            continue
        margin[:] = 0
        for cell in range(s * n_y, (s + 1) * n_y):
            own, line = pairs[pair_start[cell] : pair_start[cell + 1]], counts[cell]
            for place in range(BLOCK):
                margin[place] += line[place]
                sums[place] += own[line[place]]
        if has_margin:
            own = margins[margin_start[s] : margin_start[s + 1]]
            for place in range(BLOCK):
                sums[place] -= own[margin[place]]


@njit
def _chance_of_binary_columns(
    counts, of_y, sizes, n_present, n_y, known, start, terms, scale, factorials, expected, dofs
):
    """Compute `_chance_of_column` for a block of columns with two levels."""
    expected[:] = 0
    dofs[:] = 0
    margin = np.empty(BLOCK, dtype=np.int32)
    for s in range(len(sizes)):
        if n_present[s] < 2:
            continue
        margin[:] = 0
        for cell in range(s * n_y, (s + 1) * n_y):
            line = counts[cell]
            for place in range(BLOCK):
                margin[place] += line[place]
        own, size, y = known[start[s] : start[s + 1]], sizes[s], of_y[s * n_y : (s + 1) * n_y]
        own[0] = own[size] = 0
        for place in range(BLOCK):
            a = margin[place]
            if own[a] == UNKNOWN:
                own[a] = own[size - a] = expected_pair(a, size, y, n_present[s], terms, scale, factorials)
        added = n_present[s] - 1
        for place in range(BLOCK):
            expected[place] += own[margin[place]]
            dofs[place] += added * (0 < margin[place] < size)


@njit
def _sum_of_strata(counts, place, r, totals, varies, n_y, has_margin, margins, terms, scale):
    """Return a column's cells minus its margins, in fixed point, over the strata in which the target varies."""
    total = np.int64(0)
    for s in range(len(varies)):
        if not varies[s]:
            continue
        own = margins[s]
        own[:r] = 0
        for cell in range(s * n_y, (s + 1) * n_y):
            left = totals[cell]
            for level in range(r - 1):
                count = counts[cell, place + level]
                left -= count
                own[level] += count
                total += _fixed(count, terms, scale)
            own[r - 1] += left
            total += _fixed(left, terms, scale)
        if has_margin:
            for level in range(r):
                total -= _fixed(own[level], terms, scale)
    return total


@njit
def _chance_of_column(margins, r, of_y, sizes, n_present, shares, n_y, known, start, terms, scale, factorials):
    """Return the expected sum of an independent column with the same margins, and the degrees of freedom."""
    expected, dof = np.int64(0), np.int64(0)
    for s in range(len(sizes)):
        if n_present[s] < 2:
            continue
        own, first, part, levels = margins[s], start[s], shares[s], 0
        for level in range(r):
            a = own[level]
            if known[first + a] == UNKNOWN:
                y = of_y[s * n_y : (s + 1) * n_y]
                known[first + a] = level_of(a, sizes[s], y, n_present[s], terms, scale, factorials) if a else 0
            part += known[first + a]
            levels += a > 0
        if levels > 1:
            expected += part
            dof += (levels - 1) * (n_present[s] - 1)
    return expected, dof


@njit(
    "void(uint64[:, :, ::1], int32[::1], int64[::1], int32[::1], int64[::1], uint32[::1], int64, int64, boolean,"
    " int64[::1], float64, float64[::1], float64[::1], int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def packed_sums(
    bits, n_set, first, n_levels, candidates, cells, n_strata, n_y, is_entropy, terms, scale, factorials,
    sums, expected, dofs,
):  # fmt: skip
    """Fill `sums`, (m,), with G2, which is 2 n I(X;Y|Z), or with n log n - n H(X, Z) if `is_entropy`.

    `bits`, (blocks, words, BLOCK), are packed columns with `n_set` bits, (blocks * BLOCK,), `first` places and
    `n_levels`, (d,). `candidates`, (m,), are best ascending. `cells`, (n,), is ``stratum * n_y + code of the target``;
    for entropies `n_y` is 1. `terms` is ``c log c`` for c = 0, 1, ... in fixed point with `scale` steps per unit, and
    `factorials` log k! for k = 0, 1, .... `expected` and `dofs`, (m,) or empty to skip, get the mean of n I(X;Y|Z) over
    permutations within strata, and the degrees of freedom.
    """
    words, n_cells = bits.shape[1], n_strata * n_y
    totals = _totals(cells, n_cells)
    sizes, varies = np.zeros(n_strata, dtype=np.int64), np.zeros(n_strata, dtype=np.bool_)
    n_present, shares, has_chance = (
        np.zeros(n_strata, dtype=np.int64),
        np.zeros(n_strata, dtype=np.int64),
        len(expected),
    )
    known = np.int64(0)  # the part that all candidates share
    telling, n_telling, n_told = np.empty(n_cells, dtype=np.int64), 0, np.int64(0)
    for s in range(n_strata):
        present = 0
        for cell in range(s * n_y, (s + 1) * n_y):
            sizes[s] += totals[cell]
            present += totals[cell] > 0
        varies[s], n_present[s] = present > 1 or (is_entropy and present), present
        if has_chance:
            shares[s] = stratum_share(totals[s * n_y : (s + 1) * n_y].astype(np.int64), terms, scale)
        if varies[s]:
            n_told += sizes[s]
            if not is_entropy:
                known += _fixed(sizes[s], terms, scale)
            for cell in range(s * n_y, (s + 1) * n_y):
                if totals[cell]:
                    telling[n_telling] = cell
                    n_telling += 1
                    if not is_entropy:
                        known -= _fixed(totals[cell], terms, scale)
    telling = telling[:n_telling]
    derived = -1  # if the cells have all rows, the largest cell is the remainder of a column's set bits
    if n_told == len(cells) and n_telling:
        largest = 0
        for i in range(n_telling):
            if totals[telling[i]] > totals[telling[largest]]:
                largest = i
        derived = telling[largest]
        telling[largest], telling[n_telling - 1] = telling[n_telling - 1], derived
        telling = telling[: n_telling - 1]
    cell_bits = _cell_bits(cells, telling, words)
    by_words, told = np.empty((0, 0), dtype=np.uint64), np.empty(len(telling), dtype=np.uint64)
    counts = np.zeros((n_cells, BLOCK), dtype=np.int32)
    pairs, pair_start = _pair_terms(totals, terms, scale)
    margins, margin_start = _pair_terms(sizes, terms, scale)
    own_start, of_y = np.zeros(n_strata + 1, dtype=np.int64), totals.astype(np.int64)
    if has_chance:
        own_start[1:] = np.cumsum(sizes + 1)
    own, own_pairs = np.full(own_start[-1], UNKNOWN), np.full(own_start[-1], UNKNOWN)
    binary_expected, binary_dofs = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    binary_sums, level_margins = np.empty(BLOCK, dtype=np.int64), np.empty((n_strata, BLOCK + 1), dtype=np.int64)

    start = 0
    while start < len(candidates):
        number = first[candidates[start]] // BLOCK
        stop, n_bit_sets, most_levels = start, 0, 0
        while stop < len(candidates) and first[candidates[stop]] // BLOCK == number:
            most_levels = max(most_levels, n_levels[candidates[stop]])
            n_bit_sets += n_levels[candidates[stop]] - 1
            stop += 1
        block, n_in_block = bits[number], n_set[number * BLOCK : (number + 1) * BLOCK]
        by_following = SET_BIT_COST * n_in_block.sum() < len(telling) * words * BLOCK
        by_block = n_bit_sets > FEW * BLOCK and not by_following
        if by_block:
            for i in range(len(telling)):
                _count_block(block, cell_bits[i], counts[telling[i]])
            if derived >= 0:
                _derive(counts, telling, derived, n_in_block)
            if most_levels == 2:
                _sum_binary_columns(
                    counts, varies, n_y, not is_entropy, pairs, pair_start, margins, margin_start, binary_sums
                )
                for k in range(start, stop):
                    found = known + binary_sums[first[candidates[k]] - number * BLOCK]
                    sums[k] = found / scale if is_entropy else 2.0 * (max(found, 0) / scale)
                if has_chance:
                    _chance_of_binary_columns(
                        counts, of_y, sizes, n_present, n_y, own_pairs, own_start, terms, scale, factorials,
                        binary_expected, binary_dofs,
                    )  # fmt: skip
                    for k in range(start, stop):
                        expected[k] = binary_expected[first[candidates[k]] - number * BLOCK]
                        dofs[k] = binary_dofs[first[candidates[k]] - number * BLOCK]
                start = stop
                continue
        for k in range(start, stop):
            place, r = first[candidates[k]] - number * BLOCK, n_levels[candidates[k]]
            for level in range(place, place + r - 1):
                if by_following:
                    _follow(block, level, cells, counts)
                elif not by_block:
                    if not len(by_words):
                        by_words = cell_bits.T.copy()
                    _count_one(block, level, by_words, told)
                    rest = n_in_block[level]
                    for i in range(len(telling)):
                        counts[telling[i], level] = np.int32(told[i])
                        rest -= counts[telling[i], level]
                    if derived >= 0:
                        counts[derived, level] = rest
            found = known + _sum_of_strata(
                counts, place, r, totals, varies, n_y, not is_entropy, level_margins, terms, scale
            )
            sums[k] = found / scale if is_entropy else 2.0 * (max(found, 0) / scale)
            if has_chance:
                expected[k], dofs[k] = _chance_of_column(
                    level_margins, r, of_y, sizes, n_present, shares, n_y, own, own_start, terms, scale, factorials
                )  # fmt: skip
        start = stop
