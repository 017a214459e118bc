"""Means over the nearest rows, by the first columns, by a few more, and so on."""

from __future__ import annotations

import numpy as np
from numba import njit

_SIGNATURE = "void(float64[:, ::1], float64[:, ::1], int64[::1], float64[:, ::1], int64, float64, float64[:, :, ::1])"


@njit(_SIGNATURE, cache=True)
def nearest_means(columns, rows, ends, values, k, margin, means):
    """Write the mean values of the training rows that are nearest to each row by its first ``ends[s]`` columns.

    The training rows are `columns`, shape (d, n), with `values`, (n, c); `rows` are (m, d), `means` (s, m, c), `ends`
    ascend. All count whose squared distance is at most that of the k-th nearest times `margin`. Squared distances of
    more columns are those of fewer and what these add.
    """
    n = columns.shape[1]
    squared, near = np.empty(n), np.empty(k)
    for i in range(len(rows)):
        for r in range(n):
            squared[r] = 0.0
        start = 0
        for s in range(len(ends)):
            for j in range(start, ends[s]):
                x = rows[i, j]
                for r in range(n):
                    difference = columns[j, r] - x
                    squared[r] += difference * difference
            start = ends[s]
            for t in range(k):
                near[t] = np.inf
            for r in range(n):
                if squared[r] < near[k - 1]:
                    t = k - 1
                    while t > 0 and near[t - 1] > squared[r]:
                        near[t] = near[t - 1]
                        t -= 1
                    near[t] = squared[r]
            last, count = near[k - 1] * margin, 0
            for c in range(values.shape[1]):
                means[s, i, c] = 0.0
            for r in range(n):
                if squared[r] <= last:
                    count += 1
                    for c in range(values.shape[1]):
                        means[s, i, c] += values[r, c]
            for c in range(values.shape[1]):
                means[s, i, c] /= count
