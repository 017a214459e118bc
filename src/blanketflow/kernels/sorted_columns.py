"""Columns in ascending order of value, without the rows of their most frequent value, from which trees are grown.

Values become codes, 0 for the smallest. A column's entries are the rows of all codes except the background: zero in a
sparse column, else the most frequent value if at least half of the rows have it. So binary, sparse and count columns
have few entries. All columns are concatenated: `entries`, int64 with a row in the lower `SHIFT` bits and a code above
them, ascending by code, then row; `starts`, (d + 1,), of each column's entries; `background`, (d,), the omitted code,
-1 for none; `levels`, the value of each code; `level_starts`, (d + 1,).
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
    """Fill the arrays from `entries` on (see the module) for columns of n rows, given lists as in `ColumnLists`.

    Rows of equal values are sorted. Arrays need room for all listed rows, and for one additional level per column.
    Unlisted rows have the value zero and are always the background.
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
