"""Facts about all columns of a source. Of a wide source they are computed on whole arrays, never column by column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..core.cards import NUMERIC
from ..core.table import Column, Table
from ..core.wide_columns import MatrixColumns, SparseColumns, WideColumns

#: Number of cells processed at a time.
CELLS = 2**22


def names_of(columns: Sequence[Column]) -> list[str]:
    """Return the names of some columns, without making the columns of a wide table."""
    if isinstance(columns, WideColumns):
        return [*columns.names, *(column.name for column in columns.more)]
    return [column.name for column in columns]


def only(columns: Sequence[Column], wanted: Collection[str]) -> Sequence[Column]:
    """Return the columns of some names, in their order."""
    if not isinstance(columns, WideColumns):
        return [column for column in columns if column.name in wanted]
    more = tuple(column for column in columns.more if column.name in wanted)
    kept = np.fromiter((name in wanted for name in columns.names), dtype=bool, count=len(columns.names))
    return replace(columns if kept.all() else columns.at(np.flatnonzero(kept)), more=more)


def blocks_of(columns: WideColumns) -> Iterator[slice]:
    """Yield slices of the columns held together, each of about `CELLS` cells."""
    d = len(columns.names)
    if isinstance(columns, SparseColumns):
        ends = np.searchsorted(columns.starts, np.arange(CELLS, columns.starts[-1] + CELLS, CELLS), side="right") - 1
        bounds = np.unique([0, *ends.tolist(), d])
    else:
        bounds = np.unique([*range(0, d, max(1, CELLS // max(1, columns.n_rows))), d])
    yield from (slice(int(a), int(b)) for a, b in pairwise(bounds))


def gaps(table: Table) -> dict[str, int]:
    """Return the number of missing cells of each column that has any.

    Examples
    --------
    >>> from ..core.table import Column
    >>> gaps(Table([Column("a", "numeric", np.array([1.0, np.nan])), Column("b", "integer", np.array([3, 4]))]))
    {'a': 1}
    """
    counts = missing_by_column(table.columns)
    return {table.names[at]: int(counts[at]) for at in np.flatnonzero(counts).tolist()}


def missing_by_column(columns: Sequence[Column]) -> np.ndarray:
    """Return the number of missing cells of each column, shape (d,)."""
    if not isinstance(columns, WideColumns):
        return np.fromiter((column.n_missing() for column in columns), dtype=np.int64, count=len(columns))
    missing, more = np.zeros(len(columns), dtype=np.int64), len(columns.names)
    missing[more:] = [column.n_missing() for column in columns.more]
    if isinstance(columns, SparseColumns):
        if columns.values.dtype.kind == "f":
            gaps = np.flatnonzero(np.isnan(columns.values))
            missing[:more] = np.bincount(np.searchsorted(columns.starts, gaps, side="right") - 1, minlength=more)
    elif columns.kind == NUMERIC:
        for block in blocks_of(columns):
            missing[block] = np.count_nonzero(np.isnan(columns.matrix[:, block]), axis=0)
    return missing


def first_infinite(columns: Sequence[Column]) -> Column | None:
    """Return the first column with an infinite cell."""
    if not isinstance(columns, WideColumns):
        return next((column for column in columns if column.n_infinite()), None)
    if isinstance(columns, SparseColumns):
        if columns.values.dtype.kind == "f" and (is_infinite := np.isinf(columns.values)).any():
            return columns[int(np.searchsorted(columns.starts, np.argmax(is_infinite), side="right")) - 1]
    elif columns.kind == NUMERIC:
        for block in blocks_of(columns):
            has_infinite = np.isinf(columns.matrix[:, block]).any(axis=0)
            if has_infinite.any():
                return columns[block.start + int(np.argmax(has_infinite))]
    return first_infinite(columns.more)


def content_keys(columns: WideColumns) -> np.ndarray:
    """Return a number for each column held together, equal where all cells are, shape (d,).

    A 64-bit hash: among 1,000,000 different columns two share a number with a chance of 3 in 100,000,000.
    """
    of_row = np.random.default_rng(0).integers(2**64, size=columns.n_rows, dtype=np.uint64)
    keys = np.zeros(len(columns.names), dtype=np.uint64)
    for block in blocks_of(columns):
        if isinstance(columns, MatrixColumns):
            keys[block] = _mixed(columns.matrix[:, block], of_row[:, None]).sum(axis=0, dtype=np.uint64)
            continue
        cells = slice(columns.starts[block.start], columns.starts[block.stop])
        filled = block.start + np.flatnonzero(np.diff(columns.starts)[block])
        if len(filled):
            mixed = _mixed(columns.values[cells], of_row[columns.rows[cells]])
            keys[filled] = np.add.reduceat(mixed, columns.starts[filled] - cells.start)
    return keys


def _mixed(values: np.ndarray, of_row: np.ndarray) -> np.ndarray:
    """Return 64 well-mixed bits for each cell; the finalizer of MurmurHash3."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64) ^ of_row  # + 0.0 makes -0.0 equal 0.0
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        bits ^= bits >> np.uint64(33)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(33)
    return bits
