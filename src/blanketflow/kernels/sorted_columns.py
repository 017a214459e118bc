"""Columns in ascending order of value, without the rows of their most frequent value, from which trees are grown.

A column's values become codes, 0 for the smallest. Its entries are the rows of all codes except one, the background:
the zeros of a sparse column, else the most frequent value if at least half of the rows have it. So binary, sparse and
count columns have few entries. All columns are stored one after the other:

entries : int64 array of shape (entries,)
    Each column's entries, with a row in the lower `SHIFT` bits and a code above them; ascending by code, then by row.
starts : int64 array of shape (d + 1,)
    Where each column's entries start, and where the last one's end.
background : int32 array of shape (d,)
    The code that is left out; -1 for none.
levels : float64 array of shape (all codes,)
    The value of each code.
level_starts : int64 array of shape (d + 1,)
    Where each column's levels start, and where the last one's end.
"""

from __future__ import annotations

from numba import njit

#: An entry has a row in these lower bits, and a code above them.
SHIFT = 32
ROW = (1 << SHIFT) - 1


@njit(
    "void(int64[::1], int32[::1], float64[::1], int64, int64[::1], int64[::1], int32[::1], float64[::1], int64[::1])",
    cache=True,
)
def sort_columns(list_starts, rows, values, n, entries, n_entries, background, levels, n_levels):
    """Fill the entries of columns of n rows.

    The lists are as in `ci.tree_arrays.ColumnLists`; rows of equal values are put in order. The arrays from
    `entries` on are written (see the module). They need room for all listed rows, and for one additional level per
    column. Rows that are not listed have the value zero, and are always a column's background.
    """
    filled, level = 0, 0
    for j in range(len(list_starts) - 1):
        start, stop = list_starts[j], list_starts[j + 1]
        first_entry, first_level = filled, level
        is_zero_due = stop - start < n
        background[j] = -1
        most, i = 0, start
        while i < stop or is_zero_due:
            if is_zero_due and (i == stop or values[i] > 0.0):
                background[j] = level - first_level
                levels[level] = 0.0
                level += 1
                is_zero_due = False
                continue
            begin = i
            while i < stop and values[i] == values[begin]:
                i += 1
            if i - begin > 1:
                rows[begin:i].sort()
            if stop - start == n and i - begin > most and 2 * (i - begin) >= n:
                most, background[j] = i - begin, level - first_level
            for k in range(begin, i):
                entries[filled] = (level - first_level) << SHIFT | rows[k]
                filled += 1
            levels[level] = values[begin]
            level += 1
        if most > 0:  # the background is among the entries: close up
            kept = first_entry
            for k in range(first_entry, filled):
                if entries[k] >> SHIFT != background[j]:
                    entries[kept] = entries[k]
                    kept += 1
            filled = kept
        n_entries[j], n_levels[j] = filled - first_entry, level - first_level
