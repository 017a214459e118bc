"""Errors of a tree on one column whose values determine the class, from the nearest training row, for 64 repeats."""

from __future__ import annotations

import numpy as np

from .best_cut import between
from .value_groups import inlined


@inlined
def _decide(undecided, p, values, training):
    """Return the repeats in which the training row after position p is nearer than the training row before it."""
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
    """Count in all repeats the test rows whose nearest training row has another class.

    The values of the column must determine the class. `every` has one bit per repeat; rows, values and bits are those
    of `class_differences`, with all rows listed. `training`, (n,), `right`, (n, planes), and `left`, (planes,), are
    scratch. `missed`, (B,), is written: rows that are missed, and 2^32 times the rows that are missed when the column
    is permuted.
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
