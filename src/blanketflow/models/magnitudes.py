"""Scales huge and tiny numbers for models, because trees store them in single precision and scalers square them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.cards import CATEGORICAL
from ..core.table import Column, Table

#: Columns whose largest absolute value is within 2^-64 .. 2^64 are not changed.
USUAL = 64
#: Single precision ends just below 2^128, and the difference of two numbers must be finite too.
LARGEST = 2.0**126


def moderate(table: Table, fitted_on: Table | None = None) -> Table:
    """Return a table in which columns of huge or tiny numbers are multiplied by a power of two.

    Parameters
    ----------
    table : Table
        Features without missing cells.
    fitted_on : Table, optional
        The training rows, with the same columns, that determine the powers. Values of other rows that are beyond single
        precision are set to its limit. Default: `table` itself.

    Examples
    --------
    >>> table = Table([Column("a", "numeric", np.array([2.0, 1.0])), Column("b", "numeric", np.array([2e300, 1e300]))])
    >>> a, b = moderate(table).columns
    >>> a is table["a"], bool(b.values[0] == 2 * b.values[1]), bool(b.values[0] < 1)
    (True, True, True)
    """
    powers = [_exponent(column) for column in (table if fitted_on is None else fitted_on).columns]
    is_whole = fitted_on is None or fitted_on is table
    if not any(powers) and (is_whole or not any(map(_is_beyond, table.columns))):
        return table
    return Table([_scaled(column, power) for column, power in zip(table.columns, powers, strict=True)])


def moderated(column: Column) -> np.ndarray:
    """Return the numbers of one column, scaled as by `moderate`, float64 of shape (n,)."""
    return _scaled(column, _exponent(column)).numbers()


def _largest(column: Column) -> float:
    if column.kind == CATEGORICAL:
        return 0.0
    values = column.numbers()
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def _exponent(column: Column) -> int:
    """Return the power of two that scales the largest number to 1/2 .. 1; 0 if scaling is not needed."""
    power = int(np.frexp(_largest(column))[1])
    return power if abs(power) > USUAL else 0


def _is_beyond(column: Column) -> bool:
    return _largest(column) > LARGEST


def _scaled(column: Column, power: int) -> Column:
    if not power and not _is_beyond(column):
        return column
    with np.errstate(over="ignore"):  # in rows that did not determine the power
        values = np.ldexp(column.numbers(), -power)
    return replace(column, values=np.clip(values, -LARGEST, LARGEST))
