"""Decision trees to purity on presorted columns, with the risks that the PPI test asks of them.

A tree is CART: Gini for classes, squared error for numbers. Every column is examined at every node in the order given,
the first maximum wins, and within a column the lowest threshold. An impure node is split even when the best cut gains
nothing. So a column that a tree does not use can be taken away without changing that tree.

Cuts of classes are scored by whole numbers and one rounded division, cuts of numbers in steps of about 2^-32 of the
node's sum of squares, so that equal cuts compare as equal.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: Probabilities are clipped here before the logarithm of the log-loss.
SMALLEST_PROBABILITY = 1e-15


@njit
def _between(low, high):
    middle = 0.5 * low + 0.5 * high
    return low if middle >= high else middle


@njit
def _best_cut_of_classes(values, rows, start, stop, classes, counts, scratch):
    """Return (score, threshold) of the best cut of one column, score -1 where the column is constant."""
    left, right = scratch[0], scratch[1]
    squares_left = np.int64(0)
    squares_right = np.int64(0)
    for c in range(len(counts)):
        left[c] = 0
        right[c] = counts[c]
        squares_right += counts[c] * counts[c]
    best, threshold = -1.0, 0.0
    for i in range(start, stop - 1):
        c = classes[rows[i]]
        squares_left += 2 * left[c] + 1
        squares_right -= 2 * right[c] - 1
        left[c] += 1
        right[c] -= 1
        here, there = values[rows[i]], values[rows[i + 1]]
        if here < there:
            n_left, n_right = i + 1 - start, stop - i - 1
            score = float(squares_left * n_right + squares_right * n_left) / float(n_left * n_right)
            if score > best:
                best, threshold = score, _between(here, there)
    return best, threshold


@njit
def _mean_and_grain(rows, start, stop, target):
    """Return a node's mean target, and the step to which the scores of its cuts are rounded."""
    total, squares = 0.0, 0.0
    for i in range(start, stop):
        total += target[rows[i]]
    mean = total / (stop - start)
    for i in range(start, stop):
        squares += (target[rows[i]] - mean) ** 2
    grain = math.ldexp(1.0, math.frexp(squares)[1] - 32)
    return mean, grain if grain > 0.0 else 1.0


@njit
def _best_cut_of_numbers(values, rows, start, stop, target, mean, grain):
    """Return (score, threshold) of the best cut of one column, score -1 where the column is constant."""
    sum_left, best, threshold = 0.0, -1.0, 0.0
    for i in range(start, stop - 1):
        sum_left += target[rows[i]] - mean
        here, there = values[rows[i]], values[rows[i + 1]]
        if here < there:
            n_left, n_right = i + 1 - start, stop - i - 1
            # Around the node's mean the right sum is the negative of the left one.
            gain = sum_left * sum_left * (stop - start) / (float(n_left) * float(n_right))
            score = np.rint(gain / grain)
            if score > best:
                best, threshold = score, _between(here, there)
    return best, threshold


@njit
def _is_pure(rows, start, stop, classes, target, counts):
    """Return whether a node's rows share one class or number, and fill `counts` with its rows of each class."""
    if len(counts) == 0:
        for i in range(start + 1, stop):
            if target[rows[i]] != target[rows[start]]:
                return False
        return True
    counts[:] = 0
    for i in range(start, stop):
        counts[classes[rows[i]]] += 1
    return counts[classes[rows[start]]] == stop - start


@njit
def _partition(sorted_rows, start, stop, goes_left, scratch):
    """Move the rows that go left before the others, in every column, keeping their order."""
    for k in range(sorted_rows.shape[0]):
        n_left, n_right = start, 0
        for i in range(start, stop):
            row = sorted_rows[k, i]
            if goes_left[row]:
                sorted_rows[k, n_left] = row
                n_left += 1
            else:
                scratch[n_right] = row
                n_right += 1
        for i in range(n_right):
            sorted_rows[k, n_left + i] = scratch[i]


