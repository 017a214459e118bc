"""A tree's predictions for its test rows, before and after some of its columns are permuted together."""

from __future__ import annotations

import numpy as np
from numba import njit

from .sorted_columns import ROW, SHIFT


@njit(
    "Tuple((int64[::1], int64[::1], int32[:, ::1]))(int64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int64)",
    cache=True,
)
def read_test_rows(feature, entries, starts, background, test_rows, n):
    """Read the codes of a tree's columns in its test rows, (m,), from the sorted columns of n rows.

    Returns the split columns, ascending, (u,); each node's index among these, -1 in a leaf, (nodes,); and codes, (u,
    m).
    """
    is_used = np.zeros(len(background), np.bool_)
    for k in feature:
        if k >= 0:
            is_used[k] = True
    used = np.flatnonzero(is_used)
    place = np.full(len(feature), -1)
    for node in range(len(feature)):
        if feature[node] >= 0:
            place[node] = np.searchsorted(used, feature[node])
    at = np.full(n, -1, np.int32)
    at[test_rows] = np.arange(len(test_rows), dtype=np.int32)
    test_codes = np.empty((len(used), len(test_rows)), np.int32)
    for u in range(len(used)):
        k = used[u]
        test_codes[u] = background[k]
        for i in range(starts[k], starts[k + 1]):
            place_of_row = at[entries[i] & ROW]
            if place_of_row >= 0:
                test_codes[u, place_of_row] = entries[i] >> SHIFT
    return used, place, test_codes


@njit(
    "float64(int64[::1], int64[::1], int64[::1], float64[:, ::1], int32[:, ::1], boolean[::1], int64[::1], int64[::1],"
    " float64[::1], int64)",
    cache=True,
)
def tree_risk(place, cut, left, leaf, test_codes, is_moved, source, classes, target, n_classes):
    """Return a tree's mean loss on its test rows, with some columns permuted among them, all alike.

    The loss is log-loss (natural logarithm, probabilities clipped at 1e-15), or squared error if `n_classes` is 0.
    `place` and `test_codes` are from `read_test_rows`; `cut`, `left` and `leaf` from `grow_tree`. The used columns
    where `is_moved`, (u,), get the values of the test rows `source`, (m,).
    """
    total = 0.0
    for i in range(test_codes.shape[1]):
        node = 0
        while place[node] >= 0:
            u = place[node]
            code = test_codes[u, source[i] if is_moved[u] else i]
            node = left[node] if code <= cut[node] else left[node] + 1
        if n_classes > 0:
            total += leaf[node, classes[i]]
        else:
            error = leaf[node, 0] - target[i]
            total += error * error
    return total / test_codes.shape[1]
