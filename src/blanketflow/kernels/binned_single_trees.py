"""Binned trees on single columns, for all repeats of the PPI test.

A node of such a tree is a range of bins, so one histogram of the root is all that is counted, and no rows are moved.
The trees are those of kernels/binned_trees.py, to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .binned_trees import MOST_BINS, best_cut, to_losses


@njit
def _fill_bins(sums, lowest, highest, column, rows, classes, target, fixed, n_classes):
    """Fill the sums of some rows per bin, (bins, lanes), and the smallest and largest number of each bin."""
    sums[:] = 0
    lowest[:], highest[:] = np.inf, -np.inf
    for row in rows:
        b = column[row]
        if n_classes > 0:
            sums[b, classes[row]] += 1
        else:
            sums[b, 0] += 1
            sums[b, 1] += fixed[row]
            lowest[b], highest[b] = min(lowest[b], target[row]), max(highest[b], target[row])


@njit
def _grow(sums, lowest, highest, n_classes, leaf_size, total, near, leaf_of_bin, leaf):
    """Write each bin's leaf, (bins,), and each leaf's losses, or its rows for numbers."""
    ranges = np.empty((MOST_BINS + 1, 2), np.int64)
    ranges[0] = 0, len(sums)
    n_waiting, n_leaves = 1, 0
    while n_waiting:
        n_waiting -= 1
        first, last = ranges[n_waiting]
        total[:] = 0
        for b in range(first, last):
            for c in range(len(total)):
                total[c] += sums[b, c]
        n_node = total.sum() if n_classes > 0 else total[0]
        is_pure = total.max() == n_node if n_classes > 0 else lowest[first:last].min() == highest[first:last].max()
        score, below, above = -1.0, 0, 0
        if n_node >= 2 * leaf_size and not is_pure:
            score, below, above = best_cut(sums[first:last], total, n_node, n_classes, leaf_size, near)
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

    `codes`, (d, n), are the columns' bins; `is_train`, (B, n), `test_rows` and `permuted_rows`, (B, m), the repeats.
    The other arguments are those of `binned_trees.grow_binned_tree`.
    """
    n_lanes = n_classes if n_classes > 0 else 2
    sums, total, near = (
        np.empty((MOST_BINS, n_lanes), np.int64),
        np.empty(n_lanes, np.int64),
        np.empty(n_lanes, np.int64),
    )
    lowest, highest = np.empty(MOST_BINS), np.empty(MOST_BINS)
    leaf_of_bin, leaf = np.empty(MOST_BINS, np.int64), np.empty((MOST_BINS, n_lanes))
    for b in range(len(is_train)):
        rows = np.flatnonzero(is_train[b])
        for j in range(len(codes)):
            column, n_bins = codes[j], int(codes[j].max()) + 1
            here = sums[:n_bins]
            _fill_bins(here, lowest[:n_bins], highest[:n_bins], column, rows, classes, target, fixed, n_classes)
            n_leaves = _grow(here, lowest, highest, n_classes, leaf_size, total, near, leaf_of_bin, leaf)
            if n_classes == 0:
                for row in rows:
                    leaf[leaf_of_bin[column[row]], 0] += target[row]
                for k in range(n_leaves):
                    leaf[k, 0] /= leaf[k, 1]
            for p in range(2):
                sources, loss = permuted_rows[b] if p else test_rows[b], 0.0
                for i in range(len(sources)):
                    row, k = test_rows[b, i], leaf_of_bin[column[sources[i]]]
                    loss += leaf[k, classes[row]] if n_classes > 0 else (leaf[k, 0] - target[row]) ** 2
                risks[p, j, b] = loss / len(sources)
