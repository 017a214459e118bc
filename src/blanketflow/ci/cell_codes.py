"""Codes many sparse columns at once from their stored cells, like `level_codes` but with zero first."""

from __future__ import annotations

import numpy as np

from ..core.cards import BOOLEAN, INTEGER
from ..core.wide_columns import SparseColumns
from .binning import FEW_VALUES, borders_by_order


def code_cells(
    columns: SparseColumns, start: int, stop: int, bins: int, binning: str, most_levels: int
) -> tuple[np.ndarray, np.ndarray]:
    """Code the cells of a block of sparse columns.

    Parameters
    ----------
    columns : SparseColumns
        The table's columns.
    start, stop : int
        The range of k columns.
    bins, binning
        As in `binning.cut_points`.
    most_levels : int
        The largest number of bins of a column that is coded here, at most 255.

    Returns
    -------
    codes : uint8 ndarray of shape (cells,)
        Codes of the stored cells of these columns. Zero has code 0 if it occurs.
    n_levels : int32 ndarray of shape (k,)
        Number of levels of each column; 0 for columns that must be coded one by one, because `binning` depends on more
        than a few order statistics or `bins` is too large.
    """
    from ..kernels import packed_cells

    cells = slice(int(columns.starts[start]), int(columns.starts[stop]))
    starts, values, n_rows = columns.starts[start : stop + 1] - cells.start, columns.values[cells], columns.height
    codes, n_levels = np.zeros(len(values), dtype=np.uint8), np.zeros(stop - start, dtype=np.int32)
    left = np.arange(stop - start)
    if columns.kind in (BOOLEAN, INTEGER):
        packed_cells.code_keys(starts, left, _keys(values), n_rows, FEW_VALUES, codes, n_levels)
        left = np.flatnonzero(n_levels == 0)
    if len(left) and binning in ("quantile", "uniform") and bins <= most_levels:
        numbers = np.ascontiguousarray(values, dtype=np.float64)
        packed_cells.code_keys(starts, left, _keys(numbers), n_rows, bins, codes, n_levels)
        left = left[n_levels[left] == 0]

        def order_statistics(places: np.ndarray) -> np.ndarray:
            found = np.empty((len(left), len(places)))
            packed_cells.order_statistics(starts, left, numbers, n_rows, places, found)
            return found

        if len(left):
            borders = borders_by_order(order_statistics, n_rows, bins, binning)
            packed_cells.code_cells(starts, left, numbers, n_rows, borders, codes, n_levels)
    return codes, n_levels


def _keys(values: np.ndarray) -> np.ndarray:
    """Return integers that are equal for equal values, and 0 for zero."""
    if values.dtype.kind == "f":
        return (values.astype(np.float64, copy=False) + 0.0).view(np.int64)  # the sum turns -0.0 into 0.0
    return values.astype(np.int64, copy=False)
