"""Codes sets of columns as one column each, for tests of a set as one joint variable."""

from __future__ import annotations

import numpy as np
from numba import njit

from .strata import stratify


@njit(
    "Tuple((int32[::1], int64[::1], int64[::1], int64[::1]))"
    "(int32[::1], int64[::1], int32[::1], int64[::1], int64[::1], int64[::1], int64)",
    cache=True,
    nogil=True,
)
def join_columns(members, set_start, rows, level_start, first_level, n_levels, n_rows):
    """Return one coded column of occurring combinations per set, ``members[set_start[i] : set_start[i + 1]]``."""
    m = len(set_start) - 1
    most_lists = np.int64(0)
    for i in range(m):
        combinations = np.int64(1)
        for column in members[set_start[i] : set_start[i + 1]]:
            combinations = min(combinations * n_levels[column], n_rows)
        most_lists += combinations
    joint_rows = np.empty(m * n_rows, dtype=np.int32)
    joint_start = np.zeros(most_lists + 1, dtype=np.int64)
    joint_first, joint_levels = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    n_lists = np.int64(0)
    for i in range(m):
        columns = members[set_start[i] : set_start[i + 1]]
        codes, size, _ = stratify(columns, -1, rows, level_start, first_level, n_levels, n_rows)
        counts = np.zeros(size, dtype=np.int64)
        for code in codes:
            counts[code] += 1
        modal = np.argmax(counts)
        place = np.zeros(size, dtype=np.int64)
        at = joint_start[n_lists]
        joint_first[i], joint_levels[i] = n_lists, 1
        for code in range(size):
            if counts[code] and code != modal:
                place[code] = at
                at += counts[code]
                n_lists += 1
                joint_start[n_lists] = at
                joint_levels[i] += 1
        for row in range(n_rows):
            code = codes[row]
            if code != modal:
                joint_rows[place[code]] = row
                place[code] += 1
    return joint_rows, joint_start, joint_first, joint_levels
