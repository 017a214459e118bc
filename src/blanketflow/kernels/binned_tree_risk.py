"""The risk of a binned tree on a repeat's test rows, with some columns permuted among them."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("void(int64[::1], int64[::1], int64[::1], uint8[:, ::1], int64[::1], int32[::1])", cache=True)
def find_leaves(feature, cut, left, codes, rows, leaves):
    """Write the node in which each of some rows ends, (m,)."""
    for i in range(len(rows)):
        row, node = rows[i], 0
        while feature[node] >= 0:
            node = left[node] + (codes[row, feature[node]] > cut[node])
        leaves[i] = node


@njit
def _first_changes(feature, left, is_moved):
    """Return the first node on the path to each node that splits on a permuted column, -1 for none."""
    first = np.full(len(feature), -1)
    for node in range(len(feature)):
        if first[node] < 0 and is_moved[feature[node]]:
            first[node] = node
        if feature[node] >= 0:
            first[left[node]] = first[left[node] + 1] = first[node]
    return first


@njit(
    "float64(int64[::1], int64[::1], int64[::1], float64[:, ::1], int32[::1], uint8[:, ::1], uint8[:, ::1], int64[::1],"
    " int64[::1], boolean[::1], int64[::1], float64[::1], int64)",
    cache=True,
)
def binned_tree_risk(
    feature, cut, left, leaf, leaves, by_column, codes, rows, sources, is_moved, classes, target, n_classes
):  # fmt: skip
    """Return a tree's mean loss (log-loss, or squared error if `n_classes` is 0) on rows, (m,), with columns permuted.

    `leaves`, (m,), are the rows' leaves, from `find_leaves`. The columns where `is_moved`, (d + 1,), get the values of
    rows `sources`, (m,); its last entry is for a leaf's feature, -1. Bins are given in both layouts, since one column
    fits the cache.
    """
    total, first = 0.0, _first_changes(feature, left, is_moved)
    for i in range(len(rows)):
        row, source, node = rows[i], sources[i], first[leaves[i]]
        if node < 0:
            node = np.int64(leaves[i])
        while feature[node] >= 0:
            k = feature[node]
            code = by_column[k, source] if is_moved[k] else codes[row, k]
            node = left[node] + (code > cut[node])
        if n_classes > 0:
            total += leaf[node, classes[row]]
        else:
            error = leaf[node, 0] - target[row]
            total += error * error
    return total / len(rows)
