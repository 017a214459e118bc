"""Counts how often a target permuted within strata is as dependent on a candidate as the original."""

from __future__ import annotations

import numpy as np
from numba import njit

from .contingency import _count_by_lists, _fixed, _totals


@njit
def _mixed(state):
    """Return the next state of a splitmix64 generator and its output."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, z ^ (z >> np.uint64(31))


@njit
def _shuffle(values, start, stop, state):
    """Permute ``values[start:stop]`` in place (Fisher, Yates); return the generator's state."""
    for last in range(stop - 1, start, -1):
        state, drawn = _mixed(state)
        other = start + np.int64(((drawn >> np.uint64(32)) * np.uint64(last - start + 1)) >> np.uint64(32))
        values[last], values[other] = values[other], values[last]
    return state


@njit
def _joint_term(counts, totals, n_cells, r, terms, scale):
    """Return the sum of ``c log c`` over a candidate's table, the only part of G2 that a permutation changes."""
    total = np.int64(0)
    for cell in range(n_cells):
        left = totals[cell]
        if left:
            for code in range(r - 1):
                count = counts[code * n_cells + cell]
                left -= count
                total += _fixed(count, terms, scale)
            total += _fixed(left, terms, scale)
    return total


@njit(
    "void(int32[::1], int64[::1], int64[::1], int64[::1], int32[::1], uint32[::1], int64, int64, int64[::1], float64,"
    "int64[:, ::1], int64[::1], uint64[::1], int64, int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def permutation_exceedances(
    rows, level_start, first_level, n_levels, candidates, cells, n_strata, n_y, terms, scale, members, blocks, seeds,
    enough, exceedances, n_drawn,
):  # fmt: skip
    """Count permutations of the target within blocks whose G2 with a candidate is at least the observed one.

    Counting stops for a candidate at `enough` exceedances; all candidates see the same permutations. Integer sums make
    equal tables tie. Columns are coded as in kernels/strata.py; `terms`, `scale` and `cells`, (n,), are as in
    kernels/contingency.py. `members`, (u, s), and `blocks`, (u,), are the exchangeable units of ci/clusters.py;
    `seeds`, (B,), has one per permutation. Writes `exceedances` and `n_drawn`, the permutations counted, (m,).
    """
    n, n_cells = len(cells), n_strata * n_y
    totals = _totals(cells, n_cells)
    most = 1
    for candidate in candidates:
        most = max(most, n_levels[candidate])
    counts = np.zeros(2 * (most - 1) * n_cells, dtype=np.int32)
    observed = np.empty(len(candidates), dtype=np.int64)
    for i in range(len(candidates)):
        first, r = first_level[candidates[i]], n_levels[candidates[i]]
        _count_by_lists(counts, n_cells, first, r, rows, level_start, cells)
        observed[i] = _joint_term(counts, totals, n_cells, r, terms, scale)
        exceedances[i] = n_drawn[i] = 0

    # Blocks are shuffled in order of appearance, so that names of columns and levels do not matter.
    n_units, size = members.shape
    place, n_found = np.full(blocks.max() + 1, -1, dtype=np.int64), 0
    starts = np.zeros(len(place) + 1, dtype=np.int64)
    for u in range(n_units):
        if place[blocks[u]] < 0:
            place[blocks[u]] = n_found
            n_found += 1
        starts[place[blocks[u]] + 1] += 1
    for s in range(n_found):
        starts[s + 1] += starts[s]
    stops = starts.copy()
    order, permuted = np.empty(n_units, dtype=np.int64), np.empty(n, dtype=np.uint32)
    for u in range(n_units):
        s = place[blocks[u]]
        order[stops[s]] = u
        stops[s] += 1
    n_active = len(candidates)
    for seed in seeds:
        if not n_active:
            break
        drawn, state = order.copy(), seed
        for s in range(n_found):
            state = _shuffle(drawn, starts[s], starts[s + 1], state)
        for u in range(n_units):
            for k in range(size):
                permuted[members[order[u], k]] = cells[members[drawn[u], k]]
        for i in range(len(candidates)):
            if exceedances[i] < enough:
                first, r = first_level[candidates[i]], n_levels[candidates[i]]
                _count_by_lists(counts, n_cells, first, r, rows, level_start, permuted)
                n_drawn[i] += 1
                if _joint_term(counts, totals, n_cells, r, terms, scale) >= observed[i]:
                    exceedances[i] += 1
                    n_active -= exceedances[i] == enough
