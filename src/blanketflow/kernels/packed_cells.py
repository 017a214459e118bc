"""Codes sparse columns and packs them into bit sets from their stored cells, at a cost per cell and not per row.

A block of columns has arrays with one value per stored cell, and ``starts``: where the cells of each column start, and
where the last column ends. All other cells are zero; stored cells may be zero too. Zero has code 0 if it occurs, so
that cells that are not stored belong to the level without a bit set in kernels/packed_columns.py.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from .packed_columns import BLOCK

#: Arrays in shared memory, or of a user's own matrix, may be read-only.
_ROWS, _STARTS = types.Array(types.int32, 1, "C", readonly=True), types.Array(types.int64, 1, "C", readonly=True)
_KEYS, _VALUES = _STARTS, types.Array(types.float64, 1, "C", readonly=True)
_WHICH, _BORDERS = _STARTS, types.Array(types.float64, 2, "C", readonly=True)
_CODES, _LEVELS = types.Array(types.uint8, 1, "C"), types.Array(types.int32, 1, "C")


@njit(types.void(_STARTS, _WHICH, _KEYS, types.int64, types.int64, _CODES, _LEVELS), cache=True, nogil=True)
def code_keys(starts, which, keys, n_rows, most_levels, codes, n_levels):
    """Code the cells of columns with few values: zero first, the others in order of appearance.

    Parameters
    ----------
    starts : int64 array of shape (k + 1,)
        Where each column's cells begin.
    which : int64 array
        The columns that are coded.
    keys : int64 array of shape (cells,)
        Equal for equal values, and 0 for zero.
    n_rows : int
        Rows of the table.
    most_levels : int
        The largest number of different values, at most 255.
    codes : uint8 array of shape (cells,)
        Written: 0 .. n_levels - 1.
    n_levels : int32 array of shape (k,)
        Written: the number of values that occur, 0 if there are more than `most_levels`.
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
    """Fill the order statistics of each column at some positions.

    Parameters
    ----------
    starts : int64 array of shape (k + 1,)
        Where each column's cells begin.
    which : int64 array of shape (m,)
        The columns.
    values : float64 array of shape (cells,)
        Their values.
    n_rows : int
        Rows of the table.
    places : int64 array of shape (p,)
        0 .. n_rows - 1.
    found : float64 array of shape (m, p)
        Written.
    """
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
    """Code the cells of columns by the number of borders below a value, renumbered to the codes that occur.

    Parameters
    ----------
    starts : int64 array of shape (k + 1,)
        Where each column's cells begin.
    which : int64 array of shape (m,)
        The columns that are coded.
    values : float64 array of shape (cells,)
        Their values.
    n_rows : int
        Rows of the table.
    borders : float64 array of shape (m, b)
        Ascending, equal ones allowed; b at most 254.
    codes : uint8 array of shape (cells,)
        Written: 0 for values in the bin of zero, if there is a zero.
    n_levels : int32 array of shape (k,)
        Written.
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
    """Pack coded columns.

    Parameters
    ----------
    starts : int64 array of shape (k + 1,)
        Where each column's cells begin.
    rows : int32 array of shape (cells,)
        Their rows.
    codes : uint8 array of shape (cells,)
        Their codes.
    first : int64 array of shape (k,)
        Where each column's bit sets start, counted through all blocks; -1 for columns to leave out.
    bits : uint64 array of shape (blocks, ceil(n / 64), BLOCK)
        Written over zeros.
    """
    for i in range(len(first)):
        if first[i] >= 0:
            block, place = bits[first[i] // BLOCK], first[i] % BLOCK - 1
            for cell in range(starts[i], starts[i + 1]):
                if codes[cell]:
                    row = rows[cell]
                    block[row >> 6, place + codes[cell]] |= np.uint64(1) << np.uint64(row & 63)
