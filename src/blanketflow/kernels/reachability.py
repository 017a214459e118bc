"""The length of the shortest active trail from one node of a directed acyclic graph to every other: d-separation."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("void(int64[::1], int32[::1], int64[::1], int32[::1], int32, int32[::1], int32[::1])", cache=True)
def trail_lengths(parent_start, parents, child_start, children, source, given, lengths):
    """Write `lengths`, (n_nodes,), initially 0: the arcs of the shortest active trail from a source, given others; 0 if
    none.

    Parents of node i are ``parents[parent_start[i]:parent_start[i + 1]]``, and children likewise. The source is not
    given.
    """
    n_nodes = len(parent_start) - 1
    is_given = np.zeros(n_nodes, dtype=np.bool_)
    is_open = np.zeros(n_nodes, dtype=np.bool_)  # given, or an ancestor of a given node: a trail passes a collider here
    waiting = np.empty(2 * n_nodes + 1, dtype=np.int64)
    n_waiting = 0
    for z in given:
        is_given[z] = True
        if not is_open[z]:
            is_open[z] = True
            waiting[n_waiting] = z
            n_waiting += 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        for i in range(parent_start[node], parent_start[node + 1]):
            if not is_open[parents[i]]:
                is_open[parents[i]] = True
                waiting[n_waiting] = parents[i]
                n_waiting += 1
    # Entry 2 i is node i entered from a child (or as the source), 2 i + 1 from a parent; each is entered once, the
    # nearest first.
    length = np.full(2 * n_nodes, -1, dtype=np.int32)
    length[2 * source] = 0
    waiting[0], n_waiting, n_done = 2 * source, 1, 0
    while n_done < n_waiting:
        entry = waiting[n_done]
        n_done += 1
        node, from_parent, next_length = entry // 2, entry % 2 == 1, length[entry] + 1
        if not is_given[node]:
            if node != source and lengths[node] == 0:
                lengths[node] = length[entry]
            for i in range(child_start[node], child_start[node + 1]):
                step = 2 * children[i] + 1
                if length[step] < 0:
                    length[step] = next_length
                    waiting[n_waiting] = step
                    n_waiting += 1
        if (from_parent and is_open[node]) or (not from_parent and not is_given[node]):
            for i in range(parent_start[node], parent_start[node + 1]):
                step = 2 * parents[i]
                if length[step] < 0:
                    length[step] = next_length
                    waiting[n_waiting] = step
                    n_waiting += 1
