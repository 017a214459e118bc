"""Distances of some rows to all rows, each row's nearest rows, and sums of differences over pairs for each column.

Columns must have a range of at most 1. Two values of a column differ by their absolute difference, or, if it holds
codes of levels, by 1 for different levels and 0 for equal ones. A distance is the sum over columns.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: Rows and columns of distances that are filled together, so that they stay in the processor's first cache.
TILE_ROWS, TILE_OTHERS = 8, 512


@njit("void(float64[:, ::1], boolean[::1], int64[::1], float64[:, ::1])", cache=True, nogil=True)
def row_distances(values, is_level, rows, distances):
    """Fill the distances of some rows to all.

    `values`, (d, n), holds one column of the table per row; `is_level`, (d,), says which columns hold codes of levels.
    `rows`, (b,), are rows of the table, and `distances`, (b, n), is written.
    """
    n_columns, n = values.shape
    distances[:] = 0.0
    for low in range(0, len(rows), TILE_ROWS):
        high = min(low + TILE_ROWS, len(rows))
        for start in range(0, n, TILE_OTHERS):
            stop = min(start + TILE_OTHERS, n)
            for column in range(n_columns):
                there = values[column, start:stop]
                for i in range(low, high):
                    here = values[column, rows[i]]
                    total = distances[i, start:stop]
                    if is_level[column]:
                        for j in range(len(there)):
                            total[j] += 1.0 if there[j] != here else 0.0
                    else:
                        for j in range(len(there)):
                            total[j] += abs(there[j] - here)


@njit("void(float64[:, ::1], int64[::1], int64[:, :, ::1])", cache=True, nogil=True)
def nearest_rows(distances, group, nearest):
    """Fill the nearest rows of each group, nearest first; ties keep the order of the table.

    `distances`, (b, n), are infinite if a row is not a candidate. `group`, (n,), is the group of each row, 0 ..
    n_groups - 1. `nearest`, (b, n_groups, k), is written; it is -1 if a group has fewer than k candidates.
    """
    n_groups, k = nearest.shape[1:]
    kept = np.empty((n_groups, k))
    for i in range(len(distances)):
        nearest[i] = -1
        kept[:] = np.inf
        for j in range(distances.shape[1]):
            distance, g = distances[i, j], group[j]
            if distance < kept[g, k - 1]:
                place = k - 1
                while place > 0 and distance < kept[g, place - 1]:
                    kept[g, place] = kept[g, place - 1]
                    nearest[i, g, place] = nearest[i, g, place - 1]
                    place -= 1
                kept[g, place] = distance
                nearest[i, g, place] = j


@njit("void(float64[:, ::1], boolean[::1], int64[::1], int64[::1], float64[::1], float64[::1])", cache=True, nogil=True)
def add_differences(values, is_level, first, second, weight, sums):
    """Add to each column's sum the weighted differences of pairs of rows.

    `values` and `is_level` are as in `row_distances`; `first`, `second` and `weight`, (m,), are the pairs of rows
    and the weight of each; `sums`, (d,), is added to.
    """
    for column in range(len(values)):
        x, total = values[column], 0.0
        if is_level[column]:
            for pair in range(len(first)):
                total += weight[pair] * (x[first[pair]] != x[second[pair]])
        else:
            for pair in range(len(first)):
                total += weight[pair] * abs(x[first[pair]] - x[second[pair]])
        sums[column] += total
