"""Risk differences of the PPI test's own tree on one column each, for all columns of a table in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core.matrix_columns import MatrixColumns
from ..core.sparse_columns import SparseColumns
from ..core.table import SparseValues, Table
from .repeats import Repeats
from .significance import DECIMALS
from .target_arrays import TargetArrays, target_arrays

#: Cells of columns that are read in one go; a sparse column counts as `FEWEST` at least, for what is found about it.
CELLS, FEWEST = 2**20, 16
#: Counts of a kernel's largest column: repeats come in blocks that are small enough.
COUNTS = 2**24


class SingleColumnRisks:
    """One tree a column and repeat, and how much its risk grows when the column is permuted.

    Parameters
    ----------
    table : Table
        Wide columns are read in blocks; sparse ones are not made dense.
    target : int
        Position of the column that is predicted.
    repeats : Repeats
        Splits and permutations.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats) -> None:
        from ..kernels import single_column_trees  # numba costs half a second, which only jobs that need it should pay

        self._table, self._n_repeats = table, len(repeats.is_train)
        arrays = target_arrays(table[target])
        if arrays.n_classes:
            self._kernel = single_column_trees.class_differences
            width = min(64, max(1, COUNTS // (3 * arrays.n_classes * table.n_rows)))
            blocks = [slice(start, start + width) for start in range(0, self._n_repeats, width)]
            self._blocks = [(block, _class_arrays(arrays, repeats[block])) for block in blocks]
        else:
            self._kernel = single_column_trees.number_differences
            self._blocks = [(slice(None), _number_arrays(arrays, repeats))]

    def differences(self, columns: np.ndarray) -> np.ndarray:
        """Return permuted less original risk of the tree on each column alone, rounded to 1e-12, shape (m, B).

        Parameters
        ----------
        columns : int ndarray of shape (m,)
            Positions in the table.
        """
        differences = np.empty((len(columns), self._n_repeats))
        for at, lists in _lists(self._table, columns):
            found = np.empty((len(at), self._n_repeats))
            for block, arrays in self._blocks:
                self._kernel(lists.starts, lists.rows, lists.values, *arrays, found[:, block])
            differences[at] = np.round(found, DECIMALS, out=found)
        return differences


def _class_arrays(target: TargetArrays, repeats: Repeats) -> tuple[np.ndarray | int, ...]:
    """Return what `class_differences` reads of a target and at most 64 repeats."""
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
    """Spread booleans of shape (B, n) over lanes of so many bits, uint64 of shape (n, words)."""
    n_repeats, n = flags.shape
    lanes = np.zeros((n, -(-n_repeats * lane_bits // 64) * 64 // lane_bits), dtype=f"<u{lane_bits // 8}")
    lanes[:, :n_repeats] = flags.T
    return lanes.view("<u8").astype(np.uint64)


def _bits(flags: np.ndarray) -> np.ndarray:
    """Pack booleans of shape (B, n), B at most 64, into one uint64 a column: bit b is row b."""
    place = np.left_shift(np.uint64(1), np.arange(len(flags), dtype=np.uint64))
    return np.where(flags, place[:, None], np.uint64(0)).sum(axis=0, dtype=np.uint64)


def _number_arrays(target: TargetArrays, repeats: Repeats) -> tuple[np.ndarray | int | float, ...]:
    """Return what `number_differences` reads: the target in whole steps, so small that no sum leaves 62 bits."""
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


@dataclass(frozen=True)
class _Lists:
    """Rows of columns, ascending by value; a row that is not listed has the value zero.

    Attributes
    ----------
    starts : int64 ndarray of shape (d + 1,)
    rows : int32 ndarray of shape (m,)
    values : float64 ndarray of shape (m,)
    """

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray


def _lists(table: Table, columns: np.ndarray) -> Iterator[tuple[np.ndarray, _Lists]]:
    """Yield the lists of some columns in blocks of bounded size, each with places among `columns`."""
    wide = table.columns
    n_wide = len(wide.names) if isinstance(wide, MatrixColumns | SparseColumns) else 0
    at, single = np.flatnonzero(columns < n_wide), np.flatnonzero(columns >= n_wide)
    width = max(1, CELLS // max(1, table.n_rows))
    if isinstance(wide, SparseColumns):
        yield from _of_sparse(wide.starts, wide.rows, wide.values, columns[at], at)
    elif isinstance(wide, MatrixColumns):
        for start in range(0, len(at), width):
            part = at[start : start + width]
            yield part, _of_dense(wide.matrix[:, _as_slice(columns[part])].T)
    is_sparse = np.array([isinstance(table[int(columns[i])].values, SparseValues) for i in single], dtype=bool)
    for start in range(0, len(single), width):
        part, part_is_sparse = single[start : start + width], is_sparse[start : start + width]
        dense, sparse = part[~part_is_sparse], part[part_is_sparse]
        if len(dense):
            yield dense, _of_dense(np.array([table[int(j)].numbers() for j in columns[dense]]))
        if len(sparse):
            cells = [table[int(j)].values for j in columns[sparse]]
            starts = np.cumsum([0, *(len(cell.rows) for cell in cells)])
            rows, values = (np.concatenate(parts) for parts in zip(*((c.rows, c.values) for c in cells), strict=True))
            yield from _of_sparse(starts, rows, values, np.arange(len(cells)), sparse)


def _of_dense(values: np.ndarray) -> _Lists:
    """Return the lists of columns that are the rows of a matrix."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    order = np.argsort(values, axis=1)
    starts = np.arange(0, values.size + 1, values.shape[1])
    return _Lists(starts, order.astype(np.int32).ravel(), np.take_along_axis(values, order, axis=1).ravel())


def _of_sparse(
    starts: np.ndarray, rows: np.ndarray, values: np.ndarray, columns: np.ndarray, at: np.ndarray
) -> Iterator[tuple[np.ndarray, _Lists]]:
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


def _sorted(starts: np.ndarray, rows: np.ndarray, values: np.ndarray) -> _Lists:
    """Return lists of cells, without zeros, in ascending order of values."""
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
    return _Lists(starts, rows, values)


def _as_slice(columns: np.ndarray) -> slice | np.ndarray:
    """Return ascending neighbours as a slice, which copies nothing."""
    if len(columns) and columns[-1] - columns[0] == len(columns) - 1 and (np.diff(columns) == 1).all():
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns
