"""Which columns are near-copies of each other: numbers that are nearly proportional, and labels under other names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from .numerics import standardised
from .table import Table

#: Two columns are near-copies from this absolute correlation on.
NEAR = 0.95
#: Columns that are correlated with all others at a time.
BLOCK = 256


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
    numbers = [i for i, name in enumerate(names) if not table[name].is_discrete or len(table[name].levels) <= 2]
    columns = standardised(table.matrix([names[i] for i in numbers]).T)
    found = [[numbers[j] for j in cluster] for cluster in nearly_equal(columns, NEAR)]
    renamed: dict[bytes, list[int]] = {}
    for i in sorted(set(range(len(names))) - set(numbers)):
        renamed.setdefault(without_names(table[names[i]].numbers()), []).append(i)
    return [cluster for cluster in (*found, *renamed.values()) if len(cluster) > 1]


def nearly_equal(columns: np.ndarray, near: float) -> list[list[int]]:
    """Return the clusters of columns whose absolute correlation with the first one of their cluster is at least `near`.

    `columns`, shape (m, n), are `standardised`. A cluster may have one column.
    """
    found, left = [], np.ones(len(columns), dtype=bool)
    for start in range(0, len(columns), BLOCK):
        block = start + np.flatnonzero(left[start : start + BLOCK])
        correlations = columns[block] @ columns[start:].T
        for i, is_near in zip(block.tolist(), np.abs(correlations, out=correlations) >= near, strict=True):
            if left[i]:
                is_near &= left[start:]
                is_near[i - start] = True
                found.append((start + np.flatnonzero(is_near)).tolist())
                left[found[-1]] = False
    return found


def without_names(cells: np.ndarray) -> bytes:
    """Return a digest of a column's cells, shape (n,), that is equal for columns which only rename each other's values.

    Examples
    --------
    >>> without_names(np.array([3, 1, 3])) == without_names(np.array(["a", "b", "a"]))
    True
    """
    _, first, code = np.unique(cells, return_index=True, return_inverse=True)
    return hashlib.blake2b(np.argsort(np.argsort(first))[code].astype(np.int32).tobytes(), digest_size=16).digest()
