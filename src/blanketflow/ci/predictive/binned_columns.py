"""Columns in at most 255 bins, for trees with many rows: one bin per value, or about equally many rows in each."""

from __future__ import annotations

import numpy as np

from ...core.table import Table
from .tree_arrays import ColumnLists, column_blocks

#: Codes are below this, so that they fit one byte.
MOST_BINS = 255
#: Equal widths into which the values of a long column are put, so that only those near a bin's end are sorted.
WIDTHS = 2**14


def bin_columns(table: Table, columns: np.ndarray) -> np.ndarray:
    """Return the bins of some columns, given by their positions, uint8 of shape (d, n).

    With at most 255 distinct values each value is a bin. Otherwise, a group of equal values at the sorted positions
    from a to b closes its bin if a multiple of n / 255 lies between.
    """
    from ...kernels.binned_columns import find_bins

    codes = np.empty((len(columns), table.n_rows), dtype=np.uint8)
    for at, block in column_blocks(table, columns):
        for i, j in enumerate(at):
            if isinstance(block, ColumnLists):
                cells = slice(block.starts[i], block.starts[i + 1])
                values, rows = block.values[cells], block.rows[cells]
                limits = _limits_with_zeros(values, table.n_rows - len(rows))
                found = np.empty(len(rows), dtype=np.uint8)
                find_bins(limits, values, found)
                codes[j] = np.searchsorted(limits, 0.0)
                codes[j, rows] = found
            else:
                find_bins(_limits(block[i]), block[i], codes[j])
    return codes


def _ends(n_rows: int) -> np.ndarray:
    """Return the position of the last row of each 255th part of the sorted rows."""
    return -(-np.arange(1, MOST_BINS + 1) * n_rows // MOST_BINS) - 1


def _limits(values: np.ndarray) -> np.ndarray:
    """Return the largest value of each bin, ascending."""
    low, high, ends = values.min(), values.max(), _ends(len(values))
    with np.errstate(over="ignore", divide="ignore"):
        scale = (WIDTHS - 1) / (high - low)
    if len(values) <= WIDTHS or not 0 < scale < np.inf:  # few rows, or one value, or a range that overflows
        return _limits_with_zeros(np.sort(values), 0)
    width = ((values - low) * scale).astype(np.uint16)
    counts = np.bincount(width, minlength=WIDTHS)
    if np.count_nonzero(counts) <= MOST_BINS:
        return _limits_with_zeros(np.sort(values), 0)
    # A larger value is never in a lower width, so an end is found in its width: all others are left out.
    before = np.cumsum(counts) - counts
    of_end = np.searchsorted(before, ends, side="right") - 1
    is_sorted = np.zeros(WIDTHS, dtype=bool)
    is_sorted[of_end] = True
    left_out = np.cumsum(np.where(is_sorted, 0, counts))
    return np.unique(np.sort(values[is_sorted[width]])[ends - left_out[of_end]])


def _limits_with_zeros(values: np.ndarray, n_zeros: int) -> np.ndarray:
    """Return the largest value of each bin, of ascending values and of zeros that are not among them."""
    n_below, ends = np.searchsorted(values, 0.0) if n_zeros else 0, _ends(len(values) + n_zeros)
    is_new = values[1:] != values[:-1]
    n_distinct = np.count_nonzero(is_new) + (len(values) > 0) + (n_zeros > 0)
    if n_distinct <= MOST_BINS:
        distinct = np.concatenate((values[:1], values[1:][is_new]))
        return np.sort(np.append(distinct, 0.0)) if n_zeros else distinct
    is_zero = (ends >= n_below) & (ends < n_below + n_zeros)
    listed = np.where(ends < n_below, ends, np.maximum(ends - n_zeros, 0))
    return np.unique(np.where(is_zero, 0.0, values[listed]))
