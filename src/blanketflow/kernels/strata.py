"""The joint strata of coded columns.

A column with r levels is stored as lists of the rows outside its most frequent level, code 0. Codes 1 .. r - 1 have the
rows ``rows[level_start[k] : level_start[k + 1]]`` with ``k = first_level[column] + code - 1``. So most columns are
short, and sparse columns list only their non-zeros.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: Codes of strata are renumbered before they reach this number, so that they fit 32 bits.
MOST_CODES = 2**31 - 1
#: Strata are renumbered if there are more combinations of levels than this many times the rows.
ROOM = 16


@njit
def _renumber(codes, size):
    """Renumber the occurring codes of 0 .. size - 1 in order of appearance; return their number."""
    new = np.full(size, -1, dtype=np.int32)
    count = 0
    for i in range(len(codes)):
        if new[codes[i]] < 0:
            new[codes[i]] = count
            count += 1
        codes[i] = new[codes[i]]
    return count


@njit
def rank_keys(keys, codes):
    """Write the ranks of the keys into `codes`; return the number of distinct keys."""
    order = np.argsort(keys)
    count = 0
    for j in range(len(order)):
        if j > 0 and keys[order[j]] != keys[order[j - 1]]:
            count += 1
        codes[order[j]] = count
    return count + 1


@njit(
    "Tuple((uint32[::1], int64, float64))(int32[::1], int64, int32[::1], int64[::1], int64[::1], int64[::1], int64)",
    cache=True,
    nogil=True,
)
def stratify(columns, target, rows, level_start, first_level, n_levels, n_rows):
    """Return codes, `n_strata`, and the product of the levels of `columns`, (k,), for a table of `n_rows` rows.

    Codes, uint32 (n_rows,), are strata below `n_strata`, a single one without columns; strata may be empty unless there
    are more combinations than rows. If `target` is a column and not -1, codes are ``stratum * its levels + its code``,
    or an empty array if this needs more than 31 bits.
    """
    codes = np.zeros(n_rows, dtype=np.uint32)
    size, n_combinations, is_fine = np.int64(1), 1.0, False
    for column in columns:
        r = n_levels[column]
        n_combinations *= r
        if is_fine:
            continue
        if size * r > ROOM * n_rows and size > 1:
            size = _renumber(codes, size)
            if size == n_rows:  # each row is a stratum, which more columns do not part
                is_fine = True
                continue
        if size * r > MOST_CODES:
            keys = codes.astype(np.int64)
            for code in range(1, r):
                k = first_level[column] + code - 1
                for row in rows[level_start[k] : level_start[k + 1]]:
                    keys[row] += code * size
            size = rank_keys(keys, codes)
            continue
        for code in range(1, r):
            k = first_level[column] + code - 1
            step = np.uint32(code * size)
            for row in rows[level_start[k] : level_start[k + 1]]:
                codes[row] += step
        size *= r
    if size > n_rows and len(columns) > 1:
        size = _renumber(codes, size)
    if target >= 0:
        r = n_levels[target]
        if size * r > MOST_CODES:
            return codes[:0], size, n_combinations
        codes *= np.uint32(r)
        for code in range(1, r):
            k = first_level[target] + code - 1
            for row in rows[level_start[k] : level_start[k + 1]]:
                codes[row] += np.uint32(code)
    return codes, size, n_combinations


@njit("void(int32[::1], int64, int32[::1], int64[::1], uint64[:, ::1])", cache=True)
def list_levels(codes, n_levels, rows, level_stop, bits):
    """Fill the lists of rows and the bit sets of all levels except the most frequent one (the lowest on ties).

    `codes`, (n,), are 0 .. n_levels - 1. Writes `rows`, (n,), level by level, `level_stop`, (n_levels - 1,), and
    `bits`, (n_levels - 1, ceil(n / 64)) or without rows, initially zero.
    """
    counts = np.zeros(n_levels, dtype=np.int64)
    for code in codes:
        counts[code] += 1
    modal = np.argmax(counts)
    place = np.zeros(n_levels, dtype=np.int64)
    at, k = 0, 0
    for code in range(n_levels):
        if code != modal:
            place[code] = at
            at += counts[code]
            level_stop[k] = at
            k += 1
    for i in range(len(codes)):
        code = codes[i]
        if code != modal:
            rows[place[code]] = i
            place[code] += 1
            if len(bits):
                level = code if code < modal else code - 1
                bits[level, i >> 6] |= np.uint64(1) << np.uint64(i & 63)
