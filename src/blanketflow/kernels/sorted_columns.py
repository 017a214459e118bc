"""Columns in ascending order of value, without the rows of their most frequent value, from which trees are grown.

Values become codes, 0 for the smallest. A column's entries are the rows of all codes except the background: zero in a
sparse column, else the most frequent value if at least half of the rows have it. So binary, sparse and count columns
have few entries. All columns are concatenated: `entries`, int64 with a row in the lower `SHIFT` bits and a code above
them, ascending by code, then row; `starts`, (d + 1,), of each column's entries; `background`, (d,), the omitted code,
-1 for none; `levels`, the value of each code; `level_starts`, (d + 1,).
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: An entry has a row in these lower bits, and a code above them.
SHIFT = 32
ROW = (1 << SHIFT) - 1
#: Probabilities are clipped to this before taking the logarithm of the log-loss.
SMALLEST_PROBABILITY = 1e-15
#: Integers below 2^53 are exact as floats, as are the cubes of row counts up to this.
MOST_ROWS_IN_FLOATS = 200_000


@njit(
    "void(int64[::1], int32[::1], float64[::1], int64, int64[::1], int64[::1], int32[::1], float64[::1], int64[::1])",
    cache=True,
)
def sort_columns(list_starts, rows, values, n, entries, n_entries, background, levels, n_levels):
    """Fill the arrays from `entries` on (see the module) for columns of n rows, given lists as in `ColumnLists`.

    Rows of equal values are sorted. Arrays need room for all listed rows, and for one additional level per column.
    Unlisted rows have the value zero and are always the background.
    """
    filled, level = 0, 0
    for j in range(len(list_starts) - 1):
        start, stop = list_starts[j], list_starts[j + 1]
        first_entry, first_level = filled, level
        is_zero_due = stop - start < n
        background[j] = -1
        most, i = 0, start
        while i < stop or is_zero_due:
            if is_zero_due and (i == stop or values[i] > 0.0):
                background[j] = level - first_level
                levels[level] = 0.0
                level += 1
                is_zero_due = False
                continue
            begin = i
            while i < stop and values[i] == values[begin]:
                i += 1
            if i - begin > 1:
                rows[begin:i].sort()
            if stop - start == n and i - begin > most and 2 * (i - begin) >= n:
                most, background[j] = i - begin, level - first_level
            for k in range(begin, i):
                entries[filled] = (level - first_level) << SHIFT | rows[k]
                filled += 1
            levels[level] = values[begin]
            level += 1
        if most > 0:  # the background is among the entries: close up
            kept = first_entry
            for k in range(first_entry, filled):
                if entries[k] >> SHIFT != background[j]:
                    entries[kept] = entries[k]
                    kept += 1
            filled = kept
        n_entries[j], n_levels[j] = filled - first_entry, level - first_level


# --- the best cut of a column at a tree node, by Gini (classes) or squared error (numbers) ----------------------------
#
# Class cuts are scored with integers and one rounded division, number cuts in steps of about 2^-32 of the node's sum of
# squares, so that equal cuts tie exactly. The first maximum, the lowest threshold, wins. Three passes (sums, scores,
# maximum) let the second one vectorise.


@njit
def between(low, high):
    """Return the threshold halfway between two values: rows at most this go left, and rows of `high` never do."""
    middle = 0.5 * low + 0.5 * high
    return low if middle >= high else middle


@njit
def _sum_classes(entries, first, length, step, n_node, classes, counts, near, far, sums):
    """Fill the numerators of the cuts behind each entry: squares of near counts times far rows, and conversely."""
    squares_near, squares_far = np.int64(0), np.int64(0)
    for c in range(len(counts)):
        near[c], far[c] = 0, counts[c]
        squares_far += counts[c] * counts[c]
    i = first
    for t in range(length):
        c = classes[entries[i] & ROW]
        squares_near += 2 * near[c] + 1
        squares_far -= 2 * far[c] - 1
        near[c] += 1
        far[c] -= 1
        sums[t] = float(squares_near * (n_node - t - 1) + squares_far * (t + 1))
        i += step


@njit
def _sum_ones(entries, first, length, step, classes, sums):
    ones, i = np.int64(0), first
    for t in range(length):
        ones += classes[entries[i] & ROW]
        sums[t] = ones
        i += step


@njit
def _sum_numbers(entries, first, length, step, target, mean, sums):
    """Fill the sums of the target around the node's mean up to each entry."""
    near, i = 0.0, first
    for t in range(length):
        near += target[entries[i] & ROW] - mean
        sums[t] = near
        i += step


