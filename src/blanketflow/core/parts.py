"""Divides rows into similar parts, for cross-validation inside a method and for the inner folds of a split."""

from __future__ import annotations

import numpy as np

from .errors import DataError

#: What an inner fold works on: all rows but its part, or its part.
FOLD_ROWS = ("train", "part")
#: Outer splits of which each holds out one group, and the most groups: each has a whole search.
LEAVE_GROUP_OUT = "leave-group-out"
MOST_GROUPS = 100
#: Parts of the training rows for the score at the groups that were not held out.
SEEN_PARTS = 5


def balanced_parts(
    target: np.ndarray, n_parts: int, rng: np.random.Generator, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return each row's part: rows are dealt out in the order of the target, equal ones in random order.

    The target holds numbers or codes, shape (n,) or (n, m); of several columns the last one orders first. Parts are 0
    .. n_parts - 1, shape (n,). Rows with equal numbers in `groups`, (n,), are in one part: then groups are dealt out in
    the order of their mean target, and there are no more parts than groups. Raises `DataError` for a single group.

    Examples
    --------
    >>> parts = balanced_parts(np.array([1, 0, 1, 0]), 2, np.random.default_rng(0))
    >>> sorted(parts[[0, 2]].tolist()), sorted(parts[[1, 3]].tolist())
    ([0, 1], [0, 1])
    >>> balanced_parts(np.array([1, 1, 0, 0]), 2, np.random.default_rng(0), np.array([7, 7, 3, 3])).tolist()
    [1, 1, 0, 0]
    """
    if groups is not None:
        numbers = numbers_of(groups)
        sums = np.array([np.bincount(numbers, weights=key) for key in target.reshape(len(target), -1).T])
        return balanced_parts(np.round(sums / np.bincount(numbers), 12).T, n_parts, rng)[numbers]
    keys = target.reshape(len(target), -1)
    parts = np.empty(len(target), dtype=np.int64)
    parts[np.lexsort([rng.random(len(target)), *keys.T])] = np.arange(len(target)) % n_parts
    return parts


def numbers_of(groups: np.ndarray) -> np.ndarray:
    """Return the groups of rows as numbers from 0 on, (n,); raises `DataError` if rows cannot be held out by them.

    Examples
    --------
    >>> numbers_of(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    numbers = np.unique(groups, return_inverse=True)[1]
    if not numbers.any():
        raise DataError("rows are held out by groups, and all are of one group. Give more groups, or none.")
    return numbers
