"""How well one column alone predicts the target, by leave-one-out; nearly perfect columns are suspected leaks."""

from __future__ import annotations

import numpy as np

from ...core.cards import CATEGORICAL
from ...core.table import Column

#: A column that alone explains a larger share of the target is suspected.
SUSPECT_SHARE = {"classification": 0.98, "regression": 0.99}


def told_by(column: Column, target: Column) -> float:
    """Return the share of the target that one column explains: 1 for all of it, 0 or less for nothing.

    Each row is predicted from the other rows with the same value, or, if there are none, from the nearest value. For
    classes the share is (accuracy - b) / (1 - b), where b is the share of the largest class; for numbers it is R2. A
    missing cell counts as a value, since it can be informative too.

    Examples
    --------
    >>> y = Column("y", "categorical", np.arange(40) % 2, ("no", "yes"))
    >>> told_by(Column("x", "numeric", np.arange(40) % 2 + np.linspace(0, 0.1, 40)), y)
    1.0
    """
    values = column.numbers()
    missing = values < 0 if column.kind == CATEGORICAL else np.isnan(values)
    distinct, code = np.unique(values[~missing], return_inverse=True)
    groups = np.full(len(values), len(distinct), dtype=np.int64)  # missing cells come last
    groups[~missing] = code
    nearest = None if column.kind == CATEGORICAL else _nearest(distinct)
    if target.kind == CATEGORICAL:
        return _classes_told(groups, nearest, np.asarray(target.values), len(target.levels))
    return _numbers_told(groups, nearest, target.numbers())


def _nearest(distinct: np.ndarray) -> np.ndarray:
    """Return the position of the nearest other value for each of k ascending values, shape (k,); -1 if k is 1."""
    if len(distinct) < 2:
        return np.full(len(distinct), -1)
    gaps = np.diff(distinct)
    before, after = np.concatenate(([np.inf], gaps)), np.concatenate((gaps, [np.inf]))
    return np.arange(len(distinct)) + np.where(before <= after, -1, 1)


def _classes_told(groups: np.ndarray, nearest: np.ndarray | None, y: np.ndarray, n_classes: int) -> float:
    shape = (int(groups.max()) + 1, n_classes)
    counts = np.bincount(groups * n_classes + y, minlength=shape[0] * shape[1]).reshape(shape)
    first, top = counts.argmax(axis=1), counts.max(axis=1)
    rival = np.where(np.arange(n_classes) == first[:, None], -1, counts).max(axis=1, initial=0)
    right = (first[groups] == y) & (top[groups] - 1 > rival[groups])
    if nearest is not None:
        alone = np.flatnonzero((counts.sum(axis=1) == 1)[groups] & (groups < len(nearest)))
        by = nearest[groups[alone]]
        right[alone] = (by >= 0) & (first[by] == y[alone])
    largest = np.bincount(y).max() / len(y)
    return float((right.mean() - largest) / (1 - largest)) if largest < 1 else 0.0


def _numbers_told(groups: np.ndarray, nearest: np.ndarray | None, y: np.ndarray) -> float:
    sums, sizes = np.bincount(groups, weights=y), np.bincount(groups)
    total = float(((y - y.mean()) ** 2).sum())
    predicted = np.full(len(y), y.mean())
    shared = sizes[groups] > 1
    predicted[shared] = (sums[groups[shared]] - y[shared]) / (sizes[groups[shared]] - 1)
    if nearest is not None:
        alone = np.flatnonzero(~shared & (groups < len(nearest)))
        by = nearest[groups[alone]]
        known = by >= 0
        predicted[alone[known]] = sums[by[known]] / sizes[by[known]]
    return 1 - float(((y - predicted) ** 2).sum()) / total if total else 0.0
