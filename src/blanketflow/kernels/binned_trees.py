"""Decision trees on columns of at most 255 bins, for the PPI test with many rows.

A tree is CART: Gini for classes, squared error for numbers. Each node has a histogram of every column with the target's
sums per bin. A cut lies halfway between two non-empty bins, with at least `leaf_size` rows per side. The first maximum
in table order wins, within a column the lowest cut. An impure node is cut even without a gain. Sums are integers, so
equal cuts tie exactly. The root's sums are those of all rows minus the test rows'; of two children only the smaller is
counted, the larger is the difference to the parent.

A tree on fewer columns than before reuses the valid part of the old tree; see kernels/standing_nodes.py.

Sums have one lane per class, or two for numbers: rows, and the target's sum in fixed point, such that rows times sums
fit 62 bits. Nodes are as in kernels/trees.py: a cut is the largest code that goes left, and `leaf` is a leaf's loss for
each class, or its mean. A class's share in a leaf is (its rows + 1) / (rows + classes), so that an unseen class has a
finite loss. Children come after their parent.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .binned_cuts import best_cut, scratch_of
from .standing_nodes import part_rows, take_standing

#: Waiting nodes while the smaller child of each is grown first: at most the logarithm of the number of rows.
WAITING = 64
#: Rows whose codes are read together.
BLOCK = 256


@njit
def to_losses(counts, n_node):
    """Turn a leaf's rows of each class into losses; shares are (count + 1) / (rows + classes)."""
    for c in range(len(counts)):
        counts[c] = -math.log((counts[c] + 1.0) / (n_node + len(counts)))


@njit
def _fill_leaf(leaf, rows, classes, target, n_classes):
    """Write a leaf's loss for each class, or its mean."""
    leaf[:] = 0.0
    if n_classes == 0:
        for row in rows:
            leaf[0] += target[row]
        leaf[0] /= len(rows)
        return
    for row in rows:
        leaf[classes[row]] += 1.0
    to_losses(leaf, len(rows))


@njit
def _is_pure(rows, classes, target, n_classes):
    """Return whether some rows have one class or one number."""
    for row in rows:
        if (n_classes > 0 and classes[row] != classes[rows[0]]) or (n_classes == 0 and target[row] != target[rows[0]]):
            return False
    return True


@njit
def _is_leaf(rows, classes, target, n_classes, leaf_size):
    """Return whether a node is a leaf whatever its columns are."""
    return len(rows) < 2 * leaf_size or _is_pure(rows, classes, target, n_classes)


@njit
def _count(sums, rows, codes, members, first, stop, step, classes, fixed, n_classes):
    """Add some rows to the sums of every step-th column."""
    if n_classes > 0:
        for row in rows:
            c = classes[row]
            for m in range(first, stop, step):
                sums[m, codes[row, members[m]], c] += 1
    else:
        for row in rows:
            number = fixed[row]
            for m in range(first, stop, step):
                place = sums[m, codes[row, members[m]]]
                place[0] += 1
                place[1] += number


@njit("void(int64[:, :, ::1], int64[::1], uint8[:, ::1], uint64[::1], int64[::1], int64[::1], int64)", cache=True)
def count_rows(sums, rows, codes, members, classes, fixed, n_classes):
    """Fill the sums of some rows, (k, bins, lanes), on some columns of `codes`, (n, d)."""
    all_sums, k = sums.reshape(-1), len(members)
    for i in range(len(all_sums)):
        all_sums[i] = 0
    # Outer columns are counted first, to read memory for many rows at once: few rows of a node are neighbours.
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        _count(sums, block, codes, members, 0, k, max(k - 1, 1), classes, fixed, n_classes)
        _count(sums, block, codes, members, 1, k - 1, 1, classes, fixed, n_classes)


@njit
def _subtract(sums, part):
    all_sums, all_part = sums.reshape(-1), part.reshape(-1)
    for i in range(len(all_sums)):
        all_sums[i] -= all_part[i]


