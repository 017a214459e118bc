"""Risk differences of the PPI test's own trees on single columns, for all columns of a table in bounded memory."""

from __future__ import annotations

import math

import numpy as np

from ...core.table import Table
from ...models.encode import unit_of_errors
from .repeats import Repeats
from .significance import DECIMALS
from .tree_arrays import TargetArrays, column_lists, target_arrays

#: The largest number of counts in a kernel; repeats are processed in blocks that are small enough.
COUNTS = 2**24


class SingleColumnRisks:
    """One tree per column and repeat, and how much its risk grows when the column is permuted.

    The table's columns are read in blocks; sparse columns are not made dense.
    """

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
