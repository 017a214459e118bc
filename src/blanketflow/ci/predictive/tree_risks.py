"""Risks of the PPI test's own trees on sorted columns: on single columns in bounded memory, and on sets of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...core.column import MatrixColumns, SparseColumns
from ...core.table import Column, SparseValues, Table
from ...models.encode import moderated, unit_of_errors
from ..engines import Candidate, columns_of
from .risk_differences import DECIMALS, Repeats, Sources

_NO_NODES, _NO_ROWS = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32)


class _Tree(NamedTuple):
    feature: np.ndarray
    cut: np.ndarray
    left: np.ndarray
    middle: np.ndarray
    rows: np.ndarray
    leaf: np.ndarray
    used: np.ndarray  # positions among the sorted columns, ascending
    place: np.ndarray
    test_codes: np.ndarray


class SortedColumns(NamedTuple):
    """Columns, (d,) ascending positions in the table, in the layout of kernels/sorted_columns.py."""

    columns: np.ndarray
    entries: np.ndarray
    starts: np.ndarray
    background: np.ndarray
    levels: np.ndarray
    level_starts: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays for the kernels."""
        return self[1:]


class TreeRisks:
    """One tree per repeat on a set of columns, and its risk before and after some of them are permuted together.

    A tree on a set of columns is also the tree of every smaller set with the columns it uses. When one of these is
    dropped, only the part below the nodes that it splits is regrown. An unused column has a risk difference of exactly
    zero. `n_fits` counts the trees grown, entirely or in part, and `n_examined` the entries examined to find cuts, the
    cost of growing.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats) -> None:
        from ...kernels import trees  # numba takes half a second to import: only if needed

        self._grow_tree, self._kernels = trees.grow_tree, trees
        self.table, self.repeats = table, repeats
        self.n_fits = self.n_examined = 0
        self._target = target_arrays(table[target])
        self._unit = 1.0 if self._target.n_classes else unit_of_errors(self._target.numbers)
        n_repeats = len(repeats.is_train)
        self._trees: list[_Tree | None] = [None] * n_repeats
        self._risks = np.empty(n_repeats)
        self._sorted: SortedColumns | None = None
        self._offered = _NO_NODES

    def offer(self, columns: Sequence[int] | np.ndarray) -> None:
        """Set the columns of the trees."""
        columns = np.unique(np.asarray(columns, dtype=np.int64))
        dropped = self._offered[~np.isin(self._offered, columns)]
        if len(self._offered) == len(columns) + len(dropped) and len(self._offered):
            self._drop(dropped)
            return
        if self._sorted is None or not np.isin(columns, self._sorted.columns).all():
            self._sorted = sort_columns(self.table, columns)
            self._work = np.empty(2 * len(self._sorted.entries) + 16, dtype=np.int64)
        self._offered = columns
        self._members = np.searchsorted(self._sorted.columns, columns)
        self._is_used = np.zeros((len(self._trees), len(self._sorted.columns)), dtype=bool)
        self._trees = [None] * len(self._trees)
        for b in range(len(self._trees)):
            self._grow(b)

    def drop(self, column: int) -> None:
        """Remove a column from the set."""
        self._drop(np.array([column]))

    def of(self, x: Candidate, sources: Sources | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return risks of all repeats' trees before and after columns of the set are replaced, both of shape (B,)."""
        risks, permuted = self._risks.copy(), self._risks.copy()
        at = np.searchsorted(self._sorted.columns, columns_of(x))
        is_moved = np.zeros(len(self._sorted.columns), dtype=bool)
        is_moved[at] = True
        uses_any = np.flatnonzero(self._is_used[:, at].any(axis=1))
        places = sources() if sources and len(uses_any) else self.repeats.sources
        for b in uses_any:
            tree = self._trees[b]
            permuted[b] = self._risk(b, tree, is_moved[tree.used], places[b])
        return risks, permuted

    def conditional(
        self, x: Candidate, given: Sequence[int], sources: Sources | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return risks before and after `x` is replaced, of trees on it and `given`, both of shape (B,)."""
        self.offer((*columns_of(x), *given))
        return self.of(x, sources)

    def _drop(self, columns: np.ndarray) -> None:
        gone = np.searchsorted(self._offered, columns)
        at = self._members[gone]
        self._offered, self._members = np.delete(self._offered, gone), np.delete(self._members, gone)
        for b in np.flatnonzero(self._is_used[:, at].any(axis=1)):
            self._grow(b)

    def _grow(self, b: int) -> None:
        """Grow the tree of a repeat on the set, from the valid part of its present tree."""
        old, columns, repeats = self._trees[b], self._sorted, self.repeats
        *nodes, n_examined = self._grow_tree(
            *columns.arrays,
            self._members,
            repeats.is_train[b],
            *self._target,
            *(old[:5] if old else (*(_NO_NODES,) * 4, _NO_ROWS)),
            self._work,
        )
        used, place, test_codes = self._kernels.read_test_rows(
            nodes[0], *columns.arrays[:3], repeats.test_rows[b], self.table.n_rows
        )
        self._trees[b] = tree = _Tree(*nodes, used, place, test_codes)
        self._risks[b] = self._risk(b, tree, np.zeros(len(used), dtype=bool), self.repeats.sources[b])
        self._is_used[b] = False
        self._is_used[b, used] = True
        self.n_fits += 1
        self.n_examined += n_examined

    def _risk(self, b: int, tree: _Tree, is_moved: np.ndarray, places: np.ndarray) -> float:
        classes, numbers, n_classes = self._target
        rows = self.repeats.test_rows[b]
        risk = self._kernels.tree_risk(
            tree.place, tree.cut, tree.left, tree.leaf, tree.test_codes, is_moved, places, classes[rows],
            numbers[rows], n_classes,
        )  # fmt: skip
        return risk / self._unit


def sort_columns(table: Table, columns: np.ndarray) -> SortedColumns:
    """Sort columns of a table, given by ascending positions; sparse columns are not made dense."""
    blocks = [(at, *_sort(lists, table.n_rows)) for at, lists in column_lists(table, columns)]
    at, entries, n_entries, background, levels, n_levels = map(np.concatenate, zip(*blocks, strict=True))
    order = np.argsort(at)  # blocks of a mixed table are not in its order
    entries, starts = _in_order(entries, n_entries, order)
    levels, level_starts = _in_order(levels, n_levels, order)
    return SortedColumns(columns, entries, starts, background[order], levels, level_starts)


def _sort(lists: ColumnLists, n_rows: int) -> tuple[np.ndarray, ...]:
    """Return the entries and their number per column, the backgrounds, and the levels and their number per column."""
    from ...kernels import sorted_columns as kernels

    d, room = len(lists.starts) - 1, len(lists.rows)
    entries, n_entries, background = np.empty(room, np.int64), np.empty(d, np.int64), np.empty(d, np.int32)
    levels, n_levels = np.empty(room + d), np.empty(d, np.int64)
    kernels.sort_columns(
        lists.starts, lists.rows, lists.values, n_rows, entries, n_entries, background, levels, n_levels
    )
    return entries[: n_entries.sum()], n_entries, background, levels[: n_levels.sum()], n_levels


def _in_order(values: np.ndarray, lengths: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return reordered runs of values, and the run borders."""
    before, lengths = np.concatenate([[0], np.cumsum(lengths)])[order], lengths[order]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return values[np.arange(starts[-1]) + np.repeat(before - starts[:-1], lengths)], starts


#: The number of cells read at once; a sparse column counts as at least `FEWEST` cells, for its overhead.
CELLS, FEWEST = 2**20, 16


@dataclass(frozen=True)
class ColumnLists:
    """Rows of columns from ``starts[j]`` to ``starts[j + 1]``, ascending by value; unlisted rows are zero."""

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray


def column_lists(table: Table, columns: np.ndarray) -> Iterator[tuple[np.ndarray, ColumnLists]]:
    """Yield the lists of some columns in blocks of bounded size, each with the indices of its columns in `columns`.

    A block of dense columns lists all rows, with ties in any order; a block of sparse columns omits zeros, and ties
    ascend by row.
    """
    for at, block in column_blocks(table, columns):
        yield at, block if isinstance(block, ColumnLists) else _of_dense(block)


def column_blocks(table: Table, columns: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray | ColumnLists]]:
    """Yield blocks like `column_lists`, but dense columns as numbers of shape (columns, rows)."""
    wide = table.columns
    n_wide = len(wide.names) if isinstance(wide, MatrixColumns | SparseColumns) else 0
    at, single = np.flatnonzero(columns < n_wide), np.flatnonzero(columns >= n_wide)
    width = max(1, CELLS // max(1, table.n_rows))
    if isinstance(wide, SparseColumns):
        yield from _of_sparse(wide.starts, wide.rows, wide.values, columns[at], at)
    elif isinstance(wide, MatrixColumns):
        for start in range(0, len(at), width):
            part = at[start : start + width]
            yield part, _as_rows(wide.matrix[:, _as_slice(columns[part])].T)
    is_sparse = np.array([isinstance(table[int(columns[i])].values, SparseValues) for i in single], dtype=bool)
    for start in range(0, len(single), width):
        part, part_is_sparse = single[start : start + width], is_sparse[start : start + width]
        dense, sparse = part[~part_is_sparse], part[part_is_sparse]
        if len(dense):
            yield dense, _as_rows(np.array([table[int(j)].numbers() for j in columns[dense]]))
        if len(sparse):
            cells = [table[int(j)].values for j in columns[sparse]]
            starts = np.cumsum([0, *(len(cell.rows) for cell in cells)])
            rows, values = (np.concatenate(parts) for parts in zip(*((c.rows, c.values) for c in cells), strict=True))
            yield from _of_sparse(starts, rows, values, np.arange(len(cells)), sparse)


def _as_rows(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.float64)


def _of_dense(values: np.ndarray) -> ColumnLists:
    """Return the lists of columns that are the rows of a matrix."""
    order = np.argsort(values, axis=1)
    starts = np.arange(0, values.size + 1, values.shape[1])
    return ColumnLists(starts, order.astype(np.int32).ravel(), np.take_along_axis(values, order, axis=1).ravel())


def _of_sparse(
    starts: np.ndarray, rows: np.ndarray, values: np.ndarray, columns: np.ndarray, at: np.ndarray
) -> Iterator[tuple[np.ndarray, ColumnLists]]:
    """Yield the lists of columns of a compressed sparse column matrix."""
    lengths = starts[columns + 1] - starts[columns]
    stops = np.cumsum(np.maximum(lengths, FEWEST))
    start = 0
    while start < len(columns):
        stop = max(start + 1, int(np.searchsorted(stops, (stops[start - 1] if start else 0) + CELLS, side="right")))
        part = columns[start:stop]
        first = np.concatenate([[0], np.cumsum(lengths[start:stop])])
        if isinstance(_as_slice(part), slice):
            cells = slice(int(starts[part[0]]), int(starts[part[-1] + 1]))
        else:
            cells = np.arange(first[-1]) + np.repeat(starts[part] - first[:-1], lengths[start:stop])
        yield at[start:stop], _sorted(first, rows[cells].astype(np.int32), values[cells].astype(np.float64))
        start = stop


def _sorted(starts: np.ndarray, rows: np.ndarray, values: np.ndarray) -> ColumnLists:
    """Return lists of cells without zeros, in ascending order of values."""
    if not values.all():
        kept = values != 0
        starts = np.concatenate([[0], np.cumsum(kept)])[starts]
        rows, values = rows[kept], values[kept]
    descends = values[1:] < values[:-1]
    inner = starts[(starts > 0) & (starts < len(values))]
    descends[inner - 1] = False
    if descends.any():
        order = np.lexsort((values, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))
        rows, values = rows[order], values[order]
    return ColumnLists(starts, rows, values)


def _as_slice(columns: np.ndarray) -> slice | np.ndarray:
    """Return consecutive positions as a slice, which avoids a copy; other positions unchanged."""
    if len(columns) and columns[-1] - columns[0] == len(columns) - 1 and (np.diff(columns) == 1).all():
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns


class TargetArrays(NamedTuple):
    """The target of a tree, arrays of shape (n,).

    `classes` are codes, zeros for regression; `numbers` are scaled by a power of two if they are huge or tiny;
    `n_classes` is 0 for regression.
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


#: The largest number of counts in a kernel; repeats are processed in blocks that are small enough.
COUNTS = 2**24


class SingleColumnRisks:
    """One tree per column and repeat, and the increase of its risk when the column is permuted."""

    def __init__(self, table: Table, target: int, repeats: Repeats) -> None:
        from ...kernels import single_column_trees  # numba takes half a second to import: only if needed

        self._table, self._n_repeats = table, len(repeats.is_train)
        arrays = target_arrays(table[target])
        self._unit = 1.0
        if arrays.n_classes:
            self._kernel = single_column_trees.class_differences
            width = min(64, max(1, COUNTS // (3 * arrays.n_classes * table.n_rows)))
            blocks = [slice(start, start + width) for start in range(0, self._n_repeats, width)]
            self._blocks = [(block, _class_arrays(arrays, repeats[block])) for block in blocks]
        else:
            self._kernel = single_column_trees.number_differences
            self._unit = unit_of_errors(arrays.numbers)
            self._blocks = [(slice(None), _number_arrays(arrays, repeats))]

    def differences(self, columns: np.ndarray) -> np.ndarray:
        """Return permuted minus original risk of the tree on each column alone, rounded to 1e-12, shape (m, B)."""
        differences = np.empty((len(columns), self._n_repeats))
        for at, lists in column_lists(self._table, columns):
            found = np.empty((len(at), self._n_repeats))
            for block, arrays in self._blocks:
                self._kernel(lists.starts, lists.rows, lists.values, *arrays, found[:, block])
            found /= self._unit
            differences[at] = np.round(found, DECIMALS, out=found)
        return differences


def _class_arrays(target: TargetArrays, repeats: Repeats) -> tuple[np.ndarray | int, ...]:
    """Return the arguments of `class_differences` for a target and at most 64 repeats."""
    classes, n_classes = target.classes, target.n_classes
    train, test = repeats.is_train, ~repeats.is_train
    receivers = classes[repeats.receivers()]
    lane_bits = 16 if len(classes) < 2**16 else 32
    lines = np.stack(
        [_lanes(flags, lane_bits) for flags in [train, *(test & (receivers == k) for k in range(1, n_classes))]], axis=1
    )
    totals = np.concatenate(
        [
            [lines[classes == k, 0].sum(axis=0, dtype=np.uint64) for k in range(n_classes)],
            lines[:, 1:].sum(axis=0, dtype=np.uint64),
        ]
    )
    planes = range(max(1, (n_classes - 1).bit_length()))
    every = np.ones_like(train)
    class_bits = np.stack([_bits(every & (classes >> k & 1 == 1)) for k in planes], axis=1)
    receiver_bits = np.stack([_bits(test & (receivers >> k & 1 == 1)) for k in planes], axis=1)
    n_of_class = np.bincount(classes, minlength=n_classes)
    n_test = repeats.test_rows.shape[1]
    return classes, lines, totals, n_of_class, _bits(train), class_bits, receiver_bits, lane_bits, n_test


def _lanes(flags: np.ndarray, lane_bits: int) -> np.ndarray:
    """Spread booleans of shape (B, n) over lanes of `lane_bits` bits, uint64 of shape (n, words)."""
    n_repeats, n = flags.shape
    lanes = np.zeros((n, -(-n_repeats * lane_bits // 64) * 64 // lane_bits), dtype=f"<u{lane_bits // 8}")
    lanes[:, :n_repeats] = flags.T
    return lanes.view("<u8").astype(np.uint64)


def _bits(flags: np.ndarray) -> np.ndarray:
    """Pack booleans of shape (B, n), B at most 64, into one uint64 per column: bit b is row b."""
    place = np.left_shift(np.uint64(1), np.arange(len(flags), dtype=np.uint64))
    return np.where(flags, place[:, None], np.uint64(0)).sum(axis=0, dtype=np.uint64)


def _number_arrays(target: TargetArrays, repeats: Repeats) -> tuple[np.ndarray | int | float, ...]:
    """Return the arguments of `number_differences`: the target in fixed point, such that every sum fits 62 bits."""
    centred = target.numbers - (0.5 * target.numbers.min() + 0.5 * target.numbers.max())
    largest = np.abs(centred).max()
    unit = 1.0
    if largest > 0:
        exponent = math.frexp(largest)[1] + math.frexp(np.abs(centred / largest).sum())[1]
        unit = math.ldexp(1.0, max(exponent - 60, -1074))
    numbers = np.rint(centred / unit).astype(np.int64)
    shifts = np.where(repeats.is_train, 0, numbers - numbers[repeats.receivers()])
    totals = np.where(repeats.is_train, numbers, 0).sum(axis=1)
    return repeats.is_train, numbers, shifts, totals, repeats.test_rows.shape[1], unit