@njit(
    "Tuple((int64[::1], int64[::1], int64[::1], float64[:, ::1], int64))"
    "(Tuple((int64[::1], int64[::1], int64[::1], float64[:, ::1])), uint8[:, ::1], uint8[:, ::1], int64[::1],"
    " uint64[::1], int64[:, :, ::1], boolean[::1], int64[::1], int64[::1], float64[::1], int64[::1], int64, int64)",
    cache=True,
)
def grow_binned_tree(
    old, by_column, codes, n_bins, members, whole, is_train, test_rows, classes, target, fixed, n_classes, leaf_size
):  # fmt: skip
    """Grow a tree on the columns `members`, in this order; return feature, cut, left, leaf and the number of counted
    rows.

    `old` is a tree of the same rows on these columns and more, as returned, or empty arrays. `by_column`, (d, n), and
    `codes`, (n, d), are bins, of which `n_bins`, (d,), is one more than the largest. `whole`, (d, bins, lanes), are the
    sums of all rows, `is_train`, (n,), the training rows and `test_rows`, (m,), the others. `classes`, (n,), are read
    if ``n_classes > 0``, else `target` and `fixed`, its fixed point, (n,). A cut has at least `leaf_size` rows on each
    side. `feature` is -1 in a leaf, and `leaf` has shape (nodes, max(n_classes, 1)).
    """
    tree_rows = np.flatnonzero(is_train)
    largest = max(2 * (len(tree_rows) // leaf_size) + 1, 1)
    feature, cut, left = np.full(largest, -1), np.zeros(largest, np.int64), np.zeros(largest, np.int64)
    leaf = np.zeros((largest, max(n_classes, 1)))
    right_rows = np.empty(len(tree_rows), np.int64)
    is_member, ungrown = np.zeros(len(n_bins), np.bool_), np.empty((largest, 3), np.int64)
    for m in members:
        is_member[m] = True
    nodes = feature, cut, left, leaf
    n_nodes, n_ungrown = take_standing(old, is_member, tree_rows, right_rows, by_column, nodes, ungrown)
    n_lanes, most_bins = whole.shape[2], whole.shape[1]
    sums = np.empty((1, len(members), most_bins, n_lanes), np.int64)
    near, scores = scratch_of(n_lanes, most_bins)
    # node, first and last of its rows; the node at a position has the histogram at this position
    waiting = np.empty((WAITING, 3), np.int64)
    n_waiting = n_counted = 0
    while n_waiting or n_ungrown:
        if n_waiting == 0:
            n_ungrown -= 1
            node, start, stop = waiting[0] = ungrown[n_ungrown]
            if len(members) == 0 or _is_leaf(tree_rows[start:stop], classes, target, n_classes, leaf_size):
                _fill_leaf(leaf[node], tree_rows[start:stop], classes, target, n_classes)
                continue
            counted = test_rows if node == 0 else tree_rows[start:stop]
            count_rows(sums[0], counted, codes, members, classes, fixed, n_classes)
            n_counted += len(counted)
            if node == 0:
                for m in range(len(members)):
                    for b in range(most_bins):
                        for c in range(n_lanes):
                            sums[0, m, b, c] = whole[members[m], b, c] - sums[0, m, b, c]
            n_waiting = 1
        n_waiting -= 1
        node, start, stop = waiting[n_waiting]
        here = sums[n_waiting]
        best, winner, below, above = -1.0, -1, 0, 0
        for m in range(len(members)):
            column = here[m, : n_bins[members[m]]]
            found = best_cut(column, stop - start, n_classes, leaf_size, near, scores)
            if found[0] > best:
                best, winner, below, above = found[0], np.int64(members[m]), found[1], found[2]
        if winner < 0:
            _fill_leaf(leaf[node], tree_rows[start:stop], classes, target, n_classes)
            continue
        feature[node], cut[node], left[node] = winner, (below + above) // 2, n_nodes
        middle = start + part_rows(tree_rows[start:stop], right_rows, by_column[winner], cut[node])
        small, small_start, small_stop = n_nodes, start, middle
        large, large_start, large_stop = n_nodes + 1, middle, stop
        if 2 * (middle - start) > stop - start:
            small, large = large, small
            small_start, small_stop, large_start, large_stop = large_start, large_stop, small_start, small_stop
        n_nodes += 2
        small_rows, large_rows = tree_rows[small_start:small_stop], tree_rows[large_start:large_stop]
        small_is_leaf = _is_leaf(small_rows, classes, target, n_classes, leaf_size)
        large_is_leaf = _is_leaf(large_rows, classes, target, n_classes, leaf_size)
        if small_is_leaf:
            _fill_leaf(leaf[small], small_rows, classes, target, n_classes)
        if large_is_leaf:
            _fill_leaf(leaf[large], large_rows, classes, target, n_classes)
        if small_is_leaf and large_is_leaf:
            continue
        if n_waiting + 2 > len(sums):
            longer = np.empty((n_waiting + 2, len(members), most_bins, n_lanes), np.int64)
            longer[: len(sums)] = sums
            sums = longer
        place = n_waiting if large_is_leaf else n_waiting + 1
        count_rows(sums[place], small_rows, codes, members, classes, fixed, n_classes)
        n_counted += len(small_rows)
        if not large_is_leaf:
            _subtract(sums[n_waiting], sums[place])
            waiting[n_waiting] = large, large_start, large_stop
            n_waiting += 1
        if not small_is_leaf:
            waiting[n_waiting] = small, small_start, small_stop
            n_waiting += 1
    return feature[:n_nodes].copy(), cut[:n_nodes].copy(), left[:n_nodes].copy(), leaf[:n_nodes].copy(), n_counted
