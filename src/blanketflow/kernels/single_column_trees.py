"""Decision trees on single columns, for all repeats of the PPI test at once.

A tree to purity on a single column needs no search: it predicts as if it were cut halfway between any two neighbouring
training values, so a row gets the prediction of the training rows with the nearest value, the lower one on ties
(`sorted_columns.between`). Reasons: an impure node is cut whatever the gain, a leaf has training rows of one value or
one class, and cutting rows of one class further does not change predictions. If values do not determine the class, the
risk difference is computed from counts of rows per group of equal values.

Columns are lists of rows in ascending order of value; rows that are not listed have the value zero. A sparse column
lists its non-zeros, a dense column all rows. Repeats are processed in blocks of at most 64, one bit each.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .sorted_columns import SMALLEST_PROBABILITY, between

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


@inlined
def _decide(undecided, p, values, training):
    """Return the repeats in which the training row after position p is nearer than the one before it."""
    goes_right = np.uint64(0)
    before = p
    while undecided:
        before -= 1
        here = undecided & training[before]
        undecided ^= here
        after = p
        while here:
            after += 1
            found = here & training[after]
            here ^= found
            if found and values[p] > between(values[before], values[after]):
                goes_right |= found
    return goes_right


@inlined
def count_missed(rows, values, every, training_bits, class_bits, receiver_bits, training, right, left, missed):
    """Count in all repeats the test rows whose nearest training row has another class, if values determine classes.

    `every` has one bit per repeat; rows, values and bits are as in `class_differences`, with all rows listed.
    `training`, (n,), `right`, (n, planes), and `left`, (planes,), are scratch. `missed`, (B,), gets the rows missed,
    plus 2^32 times the rows missed when the column is permuted.
    """
    n, n_planes = len(rows), len(left)
    missed[:] = 0
    left[:] = 0
    for p in range(n):
        training[p] = training_bits[rows[p]]
    # At either end the only neighbour is used for both.
    p, unseen = n - 1, every
    while unseen:
        for k in range(n_planes):
            left[k] |= unseen & training[p] & class_bits[rows[p], k]
        unseen &= ~training[p]
        p -= 1
    for p in range(n - 1, -1, -1):
        for k in range(n_planes):
            right[p, k] = left[k]
            left[k] = (left[k] & ~training[p]) | (class_bits[rows[p], k] & training[p])
    for p in range(n):
        row, test = rows[p], every & ~training[p]
        if test:
            differ = np.uint64(0)
            for k in range(n_planes):
                differ |= left[k] ^ right[p, k]
            goes_right = _decide(differ & test, p, values, training)
            wrong, wrong_for_receiver = np.uint64(0), np.uint64(0)
            for k in range(n_planes):
                predicted = (left[k] & ~goes_right) | (right[p, k] & goes_right)
                wrong |= predicted ^ class_bits[row, k]
                wrong_for_receiver |= predicted ^ receiver_bits[row, k]
            wrong &= test
            wrong_for_receiver &= test
            if wrong | wrong_for_receiver:
                for b in range(len(missed)):
                    bit = np.uint64(b)
                    both = ((wrong >> bit) & np.uint64(1)) | (
                        ((wrong_for_receiver >> bit) & np.uint64(1)) << np.uint64(32)
                    )
                    missed[b] += np.int64(both)
        for k in range(n_planes):
            left[k] = (left[k] & ~training[p]) | (class_bits[row, k] & training[p])


@njit(
    "void(int64[::1], int32[::1], float64[::1], int64[::1], uint64[:, :, ::1], uint64[:, ::1], int64[::1], uint64[::1],"
    " uint64[:, ::1], uint64[:, ::1], int64, int64, float64[:, :])",
    cache=True,
    nogil=True,
    error_model="numpy",
)
def class_differences(
    starts, rows, values, classes, lines, totals, n_of_class, training_bits, class_bits, receiver_bits, lane_bits,
    n_test, differences,
):  # fmt: skip
    """Fill `differences`, (d, B): the log-loss after minus before permuting a column, for its tree in each repeat.

    Column j lists the rows from ``starts[j]`` on, with ascending `values`; unlisted rows are zero, and then no listed
    row is. `classes`, (n,), are 0 .. K - 1, of which there are `n_of_class`, (K,).

    `lines`, (n, K, words), has one number per repeat in lanes of `lane_bits` bits (16 or 32, to hold n): line 0 has 1
    for a training row, line k has 1 for a test row if the row that gets its value by the permutation has class k.
    `totals`, (2 K - 1, words), sums lanes over rows: training rows by class, and lines 1 .. K - 1. `training_bits`,
    (n,), has one bit per repeat, B <= 64. `class_bits` and `receiver_bits`, (n, planes), hold for all repeats the bits
    of the class code of the row, and of the row that gets its value. `n_test` is the number of test rows of a repeat.
    """
    n, n_classes, n_words = lines.shape
    n_repeats = differences.shape[1]
    every = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - n_repeats)
    lanes = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - lane_bits)
    training, left = np.empty(n, dtype=np.uint64), np.empty(class_bits.shape[1], dtype=np.uint64)
    right = np.empty(class_bits.shape, dtype=np.uint64)
    missed = np.empty(n_repeats, dtype=np.int64)
    first, leaf = np.empty(n + 2, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    group_values = np.empty(n + 1, dtype=np.float64)
    counts = np.empty((16, 2 * n_classes - 1, n_words), dtype=np.uint64)
    n_rows = np.empty((16, n_classes), dtype=np.int64)
    sizes = np.empty(n + 1, dtype=np.int64)
    trained, own, received = np.empty((3, n_classes), dtype=np.int64)
    sums = np.empty((2, 2), dtype=np.float64)
    for j in range(len(starts) - 1):
        listed, listed_values = rows[starts[j] : starts[j + 1]], values[starts[j] : starts[j + 1]]
        if len(listed) == n and values_tell_classes(listed, listed_values, classes):
            count_missed(
                listed, listed_values, every, training_bits, class_bits, receiver_bits, training, right, left, missed
            )
            for b in range(n_repeats):
                sums[:] = 0.0
                add_times(sums, 0, missed[b] & 0xFFFFFFFF, LARGEST_LOSS)
                add_times(sums, 1, missed[b] >> 32, LARGEST_LOSS)
                differences[j, b] = difference_of_means(sums, n_test)
            continue
        n_groups, of_rest = part_into_groups(listed_values, n - len(listed), first, group_values)
        if n_groups > len(counts):
            counts = np.empty((min(2 * n_groups, n + 1), 2 * n_classes - 1, n_words), dtype=np.uint64)
            n_rows = np.empty((len(counts), n_classes), dtype=np.int64)
        for g in range(n_groups):
            count_rows(listed, first[g], first[g + 1], classes, lines, counts, n_rows, g)
        if of_rest >= 0:
            count_rest(n_groups, of_rest, totals, n_of_class, counts, n_rows)
        for b in range(n_repeats):
            word, shift = b * lane_bits // 64, np.uint64(b * lane_bits % 64)
            lane = (word, shift, lanes)
            if changes_nothing(counts, n_rows, n_groups, lane):
                differences[j, b] = 0.0
                continue
            for g in range(n_groups):
                sizes[g] = 0
                for c in range(n_classes):
                    sizes[g] += np.int64((counts[g, c, word] >> shift) & lanes)
            find_leaves(group_values, n_groups, sizes, leaf)
            differences[j, b] = difference_of_groups(
                counts, n_rows, lane, leaf, n_groups, n_test, trained, own, received, sums
            )


@njit(
    "void(int64[::1], int32[::1], float64[::1], boolean[:, ::1], int64[::1], int64[:, ::1], int64[::1], int64, float64,"
    " float64[:, :])",
    cache=True,
    nogil=True,
    error_model="numpy",
)
def number_differences(starts, rows, values, is_train, numbers, shifts, totals, n_test, unit, differences):
    """Fill `differences`, (d, B): the squared error after minus before permuting a column, for its tree in each repeat.

    Permuting changes neither the sum of squared targets nor of squared predictions, so the difference is twice the sum
    of prediction times target, before minus after. Targets are integers, so that sums do not depend on the order of
    rows, or on whether unlisted rows are subtracted from the total.

    `starts`, `rows` and `values` are as in `class_differences`; `is_train` is (B, n). `numbers`, (n,), is the target
    minus a constant, in steps of `unit`. `shifts`, (B, n), is a test row's number minus that of the row that gets its
    value, 0 for training rows. `totals`, (B,), sums the training rows' numbers.
    """
    n_repeats, n = is_train.shape
    first, leaf = np.empty(n + 2, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    group_values = np.empty(n + 1, dtype=np.float64)
    sizes, sums, shift = np.empty((3, n + 1), dtype=np.int64)
    for j in range(len(starts) - 1):
        listed = rows[starts[j] : starts[j + 1]]
        n_groups, of_rest = part_into_groups(values[starts[j] : starts[j + 1]], n - len(listed), first, group_values)
        for b in range(n_repeats):
            n_trained, total, shifted = 0, 0, 0
            for g in range(n_groups):
                sizes[g] = sums[g] = shift[g] = 0
                for row in listed[first[g] : first[g + 1]]:
                    if is_train[b, row]:
                        sizes[g] += 1
                        sums[g] += numbers[row]
                    shift[g] += shifts[b, row]
                n_trained += sizes[g]
                total += sums[g]
                shifted += shift[g]
            if of_rest >= 0:
                sizes[of_rest], sums[of_rest], shift[of_rest] = n - n_test - n_trained, totals[b] - total, -shifted
            find_leaves(group_values, n_groups, sizes, leaf)
            for g in range(n_groups):
                if leaf[g] != g:
                    shift[leaf[g]] += shift[g]
            difference = 0.0
            for g in range(n_groups):
                if leaf[g] == g:
                    difference += (sums[g] * unit) / sizes[g] * (shift[g] * unit)
            differences[j, b] = 2.0 * difference / n_test
