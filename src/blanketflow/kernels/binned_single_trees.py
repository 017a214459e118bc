"""Binned trees on single columns, for all repeats of the PPI test, equal to those of binned_trees.py to the last bit.

A node is a range of bins, so only the root's histogram is counted (all rows minus each repeat's test rows).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .binned_cuts import best_cut, scratch_of
from .binned_trees import to_losses


@njit
def _count(sums, column, rows, classes, fixed, n_classes, sign):
    """Add the sums of some rows per bin, (bins, lanes), times one or minus one."""
    for row in rows:
        if n_classes > 0:
            sums[column[row], classes[row]] += sign
        else:
            sums[column[row], 0] += sign
            sums[column[row], 1] += sign * fixed[row]


@njit
def _find_ranges(lowest, highest, column, rows, target):
    """Write the smallest and largest number of each bin."""
    lowest[:], highest[:] = np.inf, -np.inf
    for row in rows:
        b = column[row]
        lowest[b], highest[b] = min(lowest[b], target[row]), max(highest[b], target[row])


@njit
def _grow(sums, column, rows, target, n_classes, leaf_size, scratch, leaf_of_bin, leaf):
    """Write each bin's leaf, (bins,), and each leaf's losses, or its number of rows for numeric targets."""
    near, scores, total, ranges, lowest, highest = scratch
    ranges[0] = 0, len(sums)
    n_waiting, n_leaves, has_ranges = 1, 0, False
    while n_waiting:
        n_waiting -= 1
        first, last = ranges[n_waiting]
        total[:] = 0
        for b in range(first, last):
            for c in range(len(total)):
                total[c] += sums[b, c]
        n_node = total.sum() if n_classes > 0 else total[0]
        score, below, above = -1.0, 0, 0
        if n_node >= 2 * leaf_size and (n_classes == 0 or total.max() < n_node):
            score, below, above = best_cut(sums[first:last], n_node, n_classes, leaf_size, near, scores)
        if score == 0.0 and n_classes == 0:  # cuts of a node of one number gain nothing
            if not has_ranges:
                _find_ranges(lowest, highest, column, rows, target)
                has_ranges = True
            if lowest[first:last].min() == highest[first:last].max():
                score = -1.0
        if score < 0.0:
            leaf_of_bin[first:last] = n_leaves
            if n_classes > 0:
                for c in range(n_classes):
                    leaf[n_leaves, c] = total[c]
                to_losses(leaf[n_leaves], n_node)
            else:
                leaf[n_leaves, 0], leaf[n_leaves, 1] = 0.0, n_node
            n_leaves += 1
            continue
        middle = first + (below + above) // 2 + 1
        ranges[n_waiting] = first, middle
        ranges[n_waiting + 1] = middle, last
        n_waiting += 2
    return n_leaves


@njit(
    "void(uint8[:, ::1], boolean[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1], float64[::1], int64[::1], int64,"
    " int64, float64[:, :, ::1])",
    cache=True,
)
def single_column_risks(
    codes, is_train, test_rows, permuted_rows, classes, target, fixed, n_classes, leaf_size, risks
):  # fmt: skip
    """Write the mean loss of the tree on each column alone, before and after it is permuted, (2, d, B).

    `codes`, (d, n), are bins; `is_train`, (B, n), `test_rows` and `permuted_rows`, (B, m), the repeats. Other arguments
    are as in `binned_trees.grow_binned_tree`.
    """
    n_bins, n_lanes = np.empty(len(codes), np.int64), n_classes if n_classes > 0 else 2
    for j in range(len(codes)):
        n_bins[j] = codes[j].max() + 1
    most_bins, all_rows = n_bins.max(), np.arange(codes.shape[1])
    whole = np.zeros((len(codes), most_bins, n_lanes), np.int64)
    for j in range(len(codes)):
        _count(whole[j], codes[j], all_rows, classes, fixed, n_classes, 1)
    near, scores = scratch_of(n_lanes, most_bins)
    total, ranges = np.empty(n_lanes, np.int64), np.empty((most_bins + 1, 2), np.int64)
    scratch = near, scores, total, ranges, np.empty(most_bins), np.empty(most_bins)
    leaf_of_bin, leaf = np.empty(most_bins, np.int64), np.empty((most_bins, n_lanes))
    for b in range(len(is_train)):
        rows = np.flatnonzero(is_train[b])
        own_classes, own_target = classes[test_rows[b]], target[test_rows[b]]
        for j in range(len(codes)):
            column, sums = codes[j], whole[j, : n_bins[j]].copy()
            _count(sums, column, test_rows[b], classes, fixed, n_classes, -1)
            n_leaves = _grow(sums, column, rows, target, n_classes, leaf_size, scratch, leaf_of_bin, leaf)
            if n_classes == 0:
                for row in rows:
                    leaf[leaf_of_bin[column[row]], 0] += target[row]
                for k in range(n_leaves):
                    leaf[k, 0] /= leaf[k, 1]
            for p in range(2):
                sources, loss = permuted_rows[b] if p else test_rows[b], 0.0
                for i in range(len(sources)):
                    k = leaf_of_bin[column[sources[i]]]
                    loss += leaf[k, own_classes[i]] if n_classes > 0 else (leaf[k, 0] - own_target[i]) ** 2
                risks[p, j, b] = loss / len(sources)
