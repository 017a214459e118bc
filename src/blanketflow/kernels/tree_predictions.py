"""The predictions of a grown tree for its test rows, before and after one of its columns is permuted."""

from __future__ import annotations

import numpy as np
from numba import njit

from .sorted_columns import ROW, SHIFT


@njit(
    "Tuple((int64[::1], int64[::1], int32[:, ::1]))(int64[::1], int64[::1], int64[::1], int32[::1], int64[::1], int64)",
    cache=True,
)
def read_test_rows(feature, entries, starts, background, test_rows, n):
    """Read the codes of a tree's columns in its test rows from the sorted columns.

    Parameters
    ----------
    feature : int64 array of shape (nodes,)
        A tree's columns.
    entries, starts, background : arrays
        The sorted columns of n rows.
    test_rows : int64 array of shape (m,)
        Rows to predict.

    Returns
    -------
    used : int64 array of shape (u,)
        The columns that the tree splits on, ascending.
    place : int64 array of shape (nodes,)
        Index of each node's column in `used`, -1 in a leaf.
    test_codes : int32 array of shape (u, m)
        Their codes in the test rows.
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
    "float64(int64[::1], int64[::1], int64[::1], float64[:, ::1], int32[:, ::1], int64, int64[::1], int64[::1],"
    " float64[::1], int64)",
    cache=True,
)
def tree_risk(place, cut, left, leaf, test_codes, permuted, source, classes, target, n_classes):
    """Return the mean loss of a tree on its test rows, with one column permuted among them.

    Parameters
    ----------
    place, test_codes : arrays
        As returned by `read_test_rows`.
    cut, left, leaf : arrays
        As returned by `grow_tree`.
    permuted : int
        Index of the used column that is permuted; -1 for none.
    source : int64 array of shape (m,)
        For each test row, the test row from which it takes that column's value.
    classes, target : arrays of shape (m,)
        Classes or numbers of the test rows.
    n_classes : int
        0 for regression.

    Returns
    -------
    float
        Log-loss (natural logarithm, probabilities clipped at 1e-15) or squared error.
    """
    total = 0.0
    for i in range(test_codes.shape[1]):
        node = 0
        while place[node] >= 0:
            u = place[node]
            code = test_codes[u, source[i] if u == permuted else i]
            node = left[node] if code <= cut[node] else left[node] + 1
        if n_classes > 0:
            total += leaf[node, classes[i]]
        else:
            error = leaf[node, 0] - target[i]
            total += error * error
    return total / test_codes.shape[1]
