"""A target as arrays for the kernels of trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.table import Column
from ..models.magnitudes import moderated


class TargetArrays(NamedTuple):
    """The target of a tree.

    Attributes
    ----------
    classes : int64 array of shape (n,)
        Class codes; zeros for regression.
    numbers : float64 array of shape (n,)
        The column as numbers, scaled by a power of two if they are huge or tiny.
    n_classes : int
        Number of classes; 0 for regression.
    """

    classes: np.ndarray
    numbers: np.ndarray
    n_classes: int


def target_arrays(column: Column) -> TargetArrays:
    """Return the arrays of a target column."""
    numbers = np.array(moderated(column))  # a copy: the columns of a data frame are read-only
    if not column.is_discrete:
        return TargetArrays(np.zeros(len(numbers), dtype=np.int64), numbers, 0)
    codes = numbers.astype(np.int64)
    return TargetArrays(codes, numbers, int(codes.max()) + 1)


def unit_of_errors(numbers: np.ndarray) -> float:
    """Return the variance of a numeric target, by which squared errors are divided; 1 if it is constant.

    Errors, and the rounding that decides ties, then do not depend on the unit of the target.

    Examples
    --------
    >>> unit_of_errors(np.array([1.0, 3.0])), unit_of_errors(np.array([7.0, 7.0]))
    (1.0, 1.0)
    """
    return float(np.var(numbers)) or 1.0
