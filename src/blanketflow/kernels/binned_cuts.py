"""The best cut of a binned column, Gini or squared error, in three passes so that the second vectorises."""

from __future__ import annotations

import numpy as np
from numba import njit


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
