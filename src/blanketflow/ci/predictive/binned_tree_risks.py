"""The PPI test's ``binned-tree`` model, for tables with many rows: CART on histograms of at most 255 bins per column.

Unlike `TreeRisks` (``tree``), which grows to purity on exactly sorted columns with plain class shares, it bins columns,
stops at leaves of sqrt(rows), smooths class shares, and finds cuts in histograms, so the trees and p-values differ.
`PPI` calls both by the same methods.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core.table import Table
from ...models.encode import unit_of_errors
from ..engines import Candidate, columns_of
from .risk_differences import Repeats, Sources, risk_differences
from .tree_risks import ColumnLists, TargetArrays, column_blocks, target_arrays

#: Number of codes read at once for marginal tests.
CODES = 2**24


class _Tree(NamedTuple):
    feature: np.ndarray  # positions among the binned columns, -1 in a leaf
    cut: np.ndarray
    left: np.ndarray
    leaf: np.ndarray


class BinnedTreeRisks:
    """One binned tree per repeat on a set of columns, and its risk before and after some of them are permuted together.

    Bins are fixed once from all rows, without the target, which therefore does not leak. Class shares are (count + 1) /
    (rows + classes), which gives ``corrected-t`` more power at 100 rows than plain shares. If a used column is dropped,
    the tree is regrown below the nodes that use it; unused columns have a risk difference of exactly 0. `n_fits` counts
    trees grown, in part or whole, and `n_counted` the rows counted into histograms.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats) -> None:
        from ...kernels import binned_trees  # numba takes half a second to import: only if needed

        self._kernels, self.table, self.repeats = binned_trees, table, repeats
        self.n_fits = self.n_counted = 0
        arrays = target_arrays(table[target])
        self._unit = 1.0 if arrays.n_classes else unit_of_errors(arrays.numbers)
        self._target, self._fixed = arrays, in_fixed_point(arrays)
        self._leaf_size = math.isqrt(int(repeats.is_train[0].sum()) - 1) + 1
        self._binned = self._members = np.zeros(0, dtype=np.int64)
        self._no_tree = _no_tree(arrays.n_classes)
        self._trees = [self._no_tree] * len(repeats.is_train)
        self._leaves = np.zeros(repeats.test_rows.shape, dtype=np.int32)
        self._risks = np.empty(len(repeats.is_train))

    def differences(self, columns: np.ndarray) -> np.ndarray:
        """Return permuted minus original risk of the tree on each column alone, rounded to 1e-12, shape (m, B)."""
        risks, repeats = np.empty((2, len(columns), len(self._trees))), self.repeats
        width = max(1, CODES // self.table.n_rows)
        for start in range(0, len(columns), width):
            codes = bin_columns(self.table, columns[start : start + width])
            found = np.empty((2, len(codes), len(self._trees)))
            self._kernels.single_column_risks(
                codes, repeats.is_train, repeats.test_rows, repeats.permuted_rows, *self._target[:2], self._fixed,
                self._target.n_classes, self._leaf_size, found,
            )  # fmt: skip
            risks[:, start : start + width] = found / self._unit
        return risk_differences(risks[0], risks[1])

    def offer(self, columns: Sequence[int] | np.ndarray) -> None:
        """Set the columns of the trees."""
        columns = np.unique(np.asarray(columns, dtype=np.int64))
        if not np.isin(columns, self._binned).all():
            self._bin(columns)
        members = np.searchsorted(self._binned, columns)
        gone = np.setdiff1d(self._members, members)
        is_smaller = np.isin(members, self._members).all()
        self._members = members
        for b, tree in enumerate(self._trees):
            if not is_smaller or tree is self._no_tree:
                self._refit(b, self._no_tree)
            elif np.isin(tree.feature, gone).any():
                self._refit(b, tree)

    def drop(self, column: int) -> None:
        """Remove a column from the set."""
        left = self._binned[self._members]
        self.offer(left[left != column])

    def of(self, x: Candidate, sources: Sources | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return risks of all repeats' trees before and after columns of the set are replaced, both of shape (B,)."""
        permuted, is_moved = self._risks.copy(), self._nothing_moved()
        is_moved[np.searchsorted(self._binned, columns_of(x))] = True
        use_any = [b for b, tree in enumerate(self._trees) if is_moved[tree.feature].any()]
        places = sources() if sources and use_any else self.repeats.sources
        for b in use_any:
            permuted[b] = self._risk(b, self._trees[b], is_moved, places[b])
        return self._risks.copy(), permuted

    def conditional(
        self, x: Candidate, given: Sequence[int], sources: Sources | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return risks before and after `x` is replaced, of trees on it and `given`, both of shape (B,)."""
        self.offer((*columns_of(x), *given))
        return self.of(x, sources)

    def _nothing_moved(self) -> np.ndarray:
        """Return a mask without permuted columns; its last place is that of a leaf's feature, -1."""
        return np.zeros(len(self._binned) + 1, dtype=bool)

    def _bin(self, columns: np.ndarray) -> None:
        """Read columns, and count all rows in their bins."""
        self._binned, self._by_column = columns, bin_columns(self.table, columns)
        self._codes = np.ascontiguousarray(self._by_column.T)
        self._n_bins = self._by_column.max(axis=1).astype(np.int64) + 1
        classes, _, n_classes = self._target
        self._whole = np.empty((len(columns), int(self._n_bins.max(initial=1)), n_classes or 2), dtype=np.int64)
        rows, places = np.arange(self.table.n_rows), np.arange(len(columns), dtype=np.uint64)
        self._kernels.count_rows(self._whole, rows, self._codes, places, classes, self._fixed, n_classes)
        self._members = np.zeros(0, dtype=np.int64)

    def _refit(self, b: int, old: _Tree) -> None:
        classes, numbers, n_classes = self._target
        rows = self.repeats.test_rows[b]
        *nodes, n_counted = self._kernels.grow_binned_tree(
            tuple(old), self._by_column, self._codes, self._n_bins, self._members.astype(np.uint64), self._whole,
            self.repeats.is_train[b], rows, classes, numbers, self._fixed, n_classes, self._leaf_size,
        )  # fmt: skip
        self._trees[b] = tree = _Tree(*nodes)
        self._kernels.find_leaves(*tree[:3], self._codes, rows, self._leaves[b])
        self._risks[b] = self._risk(b, tree, self._nothing_moved(), self.repeats.sources[b])
        self.n_fits += 1
        self.n_counted += n_counted

    def _risk(self, b: int, tree: _Tree, is_moved: np.ndarray, places: np.ndarray) -> float:
        rows = self.repeats.test_rows[b]
        risk = self._kernels.binned_tree_risk(
            *tree, self._leaves[b], self._by_column, self._codes, rows, rows[places], is_moved, *self._target
        )
        return risk / self._unit


def _no_tree(n_classes: int) -> _Tree:
    nothing = np.zeros(0, dtype=np.int64)
    return _Tree(nothing, nothing, nothing, np.zeros((0, max(n_classes, 1))))


def in_fixed_point(target: TargetArrays) -> np.ndarray:
    """Return a numeric target as integers, such that any sum of it times the number of rows fits 62 bits."""
    centred = target.numbers - (0.5 * target.numbers.min() + 0.5 * target.numbers.max())
    largest = np.abs(centred).max()
    if largest == 0:
        return np.zeros(len(centred), dtype=np.int64)
    # The sum is at most largest * 2^exponent; each number's rounding adds less than one.
    exponent = math.frexp(np.abs(centred / largest).sum())[1]
    bits = 60 - exponent - len(centred).bit_length() - math.frexp(largest)[1]
    return np.rint(np.ldexp(centred, bits)).astype(np.int64)


#: Codes are below this, so that they fit one byte.
MOST_BINS = 255
#: Number of equal-width intervals of a long column's values, so that only those near a bin's end are sorted.
WIDTHS = 2**14


def bin_columns(table: Table, columns: np.ndarray) -> np.ndarray:
    """Return the bins of columns at some positions, uint8 of shape (d, n).

    With at most 255 distinct values each value is a bin. Otherwise a group of equal values, at sorted positions from a
    to b, ends its bin if a multiple of n / 255 lies between.
    """
    from ...kernels.binned_trees import find_bins

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
    # Intervals are ordered like values, so an end is found within its interval, without the others.
    before = np.cumsum(counts) - counts
    of_end = np.searchsorted(before, ends, side="right") - 1
    is_sorted = np.zeros(WIDTHS, dtype=bool)
    is_sorted[of_end] = True
    left_out = np.cumsum(np.where(is_sorted, 0, counts))
    return np.unique(np.sort(values[is_sorted[width]])[ends - left_out[of_end]])


def _limits_with_zeros(values: np.ndarray, n_zeros: int) -> np.ndarray:
    """Return the largest value of each bin of ascending values and of zeros not among them."""
    n_below, ends = np.searchsorted(values, 0.0) if n_zeros else 0, _ends(len(values) + n_zeros)
    is_new = values[1:] != values[:-1]
    n_distinct = np.count_nonzero(is_new) + (len(values) > 0) + (n_zeros > 0)
    if n_distinct <= MOST_BINS:
        distinct = np.concatenate((values[:1], values[1:][is_new]))
        return np.sort(np.append(distinct, 0.0)) if n_zeros else distinct
    is_zero = (ends >= n_below) & (ends < n_below + n_zeros)
    listed = np.where(ends < n_below, ends, np.maximum(ends - n_zeros, 0))
    return np.unique(np.where(is_zero, 0.0, values[listed]))
