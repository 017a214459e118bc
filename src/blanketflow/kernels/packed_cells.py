"""Codes sparse columns and packs them into bit sets, at a cost per stored cell and not per row.

A block of k columns has one value per stored cell and ``starts``, (k + 1,); all other cells are zero, as stored cells
may be. Zero has code 0 if it occurs, so that cells that are not stored belong to the level without a bit set in
kernels/packed_columns.py. The kernels work on the columns `which` of a table of `n_rows` rows, and write `codes`,
(cells,), from 0 on, and `n_levels`, (k,), the number of occurring levels.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from .packed_columns import BLOCK

#: Arrays in shared memory, or a user's own matrix, may be read-only.
_ROWS, _STARTS = types.Array(types.int32, 1, "C", readonly=True), types.Array(types.int64, 1, "C", readonly=True)
_KEYS, _VALUES = _STARTS, types.Array(types.float64, 1, "C", readonly=True)
_WHICH, _BORDERS = _STARTS, types.Array(types.float64, 2, "C", readonly=True)
_CODES, _LEVELS = types.Array(types.uint8, 1, "C"), types.Array(types.int32, 1, "C")


@njit(types.void(_STARTS, _WHICH, _KEYS, types.int64, types.int64, _CODES, _LEVELS), cache=True, nogil=True)
def code_keys(starts, which, keys, n_rows, most_levels, codes, n_levels):
    """Code the cells of columns with few values: zero first, the others in order of appearance.

    Keys are equal for equal values, and 0 for zero. `n_levels` is 0, with incomplete codes, for more than `most_levels`
    values, at most 255.
    """
    found = np.empty(most_levels, dtype=np.int64)
    for column in which:
        start, stop = starts[column], starts[column + 1]
        n_zeros = n_rows - (stop - start)
        for cell in range(start, stop):
            n_zeros += keys[cell] == 0
        found[0], count, code, fits = 0, np.int64(n_zeros > 0), np.int64(0), True
        for cell in range(start, stop):
            key = keys[cell]
            if cell == start or key != keys[cell - 1]:
                code = 0
                while code < count and found[code] != key:
                    code += 1
                if code == count:
                    fits = count < most_levels
                    if not fits:
                        break
                    found[count] = key
                    count += 1
            codes[cell] = code
        n_levels[column] = count if fits else 0


@njit(types.void(_STARTS, _WHICH, _VALUES, types.int64, _WHICH, types.float64[:, ::1]), cache=True, nogil=True)
def order_statistics(starts, which, values, n_rows, places, found):
    """Fill `found`, (columns, p), with each column's order statistics at `places`, (p,), of 0 .. n_rows - 1."""
    for i in range(len(which)):
        start, stop = starts[which[i]], starts[which[i] + 1]
        n_below, n_above = 0, 0
        for cell in range(start, stop):
            n_below += values[cell] < 0
            n_above += values[cell] > 0
        first_above, is_zero = n_rows - n_above, True
        for place in places:
            is_zero &= n_below <= place < first_above
        found[i, :] = 0.0
        if is_zero:
            continue
        held = np.empty(n_below + n_above, dtype=np.float64)
        count = 0
        for cell in range(start, stop):
            if values[cell] != 0:
                held[count] = values[cell]
                count += 1
        held.sort()
        for j in range(len(places)):
            if places[j] < n_below:
                found[i, j] = held[places[j]]
            elif places[j] >= first_above:
                found[i, j] = held[places[j] - first_above + n_below]


@njit(types.void(_STARTS, _WHICH, _VALUES, types.int64, _BORDERS, _CODES, _LEVELS), cache=True, nogil=True)
def code_cells(starts, which, values, n_rows, borders, codes, n_levels):
    """Code cells by the number of borders below a value, renumbered to the codes that occur.

    `borders`, (columns, b), ascend with repetitions, b at most 254. The bin of zero has code 0 if there is a zero.
    """
    b = borders.shape[1]
    new = np.empty(b + 1, dtype=np.uint8)
    for i in range(len(which)):
        start, stop = starts[which[i]], starts[which[i] + 1]
        new[:] = 0
        for cell in range(start, stop):
            code = np.uint8(0)
            for k in range(b):
                code += np.uint8(borders[i, k] < values[cell])
            codes[cell] = code
            new[code] = 1
        of_zero, count = -1, np.uint8(0)
        if stop - start < n_rows:
            of_zero = 0
            for k in range(b):
                of_zero += borders[i, k] < 0
            new[of_zero], count = 0, 1
        for code in range(b + 1):
            if code != of_zero:
                present = new[code]
                new[code] = count
                count += present
        n_levels[which[i]] = count
        for cell in range(start, stop):
            codes[cell] = new[codes[cell]]


@njit(types.void(_STARTS, _ROWS, _CODES, types.int64[::1], types.uint64[:, :, ::1]), cache=True, nogil=True)
def pack_cells(starts, rows, codes, first, bits):
    """Pack coded columns into zeroed `bits`, (blocks, ceil(n / 64), BLOCK), from `first`, (k,), on, unless -1."""
    for i in range(len(first)):
        if first[i] >= 0:
            block, place = bits[first[i] // BLOCK], first[i] % BLOCK - 1
            for cell in range(starts[i], starts[i + 1]):
                if codes[cell]:
                    row = rows[cell]
                    block[row >> 6, place + codes[cell]] |= np.uint64(1) << np.uint64(row & 63)
