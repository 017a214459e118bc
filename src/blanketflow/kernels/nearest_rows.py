"""Means over the nearest rows, for a sequence of column sets."""

from __future__ import annotations

import numpy as np
from numba import njit

_SIGNATURE = (
    "void(float64[:, ::1], float64[:, ::1], int64[::1], int64[::1], int64[::1], boolean[::1], float64[:, ::1], int64, "
    "float64, float64[:, :, ::1])"
)


@njit
def _add(before, column, x, squared):
    """Write the squared distances with one more column than before."""
    for r in range(len(squared)):
        difference = column[r] - x
        squared[r] = before[r] + difference * difference


@njit
def _as_near(squared, near, margin, places):
    """Write the places of the k smallest and of all up to `margin` times the k-th; return their number."""
    k, n = len(near), 0
    for t in range(k):
        near[t] = np.inf
    for r in range(len(squared)):
        if squared[r] <= near[k - 1] * margin:
            places[n] = r
            n += 1
            if squared[r] < near[k - 1]:
                t = k - 1
                while t > 0 and near[t - 1] > squared[r]:
                    near[t] = near[t - 1]
                    t -= 1
                near[t] = squared[r]
    count, last = 0, near[k - 1] * margin
    for at in range(n):  # some were as near as the k-th of the rows before them
        if squared[places[at]] <= last:
            places[count] = places[at]
            count += 1
    return count


@njit(_SIGNATURE, cache=True)
def nearest_means(columns, rows, common, added, stops, goes_on, values, k, margin, means):
    """Write `means`, (s, m, c), of the `values`, (n, c), of the training rows nearest to each of `rows`, (m, d), by
    column set.

    `columns`, (d, n), are the training rows; all within `margin` times the squared distance of the k-th nearest count.
    Set s adds columns added[stops[s - 1] : stops[s]] to the set before if it `goes_on`, else to the `common` ones.
    """
    n = columns.shape[1]
    shared, squared, places, near = np.empty(n), np.empty(n), np.empty(n, np.int64), np.empty(k)
    for i in range(len(rows)):
        shared[:] = 0.0
        for j in common:
            _add(shared, columns[j], rows[i, j], shared)
        start = 0
        for s in range(len(stops)):
            before = squared if goes_on[s] else shared
            if stops[s] == start:
                squared[:] = before
            for at in range(start, stops[s]):
                _add(before, columns[added[at]], rows[i, added[at]], squared)
                before = squared
            start = stops[s]
            count = _as_near(squared, near, margin, places)
            for c in range(values.shape[1]):
                total = 0.0
                for at in range(count):
                    total += values[places[at], c]
                means[s, i, c] = total / count
