"""Where a tree cuts one column at one node: Gini for classes, squared error for numbers.

Cuts of classes are scored by whole numbers and one rounded division, cuts of numbers in steps of about 2^-32 of the
node's sum of squares, so that equal cuts compare as equal. The first maximum wins, that is the lowest threshold.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit
def _scan_classes(rows, codes, first, length, step, beyond, n_node, classes, counts, near, far):
    """Return (score, code before, code after) of the best cut among some entries of one column, score -1 for none.

    The entries are read upwards (step 1) or downwards (step -1); `beyond` is the code that comes after the last one.
    """
    squares_near, squares_far = np.int64(0), np.int64(0)
    for c in range(len(counts)):
        near[c], far[c] = 0, counts[c]
        squares_far += counts[c] * counts[c]
    best, best_here, best_next = -1.0, 0, 0
    i = first
    for n_near in range(1, length + 1):
        c = classes[rows[i]]
        squares_near += 2 * near[c] + 1
        squares_far -= 2 * far[c] - 1
        near[c] += 1
        far[c] -= 1
        here = codes[i]
        i += step
        after = codes[i] if n_near < length else beyond
        if here != after:
            n_far = n_node - n_near
            score = float(squares_near * n_far + squares_far * n_near) / float(n_near * n_far)
            if score > best or (step < 0 and score == best):
                best, best_here, best_next = score, here, after
    return best, best_here, best_next


@njit
def _scan_two_classes(rows, codes, first, length, step, beyond, n_node, classes, n_ones):
    """Do what `_scan_classes` does, for classes 0 and 1."""
    best, best_here, best_next = -1.0, 0, 0
    ones = np.int64(0)
    i = first
    for n_near in range(1, length + 1):
        ones += classes[rows[i]]
        here = codes[i]
        i += step
        after = codes[i] if n_near < length else beyond
        if here != after:
            n_far = n_node - n_near
            zeros, ones_far = n_near - ones, n_ones - ones
            zeros_far = n_far - ones_far
            squares_near, squares_far = ones * ones + zeros * zeros, ones_far * ones_far + zeros_far * zeros_far
            score = float(squares_near * n_far + squares_far * n_near) / float(n_near * n_far)
            if score > best or (step < 0 and score == best):
                best, best_here, best_next = score, here, after
    return best, best_here, best_next


@njit
def _scan_numbers(rows, codes, first, length, step, beyond, n_node, target, mean, grain):
    """Do what `_scan_classes` does, for numbers."""
    best, best_here, best_next = -1.0, 0, 0
    near = 0.0
    i = first
    for n_near in range(1, length + 1):
        near += target[rows[i]] - mean
        here = codes[i]
        i += step
        after = codes[i] if n_near < length else beyond
        if here != after:
            # Around the node's mean the far sum is the negative of the near one.
            score = np.rint(near * near * n_node / (float(n_near) * float(n_node - n_near)) / grain)
            if score > best or (step < 0 and score == best):
                best, best_here, best_next = score, here, after
    return best, best_here, best_next


@njit
def best_cut(rows, codes, start, stop, background, n_node, classes, counts, near, far, target, mean, grain):
    """Return (score, code below, code above) of a column's best cut at a node, score -1 where it is constant there.

    Cuts below the background are scored from the lowest code upwards, those above it from the highest downwards.
    """
    low, high = start, stop
    if stop - start < n_node:  # some rows of the node have the background
        while high > low:
            middle = (low + high) // 2
            if codes[middle] < background:
                low = middle + 1
            else:
                high = middle
    else:
        low = stop
    beyond = background if stop - start < n_node else codes[stop - 1]
    if len(counts) == 2:
        up = _scan_two_classes(rows, codes, start, low - start, 1, beyond, n_node, classes, counts[1])
        down = _scan_two_classes(rows, codes, stop - 1, stop - low, -1, beyond, n_node, classes, counts[1])
    elif len(counts) > 0:
        up = _scan_classes(rows, codes, start, low - start, 1, beyond, n_node, classes, counts, near, far)
        down = _scan_classes(rows, codes, stop - 1, stop - low, -1, beyond, n_node, classes, counts, near, far)
    else:
        up = _scan_numbers(rows, codes, start, low - start, 1, beyond, n_node, target, mean, grain)
        down = _scan_numbers(rows, codes, stop - 1, stop - low, -1, beyond, n_node, target, mean, grain)
    return (down[0], down[2], down[1]) if down[0] > up[0] else up