@njit(error_model="numpy")
def _score_two_classes(sums, length, n_node, n_ones, counting, scores):
    """Fill scores of cuts from the rows of class 1 up to each entry."""
    for t in range(length):
        ones, n_near = sums[t], counting[t]
        zeros, n_far, ones_far = n_near - ones, n_node - n_near, n_ones - ones
        zeros_far = n_far - ones_far
        squares_near, squares_far = ones * ones + zeros * zeros, ones_far * ones_far + zeros_far * zeros_far
        scores[t] = (squares_near * n_far + squares_far * n_near) / (n_near * n_far)


@njit(error_model="numpy")
def _score_classes(sums, length, n_node, counting, scores):
    for t in range(length):
        scores[t] = sums[t] / (counting[t] * (n_node - counting[t]))


@njit(error_model="numpy")
def _score_numbers(sums, length, n_node, grain, counting, scores):
    """Fill scores of cuts from these sums; around the node's mean the far sum is the negative of the near sum."""
    for t in range(length):
        scores[t] = np.rint(sums[t] * sums[t] * n_node / (counting[t] * (n_node - counting[t])) / grain)


@njit
def _best(scores, length, entries, first, step, beyond):
    """Return (score, code before, code after) of the best cut between two codes, score -1 for none."""
    best, best_here, best_next = -1.0, 0, 0
    for t in range(length):
        if scores[t] > best or (step < 0 and scores[t] == best):
            i = first + t * step
            here, after = entries[i] >> SHIFT, entries[i + step] >> SHIFT if t + 1 < length else beyond
            if here != after:
                best, best_here, best_next = scores[t], here, after
    return best, best_here, best_next


@njit
def _scan(entries, first, length, step, beyond, node, answers, scratch):
    """Return (score, code before, code after) of the best cut, score -1 for none, with steps 1 or -1 up to `beyond`."""
    n_node, counts, mean, grain = node
    classes, target = answers
    near, far, counting, sums, scores = scratch
    if len(counts) == 2 and n_node <= MOST_ROWS_IN_FLOATS:
        _sum_ones(entries, first, length, step, classes, sums)
        _score_two_classes(sums, length, float(n_node), float(counts[1]), counting, scores)
    elif len(counts) > 0:
        _sum_classes(entries, first, length, step, n_node, classes, counts, near, far, sums)
        _score_classes(sums, length, float(n_node), counting, scores)
    else:
        _sum_numbers(entries, first, length, step, target, mean, sums)
        _score_numbers(sums, length, float(n_node), grain, counting, scores)
    return _best(scores, length, entries, first, step, beyond)


@njit
def best_cut(entries, start, stop, background, node, answers, scratch):
    """Return (score, code below, code above) of a column's best cut at a node, score -1 if it is constant there.

    The node's entries are those from `start` to `stop`; its other rows have the code `background`. Cuts below it are
    scored upwards, cuts above it downwards. `node` holds the numbers of rows and of each class, (n_classes,), the
    target's mean and the score step; `answers` every row's class and number, (n,); `scratch` near and far counts,
    (n_classes,), the numbers 1, 2, ..., sums and scores, (n,).
    """
    low, has_background = stop, stop - start < node[0]
    if has_background:
        low, high = start, stop
        while high > low:
            middle = (low + high) // 2
            if entries[middle] >> SHIFT < background:
                low = middle + 1
            else:
                high = middle
    beyond = background if has_background else entries[stop - 1] >> SHIFT
    up = _scan(entries, start, low - start, 1, beyond, node, answers, scratch)
    if low == stop:
        return up
    down = _scan(entries, stop - 1, stop - low, -1, beyond, node, answers, scratch)
    return (down[0], down[2], down[1]) if down[0] > up[0] else up