@njit(
    "Tuple((int64[::1], float64[::1], int64[::1], float64[:, ::1]))"
    "(float64[:, ::1], int32[:, ::1], int64[::1], boolean[::1], int64[::1], float64[::1], int64)",
    cache=True,
)
def grow_tree(values, order, columns, is_train, classes, target, n_classes):
    """Grow one tree to purity.

    Parameters
    ----------
    values : float64 array of shape (d, n)
        Columns of the table, one a row.
    order : int32 array of shape (d, n)
        Rows of the table sorted by each column.
    columns : int64 array of shape (k,)
        Which columns the tree may use, in the order in which they are examined.
    is_train : bool array of shape (n,)
        The rows it learns from.
    classes : int64 array of shape (n,)
        Class codes; read when ``n_classes > 0``.
    target : float64 array of shape (n,)
        Numbers to predict; read when ``n_classes == 0``.
    n_classes : int
        Number of classes, 0 for regression.

    Returns
    -------
    feature : int64 array of shape (nodes,)
        Column of each node's cut, -1 in a leaf.
    threshold : float64 array of shape (nodes,)
        Rows with a value at most this go left.
    left : int64 array of shape (nodes,)
        Node of the left child; the right child is the next one.
    leaf : float64 array of shape (nodes, max(n_classes, 1))
        Class shares, or the mean target, of the training rows in each node that is a leaf.
    """
    n_train = 0
    for row in range(values.shape[1]):
        n_train += is_train[row]
    n_columns = len(columns)
    # Numbers are summed in row order, which one more line keeps, so that sums do not depend on the columns offered.
    in_row_order = n_columns if n_classes == 0 else 0
    sorted_rows = np.empty((n_columns + (n_classes == 0), n_train), dtype=np.int32)
    for k in range(n_columns):
        filled = 0
        for row in order[columns[k]]:
            if is_train[row]:
                sorted_rows[k, filled] = row
                filled += 1
    if n_classes == 0:
        sorted_rows[in_row_order] = np.flatnonzero(is_train)
    largest = max(2 * n_train - 1, 1)
    feature = np.full(largest, -1, dtype=np.int64)
    threshold = np.zeros(largest, dtype=np.float64)
    left = np.zeros(largest, dtype=np.int64)
    leaf = np.zeros((largest, max(n_classes, 1)), dtype=np.float64)
    starts = np.zeros(largest, dtype=np.int64)
    stops = np.zeros(largest, dtype=np.int64)
    stops[0] = n_train
    goes_left = np.zeros(values.shape[1], dtype=np.bool_)
    scratch = np.empty(n_train, dtype=np.int32)
    counts = np.zeros(n_classes, dtype=np.int64)
    count_scratch = np.empty((2, n_classes), dtype=np.int64)
    n_nodes, node = 1, 0
    while node < n_nodes:
        start, stop = starts[node], stops[node]
        best, best_column, best_threshold = -1.0, -1, 0.0
        mean, grain = 0.0, 1.0
        if not _is_pure(sorted_rows[0], start, stop, classes, target, counts):
            if n_classes == 0:
                mean, grain = _mean_and_grain(sorted_rows[in_row_order], start, stop, target)
            for k in range(n_columns):
                column = values[columns[k]]
                if n_classes > 0:
                    score, cut = _best_cut_of_classes(
                        column, sorted_rows[k], start, stop, classes, counts, count_scratch
                    )
                else:
                    score, cut = _best_cut_of_numbers(column, sorted_rows[k], start, stop, target, mean, grain)
                if score > best:
                    best, best_column, best_threshold = score, k, cut
        if best_column < 0:
            share = 1.0 / (stop - start)
            if n_classes > 0:
                for c in range(n_classes):
                    leaf[node, c] = counts[c] * share
            else:
                total = 0.0
                for i in range(start, stop):
                    total += target[sorted_rows[in_row_order, i]]
                leaf[node, 0] = total * share
        else:
            column = values[columns[best_column]]
            n_left = 0
            for i in range(start, stop):
                row = sorted_rows[best_column, i]
                goes_left[row] = column[row] <= best_threshold
                n_left += goes_left[row]
            _partition(sorted_rows, start, stop, goes_left, scratch)
            feature[node], threshold[node], left[node] = columns[best_column], best_threshold, n_nodes
            starts[n_nodes], stops[n_nodes] = start, start + n_left
            starts[n_nodes + 1], stops[n_nodes + 1] = start + n_left, stop
            n_nodes += 2
        node += 1
    return feature[:n_nodes].copy(), threshold[:n_nodes].copy(), left[:n_nodes].copy(), leaf[:n_nodes].copy()


