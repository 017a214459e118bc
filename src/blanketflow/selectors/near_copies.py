"""Which features are near-copies of each other, for methods that would share out between them what they say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.spread import standardised
from ..core.table import Table

#: Two columns are near-copies from this absolute correlation on.
NEAR = 0.95


def clusters_of_copies(table: Table, names: Sequence[str]) -> list[list[int]]:
    """Return the clusters of two or more columns that are near-copies of the first one of each, as positions.

    Numbers, and labels of two levels, are if their absolute correlation is at least `NEAR`; other labels if they only
    rename its levels.

    Parameters
    ----------
    table : Table
        Rows without missing cells.
    names : sequence of str
        The columns to look at. Costs the product of all pairs of them.

    Returns
    -------
    list of list of int
        Positions in `names`, ascending.

    Examples
    --------
    >>> from blanketflow.core.convert import as_table
    >>> clusters_of_copies(as_table(np.array([[0.0, 1, 0], [1, -1, 2], [2, -3, 1]])), ["x0", "x1", "x2"])
    [[0, 1]]
    """
    found: dict[int | bytes, list[int]] = {}
    numbers = [i for i, name in enumerate(names) if not table[name].is_discrete or len(table[name].levels) <= 2]
    columns = standardised(table.matrix([names[i] for i in numbers]).T)
    left = np.ones(len(numbers), dtype=bool)
    for at, i in enumerate(numbers):
        if left[at]:
            near = left & (np.abs(columns @ columns[at]) >= NEAR)
            near[at] = True
            found[i] = [numbers[j] for j in np.flatnonzero(near).tolist()]
            left &= ~near
    for i in sorted(set(range(len(names))) - set(numbers)):
        _, first, code = np.unique(table[names[i]].numbers(), return_index=True, return_inverse=True)
        found.setdefault(np.argsort(np.argsort(first))[code].astype(np.int32).tobytes(), []).append(i)
    return [cluster for cluster in found.values() if len(cluster) > 1]
