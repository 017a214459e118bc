"""Decision trees to purity on sorted columns, for the PPI test.

A tree is CART: Gini for classes, squared error for numbers. Every column is examined at every node in table order; the
first maximum wins, within a column the lowest threshold. An impure node is split even without a gain. So removing an
unused column does not change the tree, and removing a used one changes only the parts below the nodes that it splits.

Columns are sorted as in kernels/sorted_columns.py. A cut is the largest code that goes left. Nodes are arrays:
`feature` (position among the sorted columns, -1 in a leaf), `cut`, `left` (the left child; the right one is the next
node) and `leaf` (a leaf's loss for each class, or its mean). Training rows are in one array, those of a node
contiguous, the left child's first; `middle` is where the right child's begin.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .sorted_columns import ROW, SHIFT, SMALLEST_PROBABILITY, best_cut, between

#: Waiting nodes while the smaller child of each is grown first: at most the logarithm of the number of rows, twice.
WAITING = 128
#: Columns times nodes whose entries are gathered in one pass.
SLOTS = 2**20


@njit
def _last_code_left(levels, first, below, above):
    """Return the largest code whose value is at most halfway between the values of two codes."""
    middle = between(levels[first + below], levels[first + above])
    code = below
    while levels[first + code + 1] <= middle:
        code += 1
    return code


@njit
def _describe(node_rows, classes, target, counts):
    """Fill a node's rows of each class; return whether it is pure, its mean and the step of its cuts' scores."""
    if len(counts) > 0:
        counts[:] = 0
        for row in node_rows:
            counts[classes[row]] += 1
        return counts[classes[node_rows[0]]] == len(node_rows), 0.0, 1.0
    is_pure = True
    total, squares = 0.0, 0.0
    for row in node_rows:
        total += target[row]
        is_pure &= target[row] == target[node_rows[0]]
    mean = total / len(node_rows)
    for row in node_rows:
        squares += (target[row] - mean) ** 2
    grain = math.ldexp(1.0, math.frexp(squares)[1] - 32)
    return is_pure, mean, grain if grain > 0.0 else 1.0


@njit
def _fill_leaf(leaf, counts, n_node, mean):
    """Write a leaf's loss for each class, or its mean."""
    if len(counts) > 0:
        share = 1.0 / n_node
        for c in range(len(counts)):
            leaf[c] = -math.log(max(counts[c] * share, SMALLEST_PROBABILITY))
    else:
        leaf[0] = mean


@njit
def _send(node_rows, entries, start, stop, background, cut, goes_left, right_rows):
    """Move the rows of a node that a cut sends left before the others; return how many they are."""
    for row in node_rows:
        goes_left[row] = background <= cut
    for i in range(start, stop):
        goes_left[entries[i] & ROW] = entries[i] >> SHIFT <= cut
    n_left, n_right = 0, 0
    for row in node_rows:  # written to both sides, kept on one: no branch to mispredict
        node_rows[n_left] = right_rows[n_right] = row
        n_left += goes_left[row]
        n_right += not goes_left[row]
    for i in range(n_right):
        node_rows[n_left + i] = right_rows[i]
    return n_left


@njit
def _is_constant(entries, start, stop, n_node):
    """Return whether a column has one value in a node's rows."""
    return start == stop or (stop - start == n_node and entries[start] >> SHIFT == entries[stop - 1] >> SHIFT)


@njit
def _gather(entries, starts, members, tree_rows, roots, root_of_row, gathered):
    """Return where each member's entries in each of some nodes begin, (k, nodes + 1), and these entries.

    `roots`, (nodes, 3), holds nodes with their first and last rows. One pass through a column serves all nodes.
    `root_of_row`, (n,), is scratch, and so is `gathered`, which is returned, reallocated if too short.
    """
    root_of_row[:] = -1
    for r in range(len(roots)):
        for row in tree_rows[roots[r, 1] : roots[r, 2]]:
            root_of_row[row] = r
    begins, filled = np.zeros((len(members), len(roots) + 1), np.int64), 0
    place = np.empty(len(roots), np.int64)
    for m in range(len(members)):
        column, ends = entries[starts[members[m]] : starts[members[m] + 1]], begins[m, 1:]
        for entry in column:
            r = root_of_row[entry & ROW]
            if r >= 0:
                ends[r] += 1
        begins[m, 0] = filled
        for r in range(len(roots)):
            place[r] = begins[m, r]
            ends[r] += begins[m, r]
        filled = begins[m, len(roots)]
        while filled > len(gathered):
            gathered = _longer(gathered, begins[m, 0])
        for entry in column:
            r = root_of_row[entry & ROW]
            if r >= 0:
                gathered[place[r]] = entry
                place[r] += 1
    return begins, gathered


