"""Decision trees on columns of at most 255 bins, for the PPI test with many rows.

A tree is CART: Gini for classes, squared error for numbers. Each node has a histogram of every column with the target's
sums per bin. A cut lies halfway between two non-empty bins, with at least `leaf_size` rows per side. The first maximum
in table order wins, within a column the lowest cut. An impure node is cut even without a gain. Sums are integers, so
equal cuts tie exactly. The root's sums are those of all rows minus the test rows'; of two children only the smaller is
counted, the larger is the difference to the parent.

A tree on fewer columns than before reuses the valid part of the old tree. A node that is not cut on a dropped column
keeps its cut, since the best of all columns is the best of fewer. Only nodes cut on a dropped column are regrown, with
all below.

Sums have one lane per class, or two for numbers: rows, and the target's sum in fixed point, such that rows times sums
fit 62 bits. Nodes are as in kernels/trees.py: a cut is the largest code that goes left, and `leaf` is a leaf's loss for
each class, or its mean. A class's share in a leaf is (its rows + 1) / (rows + classes), so that an unseen class has a
finite loss. Children come after their parent.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: Waiting nodes while the smaller child of each is grown first: at most the logarithm of the number of rows.
WAITING = 64
#: Rows whose codes are read together.
BLOCK = 256


@njit("void(float64[::1], float64[::1], uint8[::1])", cache=True)
def find_bins(limits, values, codes):
    """Write the number of limits below each value; `limits`, at most 255, ascend."""
    padded = np.full(256, np.inf)
    for k in range(len(limits)):
        padded[k] = limits[k]
    for i in range(len(values)):
        code, step = 0, 128
        while step:
            code += step * (padded[code + step - 1] < values[i])
            step //= 2
        codes[i] = code


# --- the best cut of a column, in three passes so that the second vectorises ------------------------------------------


@njit
def scratch_of(n_lanes, n_bins):
    """Return scratch for `best_cut`: sums of each lane below each bin, three more lines of integers, and scores."""
    # Every second line of 255 numbers would be 4096 bytes further, where a read waits for a write that is not its own.
    return np.empty((n_lanes + 3, n_bins + 16), np.int64), np.empty(n_bins)


@njit(error_model="numpy")
def best_cut(sums, n_node, n_classes, leaf_size, near, scores):
    """Return (score, bin below, bin above) of the best cut, score -1 for none, from a node's `sums`, (bins, lanes)."""
    n_bins, n_lanes = sums.shape
    n_near, squares_near, squares_far = near[n_lanes], near[n_lanes + 1], near[n_lanes + 2]
    for b in range(n_bins):
        n_near[b] = squares_near[b] = squares_far[b] = 0
    for c in range(n_lanes):
        lane, total = near[c], np.int64(0)
        for b in range(n_bins):
            lane[b] = total
            total += sums[b, c]
        if n_classes > 0:
            for b in range(n_bins):
                here, beyond = lane[b], total - lane[b]
                n_near[b] += here
                squares_near[b] += here * here
                squares_far[b] += beyond * beyond
        elif c == 0:
            for b in range(n_bins):
                n_near[b] = lane[b]
        else:
            for b in range(n_bins):
                lead = float(n_node * lane[b] - n_near[b] * total)
                scores[b] = lead * lead
    for b in range(n_bins):
        n_far = n_node - n_near[b]
        if n_classes > 0:
            scores[b] = float(squares_near[b]) * n_far + float(squares_far[b]) * n_near[b]
        scores[b] = scores[b] / (float(n_near[b]) * float(n_far)) if min(n_near[b], n_far) >= leaf_size else -1.0
    best, above = -1.0, 0
    for b in range(n_bins):
        if scores[b] > best:
            best, above = scores[b], b
    if best < 0.0:
        return best, 0, 0
    below = above - 1
    # Cuts around an empty bin are the same one, and the first of them was found: bin `below` has rows.
    while above + 1 < n_bins and n_near[above + 1] == n_near[above]:
        above += 1
    return best, below, above


# --- growth -----------------------------------------------------------------------------------------------------------


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


# --- the risk of a tree on a repeat's test rows, with some columns permuted among them --------------------------------


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


# --- trees on single columns, for all repeats at once, equal to the others to the last bit ----------------------------
#
# A node is a range of bins, so only the root's histogram is counted (all rows minus each repeat's test rows).


@njit
def _count_in_bins(sums, column, rows, classes, fixed, n_classes, sign):
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
def _grow_on_column(sums, column, rows, target, n_classes, leaf_size, scratch, leaf_of_bin, leaf):
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
        _count_in_bins(whole[j], codes[j], all_rows, classes, fixed, n_classes, 1)
    near, scores = scratch_of(n_lanes, most_bins)
    total, ranges = np.empty(n_lanes, np.int64), np.empty((most_bins + 1, 2), np.int64)
    scratch = near, scores, total, ranges, np.empty(most_bins), np.empty(most_bins)
    leaf_of_bin, leaf = np.empty(most_bins, np.int64), np.empty((most_bins, n_lanes))
    for b in range(len(is_train)):
        rows = np.flatnonzero(is_train[b])
        own_classes, own_target = classes[test_rows[b]], target[test_rows[b]]
        for j in range(len(codes)):
            column, sums = codes[j], whole[j, : n_bins[j]].copy()
            _count_in_bins(sums, column, test_rows[b], classes, fixed, n_classes, -1)
            n_leaves = _grow_on_column(sums, column, rows, target, n_classes, leaf_size, scratch, leaf_of_bin, leaf)
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
