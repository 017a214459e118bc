"""Contingency tables with far more cells than rows: only occurring cells are stored, found by sorting."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .contingency import pearson_scale
from .strata import rank_keys


@njit
def _rank(keys):
    """Return the rank of each key among the distinct keys, and the number of distinct keys."""
    ranks = np.empty(len(keys), dtype=np.int64)
    return ranks, rank_keys(keys, ranks)


@njit
def _sizes(ranks, count):
    sizes = np.zeros(count, dtype=np.int64)
    for rank in ranks:
        sizes[rank] += 1
    return sizes


@njit
def _fixed_sum(sizes, scale):
    """Return the sum of c log c in fixed point, independent of its order."""
    total = np.int64(0)
    for size in sizes:
        total += np.int64(round(size * math.log(size) * scale))
    return total


@njit
def _levels_by_stratum(ranks, strata, count, n_strata):
    """Return the number of distinct values in each stratum."""
    seen = np.zeros(count, dtype=np.bool_)
    levels = np.zeros(n_strata, dtype=np.int64)
    for i in range(len(ranks)):
        if not seen[ranks[i]]:
            seen[ranks[i]] = True
            levels[strata[i]] += 1
    return levels


@njit(
    "Tuple((float64, float64))(int64[::1], int64, int64[::1], int64, int64[::1], int64, float64, boolean)",
    cache=True,
    nogil=True,
)
def thin_table_statistic(x, n_x, y, n_y, strata, n_strata, scale, pearson):
    """Return G2, or Pearson's X2 if `pearson`, and the adjusted degrees of freedom of one pair.

    Codes `x`, `y` and `strata`, (n,), count from 0; `scale` is the fixed-point steps per unit for G2. Takes O(n log n)
    time and O(n) memory, whatever the number of cells.
    """
    x_rank, n_x_rank = _rank(strata * n_x + x)
    y_rank, n_y_rank = _rank(strata * n_y + y)
    both_rank, n_both = _rank(x_rank * n_y_rank + y_rank)
    x_size, y_size, both_size = _sizes(x_rank, n_x_rank), _sizes(y_rank, n_y_rank), _sizes(both_rank, n_both)
    stratum_size = _sizes(strata, n_strata)
    x_levels = _levels_by_stratum(x_rank, strata, n_x_rank, n_strata)
    y_levels = _levels_by_stratum(y_rank, strata, n_y_rank, n_strata)
    freedom = 0.0
    for s in range(n_strata):
        if stratum_size[s]:
            freedom += (x_levels[s] - 1.0) * (y_levels[s] - 1.0)
    if freedom == 0.0:
        return 0.0, 0.0
    if not pearson:
        occupied = stratum_size[stratum_size > 0]
        total = _fixed_sum(both_size, scale) - _fixed_sum(x_size, scale)
        total += _fixed_sum(occupied, scale) - _fixed_sum(y_size, scale)
        return max(2.0 * (total / scale), 0.0), freedom
    scale, total = pearson_scale(len(x), min(n_x, n_y)), np.int64(0)
    seen = np.zeros(n_both, dtype=np.bool_)
    for i in range(len(x)):
        if not seen[both_rank[i]]:
            seen[both_rank[i]] = True
            count, n = float(both_size[both_rank[i]]), float(stratum_size[strata[i]])
            term = count * count / (float(x_size[x_rank[i]]) * float(y_size[y_rank[i]])) * n
            total += np.int64(round(term * scale))
    return max(total / scale - len(x), 0.0), freedom
