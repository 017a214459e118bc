"""A target in the form that the kernels of trees read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.table import Column


class TargetArrays(NamedTuple):
    """What a tree predicts.

    Attributes
    ----------
    classes : int64 array of shape (n,)
        Class codes; zeros for regression.
    numbers : float64 array of shape (n,)
        The column as numbers.
    n_classes : int
        0 for regression.
    """

    classes: np.ndarray
    numbers: np.ndarray
    n_classes: int


def target_arrays(column: Column) -> TargetArrays:
    """Return the arrays of a target column."""
    numbers = np.array(column.numbers())  # a copy: the columns of a data frame are read-only
    if not column.is_discrete:
        return TargetArrays(np.zeros(len(numbers), dtype=np.int64), numbers, 0)
    codes = numbers.astype(np.int64)
    return TargetArrays(codes, numbers, int(codes.max()) + 1)
