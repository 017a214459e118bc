"""Whole numbers beyond 2^53, which floats round: they are counted from the least of their column, which is exact.

Nothing that reads numbers depends on where they begin, but for the rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .mapped_file import kept_like
from .table import Column, Table
from .wide_columns import MatrixColumns, WideColumns

#: Whole numbers up to this one are floats.
MOST_WHOLE = 2**53


def counted_from_least(table: Table) -> Table:
    """Return a table in which columns of whole numbers beyond 2^53 are counted from their least number.

    The same table if there are none, as in nearly all tables.

    Examples
    --------
    >>> table = Table([Column("a", "integer", np.array([2**60 + 1, 2**60, 2**60 + 5]))])
    >>> counted_from_least(table)["a"].values.tolist()
    [1, 0, 5]
    """
    columns = table.columns
    if isinstance(columns, WideColumns):
        more = tuple(from_least(column) for column in columns.more)
        is_same = all(map(_is, more, columns.more))
        if isinstance(columns, MatrixColumns) and is_beyond(columns.matrix):
            least = columns.matrix.min(axis=0)
            columns = replace(columns, matrix=_less(columns.matrix, least))
        elif is_same:
            return table
        return Table(replace(columns, more=more), table.design)
    found = [from_least(column) for column in columns]
    return table if all(map(_is, found, columns)) else Table(kept_like(columns, found, table.n_rows), table.design)


def from_least(column: Column) -> Column:
    """Return a column of whole numbers beyond 2^53 counted from its least number, and any other column as it is."""
    values = column.values
    if not isinstance(values, np.ndarray) or not is_beyond(values):
        return column
    return replace(column, values=_less(values, values.min()))


def is_beyond(values: np.ndarray) -> bool:
    """Whether an array holds whole numbers that floats would round."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    return int(values.max()) > MOST_WHOLE or int(values.min()) < -MOST_WHOLE


def exact_or_near(cells: Sequence[int | None]) -> np.ndarray:
    """Return whole numbers of any size as an array, shape (n,); None is missing.

    They are whole numbers of 64 bits if they can be, else the nearest floats if these are equal to them. Others are
    counted from the least, as whole numbers or floats. What is too large for a float even so is infinite.

    Examples
    --------
    >>> exact_or_near([2**70 + 3, 2**70]).tolist(), exact_or_near([2**60 + 1, None, 2**60]).tolist()
    ([3, 0], [1.0, nan, 0.0])
    """
    known = [cell for cell in cells if cell is not None]
    least, has_gaps = min(known), len(known) < len(cells)
    if not has_gaps and (whole := np.array(known)).dtype.kind in "iu":
        return whole
    near = np.array([np.nan if cell is None else _as_float(cell) for cell in cells])
    if all(cell == value for cell, value in zip(cells, near.tolist(), strict=True) if cell is not None):
        return near
    if _as_float(max(known) - least) == np.inf:
        return near
    return exact_or_near([None if cell is None else cell - least for cell in cells]) if least else near


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def _less(values: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return how much whole numbers are above the least ones, which is exact in 64 bits without a sign."""
    found = values.astype(np.uint64) - np.asarray(least).astype(np.uint64)
    return found.astype(np.int64) if found.max() < 2**63 else found


def _is(one: object, other: object) -> bool:
    return one is other
