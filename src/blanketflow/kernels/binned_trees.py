"""Decision trees on columns in at most 255 bins, for the PPI test with many rows.

A tree is CART: Gini for classes, squared error for numbers. At each node a histogram of every column holds the target's
sums per bin. A cut lies halfway between two bins that have rows, and each side keeps at least `leaf_size` rows. Every
column is examined in table order, the first maximum wins, and within a column the lowest cut. An impure node is cut
even when the best cut gains nothing. Only the smaller child's histogram is counted; the larger child's is the parent's
less that. All sums are integers, so this is exact, and equal cuts compare as equal.

Sums have one lane per class: its rows. For numbers there are two: the rows, and the sum of the target in fixed point,
such that rows times sums fit 62 bits. The nodes of a tree are as in kernels/trees.py: a cut is the largest code that
goes left, and `leaf` holds a leaf's loss for each class, or its mean. A class's share in a leaf is (its rows + 1) over
(rows + classes), so a leaf that has not seen a class is not infinitely sure.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: Codes are below this, so that they fit one byte.
MOST_BINS = 255
#: Nodes that wait while the smaller child of each is grown first: at most the logarithm of the number of rows.
WAITING = 64


@njit("void(int64[::1], int32[::1], float64[::1], int64, uint8[:, ::1])", cache=True)
def bin_columns(list_starts, rows, values, n, codes):
    """Write the bin of each row, (d, n), for columns of n rows listed as in `ci.tree_arrays.ColumnLists`.

    With at most 255 distinct values each value is a bin. Otherwise, a group of equal values at the sorted positions
    from a to b closes its bin if a multiple of n / 255 lies between.
    """
    begins, code_of_group = np.empty(n + 1, np.int64), np.empty(n, np.uint8)
    for j in range(len(list_starts) - 1):
        start, stop = list_starts[j], list_starts[j + 1]
        n_zeros = n - (stop - start)
        n_groups, group_of_zeros, filled, i = 0, -1, 0, start
        while filled < n:
            begins[n_groups] = filled
            if n_zeros > 0 and group_of_zeros < 0 and (i == stop or values[i] > 0.0):
                group_of_zeros = n_groups
                filled += n_zeros
            else:
                first = i
                while i < stop and values[i] == values[first]:
                    i += 1
                filled += i - first
            n_groups += 1
        begins[n_groups] = n
        code, i = 0, start
        for g in range(n_groups):
            code_of_group[g] = code
            code += n_groups <= MOST_BINS or MOST_BINS * begins[g + 1] // n > MOST_BINS * begins[g] // n
        if n_zeros > 0:
            codes[j] = code_of_group[group_of_zeros]
        for g in range(n_groups):
            if g != group_of_zeros:
                for _ in range(begins[g + 1] - begins[g]):
                    codes[j, rows[i]] = code_of_group[g]
                    i += 1


@njit(error_model="numpy")
def best_cut(sums, total, n_node, n_classes, leaf_size, near):
    """Return (score, bin below, bin above) of one column's best cut between two bins, score -1 for none.

    `sums`, (bins, lanes), are the node's sums, `total`, (lanes,), their sum, and `near` is scratch, (lanes,).
    """
    best, best_below, best_above = -1.0, 0, 0
    near[:] = 0
    n_near, below = 0, -1
    for b in range(len(sums)):
        n_here = sums[b, 0]
        for c in range(1, n_classes):
            n_here += sums[b, c]
        if n_here == 0:
            continue
        n_far = n_node - n_near
        if n_far < leaf_size:
            break
        if n_near >= leaf_size:
            if n_classes > 0:
                squares_near, squares_far = np.int64(0), np.int64(0)
                for c in range(n_classes):
                    far = total[c] - near[c]
                    squares_near += near[c] * near[c]
                    squares_far += far * far
                numerator = float(squares_near) * n_far + float(squares_far) * n_near
            else:
                lead = float(n_node * near[1] - n_near * total[1])
                numerator = lead * lead
            score = numerator / (float(n_near) * float(n_far))
            if score > best:
                best, best_below, best_above = score, below, b
        for c in range(len(near)):
            near[c] += sums[b, c]
        n_near += n_here
        below = b
    return best, best_below, best_above


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
    """Return whether a node is not cut whatever its columns are."""
    return len(rows) < 2 * leaf_size or _is_pure(rows, classes, target, n_classes)


@njit
def _count(sums, rows, codes, members, classes, fixed, n_classes):
    """Fill the sums of some rows, (k, bins, lanes)."""
    sums[:] = 0
    if n_classes > 0:
        for row in rows:
            c = classes[row]
            for m in range(len(members)):
                sums[m, codes[row, members[m]], c] += 1
    else:
        for row in rows:
            number = fixed[row]
            for m in range(len(members)):
                place = sums[m, codes[row, members[m]]]
                place[0] += 1
                place[1] += number


@njit(
    "Tuple((int64[::1], int64[::1], int64[::1], float64[:, ::1], int64))"
    "(uint8[:, ::1], int64[::1], int64[::1], boolean[::1], int64[::1], float64[::1], int64[::1], int64, int64)",
    cache=True,
)
def grow_binned_tree(codes, n_bins, members, is_train, classes, target, fixed, n_classes, leaf_size):
    """Grow a tree on some columns.

    Parameters
    ----------
    codes : uint8 array of shape (n, d)
        Bins of the columns.
    n_bins : int64 array of shape (d,)
        One more than the largest code of each column.
    members : int64 array of shape (k,)
        Which columns the tree may use, in the order in which they are examined.
    is_train : bool array of shape (n,)
        The rows it learns from.
    classes : int64 array of shape (n,)
        Class codes; read when ``n_classes > 0``.
    target : float64 array of shape (n,)
        Numbers to predict; read when ``n_classes == 0``.
    fixed : int64 array of shape (n,)
        The same in fixed point; see the module.
    n_classes : int
        Number of classes, 0 for regression.
    leaf_size : int
        The fewest rows that a cut leaves on each side.

    Returns
    -------
    feature, cut, left : int64 arrays of shape (nodes,)
        The nodes; `feature` is a column of `codes`, -1 in a leaf.
    leaf : float64 array of shape (nodes, max(n_classes, 1))
        The leaves.
    n_counted : int
        Rows that were counted into histograms.
    """
    tree_rows = np.flatnonzero(is_train)
    largest = max(2 * (len(tree_rows) // leaf_size) + 1, 1)
    feature, cut, left = np.full(largest, -1), np.zeros(largest, np.int64), np.zeros(largest, np.int64)
    leaf = np.zeros((largest, max(n_classes, 1)))
    n_lanes, most_bins = n_classes if n_classes > 0 else 2, 1
    for m in members:
        most_bins = max(most_bins, n_bins[m])
    sums = np.empty((1, len(members), most_bins, n_lanes), np.int64)
    total, near = np.empty(n_lanes, np.int64), np.empty(n_lanes, np.int64)
    right_rows = np.empty(len(tree_rows), np.int64)
    # node, first and last of its rows; the node at a position has the histogram at this position
    waiting = np.empty((WAITING, 3), np.int64)
    waiting[0] = 0, 0, len(tree_rows)
    n_waiting, n_nodes, n_counted = 1, 1, 0
    if len(members) == 0 or _is_leaf(tree_rows, classes, target, n_classes, leaf_size):
        _fill_leaf(leaf[0], tree_rows, classes, target, n_classes)
        n_waiting = 0
    else:
        _count(sums[0], tree_rows, codes, members, classes, fixed, n_classes)
        n_counted += len(tree_rows)
    while n_waiting:
        n_waiting -= 1
        node, start, stop = waiting[n_waiting]
        here = sums[n_waiting]
        total[:] = 0
        for b in range(n_bins[members[0]]):
            for c in range(n_lanes):
                total[c] += here[0, b, c]
        best, winner, below, above = -1.0, -1, 0, 0
        for m in range(len(members)):
            found = best_cut(here[m, : n_bins[members[m]]], total, stop - start, n_classes, leaf_size, near)
            if found[0] > best:
                best, winner, below, above = found[0], members[m], found[1], found[2]
        if winner < 0:
            _fill_leaf(leaf[node], tree_rows[start:stop], classes, target, n_classes)
            continue
        feature[node], cut[node], left[node] = winner, (below + above) // 2, n_nodes
        middle, n_right = start, 0
        for i in range(start, stop):
            row = tree_rows[i]
            goes_left = codes[row, winner] <= cut[node]
            tree_rows[middle] = right_rows[n_right] = row
            middle += goes_left
            n_right += not goes_left
        tree_rows[middle:stop] = right_rows[:n_right]
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
        _count(sums[place], small_rows, codes, members, classes, fixed, n_classes)
        n_counted += len(small_rows)
        if not large_is_leaf:
            sums[n_waiting] -= sums[place]
            waiting[n_waiting] = large, large_start, large_stop
            n_waiting += 1
        if not small_is_leaf:
            waiting[n_waiting] = small, small_start, small_stop
            n_waiting += 1
    return feature[:n_nodes].copy(), cut[:n_nodes].copy(), left[:n_nodes].copy(), leaf[:n_nodes].copy(), n_counted


@njit(
    "float64(int64[::1], int64[::1], int64[::1], float64[:, ::1], uint8[:, ::1], int64[::1], int64[::1], boolean[::1],"
    " int64[::1], float64[::1], int64)",
    cache=True,
)
def binned_tree_risk(feature, cut, left, leaf, codes, rows, sources, is_moved, classes, target, n_classes):
    """Return the mean loss of a tree on some rows, (m,), with some columns permuted among them, all alike.

    The loss is log-loss (natural logarithm), or squared error if `n_classes` is 0. `is_moved`, (d,), says which columns
    take the values of the rows `sources`, (m,).
    """
    total = 0.0
    for i in range(len(rows)):
        node = 0
        while feature[node] >= 0:
            k = feature[node]
            code = codes[sources[i] if is_moved[k] else rows[i], k]
            node = left[node] if code <= cut[node] else left[node] + 1
        if n_classes > 0:
            total += leaf[node, classes[rows[i]]]
        else:
            error = leaf[node, 0] - target[rows[i]]
            total += error * error
    return total / len(rows)
