"""Columns in ascending order of their values, without the rows of their most frequent value: what trees are grown from.

A column's values become codes, 0 for its least one. Its entries are the rows of all codes but one, its background: the
most frequent value where half the rows have it, so that of binary, sparse and counting columns little is left. All
columns lie behind each other:

entries : int64 array of shape (entries,)
    Each column's entries, a code above `SHIFT` bits and a row in them: they ascend by code, then by row.
starts : int64 array of shape (d + 1,)
    Where each column's entries begin, and the last one's end.
background : int32 array of shape (d,)
    The code that is left out; -1 for none.
levels : float64 array of shape (all codes,)
    The value of each code.
level_starts : int64 array of shape (d + 1,)
    Where each column's levels begin.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: An entry is a code above these bits, and a row in them.
SHIFT = 32
ROW = (1 << SHIFT) - 1


@njit(
    "Tuple((int64, int64))(float64[:, ::1], int64[:, ::1], int64[::1], int64[::1], int32[::1],"
    " float64[::1], int64[::1])",
    cache=True,
)
def sort_dense_columns(values, order, entries, starts, background, levels, level_starts):
    """Fill the entries of dense columns, and return the numbers of entries and levels.

    Parameters
    ----------
    values : float64 array of shape (d, n)
        Columns, one a row.
    order : int64 array of shape (d, n)
        Rows in ascending order of each column's values; any order among equal ones. Equal ones are put in order.
    entries, starts, background, levels, level_starts : arrays
        Written; see the module. There must be room for n entries and levels a column.
    """
    n = values.shape[1]
    filled, level = 0, 0
    for j in range(values.shape[0]):
        column, ascending = values[j], order[j]
        most, most_start, code, i = 0, 0, 0, 0
        while i < n:
            value, start = column[ascending[i]], i
            while i < n and column[ascending[i]] == value:
                i += 1
            if i - start > 1:
                ascending[start:i].sort()
            if i - start > most:
                most, most_start, background[j] = i - start, start, code
            levels[level] = value
            level += 1
            code += 1
        if 2 * most < n:
            background[j], most = -1, 0
        code = -1
        for i in range(n):
            if i == 0 or column[ascending[i]] != column[ascending[i - 1]]:
                code += 1
            if i < most_start or i >= most_start + most:
                entries[filled] = code << SHIFT | ascending[i]
                filled += 1
        starts[j + 1], level_starts[j + 1] = filled, level
    return filled, level


@njit(
    "Tuple((int64, int64))(int64[::1], int32[::1], float64[::1], int64, int64[::1], int64[::1], int32[::1],"
    " float64[::1], int64[::1])",
    cache=True,
)
def sort_sparse_columns(cell_starts, cell_rows, cell_values, n, entries, starts, background, levels, level_starts):
    """Fill the entries of a compressed sparse column matrix of n rows; their background is zero.

    Parameters
    ----------
    cell_starts, cell_rows, cell_values : arrays
        As `SparseColumns` has them.

    Other parameters and what is returned are as for `sort_dense_columns`; there must be room for the cells, and for one
    level more a column.
    """
    filled, level = 0, 0
    for j in range(len(cell_starts) - 1):
        start, stop = cell_starts[j], cell_starts[j + 1]
        order = start + np.argsort(cell_values[start:stop], kind="mergesort")
        n_zeros = n - (stop - start)
        for i in order:
            n_zeros += cell_values[i] == 0.0
        background[j] = -1
        first_level = level
        is_zero_done = n_zeros == 0
        for i in order:
            value = cell_values[i]
            if value == 0.0:
                continue
            if value > 0.0 and not is_zero_done:
                background[j] = level - first_level
                levels[level] = 0.0
                level += 1
                is_zero_done = True
            if level == first_level or levels[level - 1] != value:
                levels[level] = value
                level += 1
            entries[filled] = (level - 1 - first_level) << SHIFT | cell_rows[i]
            filled += 1
        if not is_zero_done:
            background[j] = level - first_level
            levels[level] = 0.0
            level += 1
        starts[j + 1], level_starts[j + 1] = filled, level
    return filled, level
