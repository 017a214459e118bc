"""Distances of rows (sums over columns of differences in 0 to 1), nearest rows, and sums of differences of pairs."""

from __future__ import annotations

import numpy as np
from numba import njit

#: Rows and columns of distances filled together, to stay in the first-level cache.
TILE_ROWS, TILE_OTHERS = 8, 512


@njit("void(float64[:, ::1], boolean[::1], int64[::1], float64[:, ::1])", cache=True, nogil=True)
def row_distances(values, is_level, rows, distances):
    """Fill the `distances`, (b, n), of `rows`, (b,), to all rows.

    `values`, (d, n), has one column of the table per row; `is_level`, (d,), says which hold codes of levels.
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
    """Fill `nearest`, (b, n_groups, k), with the k nearest rows of each group; ties in table order, -1 if there are
    fewer.

    `distances`, (b, n), are infinite for rows that are no candidates; `group`, (n,), are 0 .. n_groups - 1.
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
    """Add the weighted differences of pairs of rows to each column's sum, `sums`, (d,).

    `first`, `second` and `weight`, (m,), are the pairs; `values` and `is_level` are as in `row_distances`.
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
