"""Subsets in lexicographic order, without those whose product of widths is too large."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("float64(int64, int64)", cache=True)
def _n_subsets(n, size):
    """Return the number of subsets of a size; exact up to 2**53."""
    found = 1.0
    for i in range(size):
        found = found * (n - i) / (i + 1)
    return found if n >= size >= 0 else 0.0


@njit("boolean(int64[::1], float64[::1], int64[::1], float64, float64, float64[::1])", cache=True)
def advance(chosen, widths, n_asked_from, n_asked, most, n_not_made):
    """Advance `chosen`, (size,), initially -1, to the next subset whose widths multiply to at most `most`; False at the
    end.

    Each skipped subset adds to ``n_not_made[0]`` the number of tested columns outside it: `n_asked` in total, of which
    `n_asked_from`, (n + 1,), are at each place or later. If the first places are too wide, all subsets that begin with
    them are skipped together.
    """
    n, size = len(widths), len(chosen)
    products = np.empty(size + 1)
    products[0] = 1.0
    n_inside = np.zeros(size + 1)
    depth = 0
    if chosen[0] >= 0:
        for k in range(size - 1):
            products[k + 1] = products[k] * widths[chosen[k]]
            n_inside[k + 1] = n_inside[k] + n_asked_from[chosen[k]] - n_asked_from[chosen[k] + 1]
        depth = size - 1
    chosen[depth] += 1
    while True:
        at = chosen[depth]
        if at > n - size + depth:
            if depth == 0:
                return False
            depth -= 1
            chosen[depth] += 1
            continue
        products[depth + 1] = products[depth] * widths[at]
        n_inside[depth + 1] = n_inside[depth] + n_asked_from[at] - n_asked_from[at + 1]
        if products[depth + 1] > most:
            n_rest, n_open = n - 1 - at, size - 1 - depth
            n_sets = _n_subsets(n_rest, n_open)
            n_not_made[0] += n_sets * (n_asked - n_inside[depth + 1])
            n_not_made[0] -= n_asked_from[at + 1] * _n_subsets(n_rest - 1, n_open - 1)
            chosen[depth] += 1
            continue
        if depth == size - 1:
            return True
        depth += 1
        chosen[depth] = at + 1
