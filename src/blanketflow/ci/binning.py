"""From columns to level codes: how discrete tests see numeric columns. Fitted on the rows of the table at hand."""

from __future__ import annotations

import numpy as np

from ..core.cards import INTEGER
from ..core.errors import ParameterError
from ..core.table import Column

#: Whole-number columns with at most this many distinct values are discrete as they are.
FEW_VALUES = 10


def cut_points(values: np.ndarray, bins: int, binning: str) -> np.ndarray:
    """Return the inner borders of the bins, ascending and distinct.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Training values.
    bins : int
        Number of bins wanted, at least 2; fewer come out where values are tied.
    binning : {"quantile", "uniform"}
        Equal counts or equal widths.

    Examples
    --------
    >>> cut_points(np.array([1.0, 2.0, 3.0, 4.0]), 2, "quantile")
    array([2.5])
    """
    if binning == "quantile":
        borders = np.quantile(values, np.arange(1, bins) / bins)
    elif binning == "uniform":
        borders = np.linspace(values.min(), values.max(), bins + 1)[1:-1]
    else:
        raise ParameterError(f"binning is {binning!r}, but must be 'quantile' or 'uniform'.")
    return np.unique(borders)


def level_codes(column: Column, bins: int, binning: str) -> tuple[np.ndarray, int]:
    """Return the codes 0 .. r - 1 of a column's levels that are present, and r.

    Discrete columns and whole-number columns of few values keep their levels; all others are binned.
    """
    values = column.numbers()
    if not column.is_discrete:
        few = column.kind == INTEGER and len(np.unique(values)) <= FEW_VALUES
        if not few:
            values = np.searchsorted(cut_points(values, bins, binning), values, side="left")
    levels, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int16 if len(levels) < 2**15 else np.int32), len(levels)