@njit
def _put(line, numbers):
    for i in range(len(numbers)):
        line[i] = numbers[i]


@njit
def _longer(array, filled):
    longer = np.empty(2 * len(array) + 16, array.dtype)
    for i in range(filled):
        longer[i] = array[i]
    return longer


@njit(
    "Tuple((int64[::1], int64[::1], int64[::1], int64[::1], int32[::1], float64[:, ::1], int64))"
    "(int64[::1], int64[::1], int32[::1], float64[::1], int64[::1],"
    " int64[::1], boolean[::1], int64[::1], float64[::1], int64, int64[::1], int64[::1], int64[::1], int64[::1],"
    " int32[::1], int64[::1])",
    cache=True,
)
def grow_tree(
    entries, starts, background, levels, level_starts, members, is_train, classes, target, n_classes,
    old_feature, old_cut, old_left, old_middle, old_rows, work,
):  # fmt: skip
    """Grow a tree to purity from the valid part of an earlier tree; return its arrays and the number of examined
    entries.

    Columns are as in kernels/sorted_columns.py; `members`, (k,), may be used, in this order. `is_train`, (n,), are the
    training rows. `classes`, (n,), are read if ``n_classes > 0``, else `target`, (n,). The `old` arrays are the tree of
    these rows on a larger set of columns, or empty; parts below nodes split by other columns are regrown. `work` is
    scratch, best twice the members' entries. Returns feature, cut, left, middle, rows and leaf (see the module), and
    the entries examined to find cuts.
    """
    n = len(is_train)
    tree_rows = old_rows.copy() if len(old_rows) else np.flatnonzero(is_train).astype(np.int32)
    largest = max(2 * len(tree_rows) - 1, 1)
    feature, cut = np.full(largest, -1), np.zeros(largest, np.int64)
    left, middle = np.zeros(largest, np.int64), np.zeros(largest, np.int64)
    leaf = np.zeros((largest, max(n_classes, 1)))
    n_nodes, n_examined = 1, 0
    is_member = np.zeros(len(background), np.bool_)
    is_member[members] = True
    goes_left, right_rows = np.zeros(n, np.bool_), np.empty(len(tree_rows), np.int32)
    counts, near, far = np.zeros(n_classes, np.int64), np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    scratch = near, far, np.arange(1.0, n + 1.0), np.empty(n), np.empty(n)
    answers = classes, target
    # Positions of a node's entries of varying columns in the work arrays, consecutive for all waiting nodes: the
    # smaller child's are copied out and grown first, the larger one's are compacted in place.
    column = np.empty(2 * len(members), np.int64)
    begin, end = np.empty(2 * len(members), np.int64), np.empty(2 * len(members), np.int64)
    # node, first and last of its rows, first and last of its columns, where its entries end
    waiting = np.empty((WAITING, 6), np.int64)
    replayed = [(0, 0 if len(old_feature) else -1, 0, len(tree_rows))]
    # Node, first and last row of each part to regrow.
    roots, n_roots = np.empty((max(len(old_feature), 1), 3), np.int64), 0
    while len(replayed):
        node, old, start, stop = replayed.pop()
        if old >= 0 and old_feature[old] >= 0 and is_member[old_feature[old]]:
            feature[node], cut[node] = old_feature[old], old_cut[old]
            left[node], middle[node] = n_nodes, old_middle[old]
            replayed.append((n_nodes, old_left[old], start, middle[node]))
            replayed.append((n_nodes + 1, old_left[old] + 1, middle[node], stop))
            n_nodes += 2
            continue
        is_pure, mean, grain = _describe(tree_rows[start:stop], classes, target, counts)
        if is_pure or (old >= 0 and old_feature[old] < 0):
            _fill_leaf(leaf[node], counts, stop - start, mean)
            continue
        tree_rows[start:stop].sort()  # as they were before the old tree cut them
        _put(roots[n_roots], (node, start, stop))
        n_roots += 1
    batch = max(1, SLOTS // max(1, len(members)))
    root_of_row = np.empty(n, np.int64)
    gathered, begins = np.empty(0, np.int64), np.empty((0, 0), np.int64)
    for r in range(n_roots):
        if r % batch == 0:
            nodes = roots[r : min(r + batch, n_roots)]
            begins, gathered = _gather(entries, starts, members, tree_rows, nodes, root_of_row, gathered)
        node, start, stop = roots[r]
        n_columns, filled = 0, 0
        for m in range(len(members)):
            segment = gathered[begins[m, r % batch] : begins[m, r % batch + 1]]
            if _is_constant(segment, 0, len(segment), stop - start):
                continue
            while filled + len(segment) >= len(work):
                work = _longer(work, filled)
            for i in range(len(segment)):
                work[filled + i] = segment[i]
            column[n_columns], begin[n_columns] = members[m], filled
            filled += len(segment)
            end[n_columns] = filled
            n_columns += 1
        n_waiting = 1
        _put(waiting[0], (node, start, stop, 0, n_columns, filled))
        while n_waiting:
            n_waiting -= 1
            node, start, stop, first, last, filled = waiting[n_waiting]
            is_pure, mean, grain = _describe(tree_rows[start:stop], classes, target, counts)
            best, winner, below, above = -1.0, -1, 0, 0
            facts = stop - start, counts, mean, grain
            if not is_pure:
                for a in range(first, last):
                    found = best_cut(work, begin[a], end[a], background[column[a]], facts, answers, scratch)
                    n_examined += end[a] - begin[a]
                    if found[0] > best:
                        best, winner, below, above = found[0], a, found[1], found[2]
            if winner < 0:
                _fill_leaf(leaf[node], counts, stop - start, mean)
                continue
            k = column[winner]
            feature[node], left[node] = k, n_nodes
            cut[node] = _last_code_left(levels, level_starts[k], below, above)
            n_left = _send(
                tree_rows[start:stop], work, begin[winner], end[winner], background[k], cut[node], goes_left, right_rows
            )
            middle[node] = start + n_left
            left_is_smaller = 2 * n_left < stop - start
            small, small_start, small_stop = n_nodes, start, middle[node]
            large, large_start, large_stop = n_nodes + 1, middle[node], stop
            if not left_is_smaller:
                small, large = large, small
                small_start, small_stop, large_start, large_stop = large_start, large_stop, small_start, small_stop
            n_nodes += 2
            small_is_pure, mean, _ = _describe(tree_rows[small_start:small_stop], classes, target, counts)
            if small_is_pure:
                _fill_leaf(leaf[small], counts, small_stop - small_start, mean)
            large_is_pure, mean, _ = _describe(tree_rows[large_start:large_stop], classes, target, counts)
            if large_is_pure:
                _fill_leaf(leaf[large], counts, large_stop - large_start, mean)
            if small_is_pure and large_is_pure:
                continue
            if last + (last - first) > len(column):
                column, begin, end = _longer(column, last), _longer(begin, last), _longer(end, last)
            while 2 * filled - begin[first] >= len(work):
                work = _longer(work, filled)
            at, small_last, small_filled = first, last, filled
            kept = begin[first]
            for a in range(first, last):
                k, small_begin, large_begin = column[a], small_filled, kept
                for i in range(begin[a], end[a]):
                    entry = work[i]
                    work[small_filled] = work[kept] = entry
                    is_small = goes_left[entry & ROW] == left_is_smaller
                    small_filled += is_small
                    kept += not is_small
                if small_is_pure or _is_constant(work, small_begin, small_filled, small_stop - small_start):
                    small_filled = small_begin
                else:
                    column[small_last], begin[small_last], end[small_last] = k, small_begin, small_filled
                    small_last += 1
                if large_is_pure or _is_constant(work, large_begin, kept, large_stop - large_start):
                    kept = large_begin
                else:
                    column[at], begin[at], end[at] = k, large_begin, kept
                    at += 1
            if not large_is_pure:
                _put(waiting[n_waiting], (large, large_start, large_stop, first, at, kept))
                n_waiting += 1
            if not small_is_pure:
                _put(waiting[n_waiting], (small, small_start, small_stop, last, small_last, small_filled))
                n_waiting += 1
    return (
        feature[:n_nodes].copy(), cut[:n_nodes].copy(), left[:n_nodes].copy(), middle[:n_nodes].copy(), tree_rows,
        leaf[:n_nodes].copy(), n_examined,
    )  # fmt: skip


# --- predictions for the test rows, before and after some columns are permuted together -------------------------------


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
