"""Reuse of a binned tree when columns are dropped.

A node that is not cut on a dropped column keeps its cut, since the best of all columns is the best of fewer. Only nodes
cut on a dropped column are regrown, with all below.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit
def part_rows(rows, right_rows, column, cut):
    """Move the rows that go left before the others, both in their order; return how many there are."""
    middle, n_right = 0, 0
    for i in range(len(rows)):
        row = rows[i]
        goes_left = column[row] <= cut
        rows[middle] = right_rows[n_right] = row
        middle += goes_left
        n_right += not goes_left
    for i in range(n_right):
        rows[middle + i] = right_rows[i]
    return middle


@njit
def take_standing(old, is_member, rows, right_rows, by_column, nodes, ungrown):
    """Copy a tree's valid nodes; return their number, and that of nodes to grow, listed in `ungrown` with rows."""
    old_feature, old_cut, old_left, old_leaf = old
    feature, cut, left, leaf = nodes
    ungrown[0] = 0, 0, len(rows)
    if len(old_feature) == 0:
        return 1, 1
    changes = np.zeros(len(old_feature), np.bool_)
    for node in range(len(old_feature) - 1, -1, -1):
        k, child = old_feature[node], old_left[node]
        changes[node] = k >= 0 and (not is_member[k] or changes[child] or changes[child + 1])
    waiting = np.empty((len(old_feature), 4), np.int64)
    waiting[0] = 0, 0, 0, len(rows)
    n_waiting, n_nodes, n_ungrown = 1, 1, 0
    while n_waiting:
        n_waiting -= 1
        source, node, start, stop = waiting[n_waiting]
        k = old_feature[source]
        if k < 0:
            leaf[node] = old_leaf[source]
            continue
        if not is_member[k]:
            ungrown[n_ungrown] = node, start, stop
            n_ungrown += 1
            continue
        feature[node], cut[node], left[node] = k, old_cut[source], n_nodes
        middle = start  # no rows are needed where nothing changes
        if changes[source]:
            middle += part_rows(rows[start:stop], right_rows, by_column[k], cut[node])
        waiting[n_waiting] = old_left[source], n_nodes, start, middle
        waiting[n_waiting + 1] = old_left[source] + 1, n_nodes + 1, middle, stop
        n_waiting += 2
        n_nodes += 2
    return n_nodes, n_ungrown
