"""Columns of two values: a flag is one thing, whether it is held as numbers, truth values or labels."""

from __future__ import annotations

import numpy as np

from .cards import BOOLEAN
from .table import Column, Table
from .wide_columns import FIRST_ROWS

#: Columns that are looked at to see whether there are several flags.
MOST_COLUMNS = 2000


def with_flags(table: Table) -> Table:
    """Return a table in which numbers of two values are truth values; the same table if there are none.

    Examples
    --------
    >>> columns = [Column("a", "numeric", np.array([2.0, 1.0, 2.0])), Column("b", "integer", np.array([3, 4, 5]))]
    >>> [(column.kind, column.values.tolist()) for column in with_flags(Table(columns)).columns]
    [('boolean', [1, 0, 1]), ('integer', [3, 4, 5])]
    """
    flags = [None if column.is_discrete else _truth_values(column) for column in table.columns]
    if not any(flags):
        return table
    return Table([flag or column for flag, column in zip(flags, table.columns, strict=True)], table.design)


def has_flags(table: Table, n: int) -> bool:
    """Return whether at least `n` of the first `MOST_COLUMNS` columns have two values.

    Examples
    --------
    >>> columns = [Column("a", "numeric", np.array([2.0, 1.0, 2.0])), Column("b", "integer", np.array([3, 4, 5]))]
    >>> has_flags(Table(columns), 1), has_flags(Table(columns), 2)
    (True, False)
    """
    for i in range(min(len(table), MOST_COLUMNS) if n else 0):
        n -= is_flag(table.columns[i])
        if not n:
            break
    return not n


def is_flag(column: Column) -> bool:
    """Return whether a column has two values, or a label two levels."""
    if column.is_discrete:
        return column.kind == BOOLEAN or len(column.levels) == 2
    return _truth_values(column) is not None


def _truth_values(column: Column) -> Column | None:
    """Return a column of two numbers as truth values, which are 1 for the larger one; None for any other column."""
    cells = column.cells()
    if len(np.unique(known := _known(cells[:FIRST_ROWS]))) > 2 or not len(known := _known(cells)):
        return None
    low, high = known.min(), known.max()
    if not low < high or not ((known == low) | (known == high)).all():
        return None
    values = (cells == high).astype(np.int8)
    whole = values if len(known) == len(cells) else np.where(np.isnan(cells), np.nan, values)
    return Column(column.name, BOOLEAN, whole)


def _known(cells: np.ndarray) -> np.ndarray:
    return cells[~np.isnan(cells)] if cells.dtype.kind == "f" else cells