@njit(
    "float64(int64[::1], float64[::1], int64[::1], float64[:, ::1], float64[:, ::1], int64[::1], int64, int64[::1],"
    " int64[::1], float64[::1], int64)",
    cache=True,
)
def tree_risk(
    feature, threshold, left, leaf, values, test_rows, permuted_column, permuted_rows, classes, target, n_classes
):
    """Return the mean loss of a tree on test rows, one column permuted among them.

    Parameters
    ----------
    feature, threshold, left, leaf : arrays
        A tree of `grow_tree`.
    values : float64 array of shape (d, n)
        Columns of the table.
    test_rows : int64 array of shape (m,)
        Rows to predict.
    permuted_column : int
        The column whose values come from `permuted_rows`; -1 for none.
    permuted_rows : int64 array of shape (m,)
        A permutation of `test_rows`.
    classes, target, n_classes
        As for `grow_tree`.

    Returns
    -------
    float
        Log-loss (natural logarithm, probabilities clipped at 1e-15) or squared error.
    """
    total = 0.0
    for i in range(len(test_rows)):
        node = 0
        while feature[node] >= 0:
            column = feature[node]
            row = permuted_rows[i] if column == permuted_column else test_rows[i]
            node = left[node] if values[column, row] <= threshold[node] else left[node] + 1
        if n_classes > 0:
            total -= math.log(max(leaf[node, classes[test_rows[i]]], SMALLEST_PROBABILITY))
        else:
            error = leaf[node, 0] - target[test_rows[i]]
            total += error * error
    return total / len(test_rows)


@njit(
    "void(float64[:, ::1], int32[:, ::1], boolean[:, ::1], int64[:, ::1], int64[:, ::1], int64[::1], float64[::1],"
    " int64, float64[:, ::1], float64[:, ::1])",
    cache=True,
)
def single_column_risks(
    values, order, is_train, test_rows, permuted_rows, classes, target, n_classes, risks, permuted_risks
):
    """Fill the risks of one tree a column and repeat, before and after that column is permuted.

    Parameters
    ----------
    values, order : arrays of shape (d, n)
        Columns and their sorted rows.
    is_train : bool array of shape (B, n)
        Training rows of each repeat.
    test_rows, permuted_rows : int64 arrays of shape (B, m)
        Test rows of each repeat and their permutation.
    classes, target, n_classes
        As for `grow_tree`.
    risks, permuted_risks : float64 arrays of shape (d, B)
        Written.
    """
    column = np.empty(1, dtype=np.int64)
    for j in range(values.shape[0]):
        column[0] = j
        for b in range(is_train.shape[0]):
            tree = grow_tree(values, order, column, is_train[b], classes, target, n_classes)
            feature, threshold, left, leaf = tree
            for permuted in range(2):
                risk = tree_risk(
                    feature,
                    threshold,
                    left,
                    leaf,
                    values,
                    test_rows[b],
                    j if permuted else -1,
                    permuted_rows[b],
                    classes,
                    target,
                    n_classes,
                )
                if permuted:
                    permuted_risks[j, b] = risk
                else:
                    risks[j, b] = risk
