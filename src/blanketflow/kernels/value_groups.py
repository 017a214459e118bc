"""Groups of rows with equal values of a column, and which group predicts which in a tree to purity on it.

If values do not determine the class, the tree's risk difference is computed from counts of rows per group.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .best_cut import SMALLEST_PROBABILITY, between

#: Inlined: with many short columns, passing arrays to helpers would take as long as their work.
inlined = njit(inline="always", error_model="numpy")
#: The loss of a row of a class unseen in the leaf.
LARGEST_LOSS = -math.log(SMALLEST_PROBABILITY)


@inlined
def part_into_groups(values, rest, first, group_values):
    """Divide all rows into groups of equal values; `values`, (m,), of listed rows ascend, and `rest` rows are not
    listed.

    Writes `first`, where each group's listed rows start and the last one's end, and `group_values`. Returns the number
    of groups, and the group of the unlisted rows, -1 for none.
    """
    n_groups, of_rest = 0, -1
    for i in range(len(values)):
        if rest > 0 and of_rest < 0 and values[i] > 0.0:
            first[n_groups], group_values[n_groups], of_rest = i, 0.0, n_groups
            n_groups += 1
        if i == 0 or values[i] != values[i - 1]:
            first[n_groups], group_values[n_groups] = i, values[i]
            n_groups += 1
    if rest > 0 and of_rest < 0:
        first[n_groups], group_values[n_groups], of_rest = len(values), 0.0, n_groups
        n_groups += 1
    first[n_groups] = len(values)
    return n_groups, of_rest


@inlined
def find_leaves(values, n_groups, sizes, leaf):
    """Write to `leaf` the nearest group with training rows for each group of ascending `values` and `sizes`."""
    last = -1
    for g in range(n_groups):
        if sizes[g] > 0:
            for h in range(last + 1, g):
                is_low = last >= 0 and values[h] <= between(values[last], values[g])
                leaf[h] = last if is_low else g
            leaf[g] = last = g
    for h in range(last + 1, n_groups):
        leaf[h] = last


@inlined
def values_tell_classes(rows, values, classes):
    """Return whether all rows with equal values have the same class."""
    for i in range(1, len(rows)):
        if values[i] == values[i - 1] and classes[rows[i]] != classes[rows[i - 1]]:
            return False
    return True


@inlined
def add_times(sums, k, count, term):
    """Add an integer (below 2^26) times a float to sum `k`, a pair of floats, so precise that order does not matter."""
    shifted = 134217729.0 * term  # 2^27 + 1 splits a float into halves
    high = shifted - (shifted - term)
    product = count * high
    total = sums[k, 0] + product
    of_sum = total - sums[k, 0]
    sums[k, 1] += (sums[k, 0] - (total - of_sum)) + (product - of_sum) + count * (term - high)
    sums[k, 0] = total


@inlined
def difference_of_means(sums, n_terms):
    """Return the mean of the second sum's terms minus the mean of the first sum's."""
    return (sums[1, 0] + sums[1, 1]) / n_terms - (sums[0, 0] + sums[0, 1]) / n_terms


@inlined
def count_rows(rows, start, stop, classes, lines, counts, n_rows, g):
    """Count the rows of one group of equal values: by class in `n_rows`, and in lanes as in `class_differences`."""
    n_classes, n_words = lines.shape[1], lines.shape[2]
    counts[g] = 0
    n_rows[g] = 0
    for i in range(start, stop):
        row = rows[i]
        c = classes[row]
        n_rows[g, c] += 1
        for w in range(n_words):
            counts[g, c, w] += lines[row, 0, w]
        for k in range(1, n_classes):
            for w in range(n_words):
                counts[g, n_classes - 1 + k, w] += lines[row, k, w]


@inlined
def count_rest(n_groups, of_rest, totals, n_of_class, counts, n_rows):
    """Count the unlisted rows: all rows except those of the other groups."""
    for c in range(len(n_of_class)):
        n_rows[of_rest, c] = n_of_class[c]
        for g in range(n_groups):
            if g != of_rest:
                n_rows[of_rest, c] -= n_rows[g, c]
    for k in range(totals.shape[0]):
        for w in range(totals.shape[1]):
            counts[of_rest, k, w] = totals[k, w]
            for g in range(n_groups):
                if g != of_rest:
                    counts[of_rest, k, w] -= counts[g, k, w]


@inlined
def changes_nothing(counts, n_rows, n_groups, lane):
    """Return whether in each group as many rows of each class receive the value as have it."""
    n_classes = n_rows.shape[1]
    word, shift, lanes = lane
    for g in range(n_groups):
        for c in range(1, n_classes):
            n_trained = np.int64((counts[g, c, word] >> shift) & lanes)
            if np.int64((counts[g, n_classes - 1 + c, word] >> shift) & lanes) != n_rows[g, c] - n_trained:
                return False
    return True


@inlined
def _add_leaf(trained, own, received, sums):
    """Add a leaf's losses to both sums, and return the numbers of rows with a class that it has not seen."""
    size, missed, permuted_missed = 0, 0, 0
    for n_trained in trained:
        size += n_trained
    for c in range(len(trained)):
        if trained[c] == 0:
            missed += own[c]
            permuted_missed += received[c]
        elif trained[c] < size and own[c] + received[c] > 0:
            loss = -math.log(trained[c] / size)
            add_times(sums, 0, own[c], loss)
            add_times(sums, 1, received[c], loss)
    return missed, permuted_missed


@inlined
def difference_of_groups(counts, n_rows, lane, leaf, n_groups, n_test, trained, own, received, sums):
    """Return the risk difference of a repeat from the training and test rows of each group of equal values."""
    n_classes = n_rows.shape[1]
    word, shift, lanes = lane
    missed, permuted_missed, current = 0, 0, leaf[0]
    sums[:] = 0.0
    own[:] = 0
    received[:] = 0
    for g in range(n_groups):
        if leaf[g] != current:
            seen = _add_leaf(trained, own, received, sums)
            missed, permuted_missed, current = missed + seen[0], permuted_missed + seen[1], leaf[g]
            own[:] = 0
            received[:] = 0
        for c in range(n_classes):
            n_trained = np.int64((counts[g, c, word] >> shift) & lanes)
            n_own = n_rows[g, c] - n_trained
            own[c] += n_own
            received[0] += n_own
            if leaf[g] == g:
                trained[c] = n_trained
        for c in range(1, n_classes):
            n_received = np.int64((counts[g, n_classes - 1 + c, word] >> shift) & lanes)
            received[c] += n_received
            received[0] -= n_received
    seen = _add_leaf(trained, own, received, sums)
    add_times(sums, 0, missed + seen[0], LARGEST_LOSS)
    add_times(sums, 1, permuted_missed + seen[1], LARGEST_LOSS)
    return difference_of_means(sums, n_test)
