"""Encodes a table as a float matrix for models, with a block of columns per feature.

Huge and tiny numbers are scaled first, because trees store them in single precision and scalers square them. Numbers
far from all others are clipped, because one such cell, often a slip, would decide a linear model and its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import is_

import numpy as np

from ..core.cards import CATEGORICAL, NUMERIC
from ..core.errors import DataError
from ..core.numerics import usual_range
from ..core.table import Column, Table

#: Columns whose largest absolute value is within 2^-64 .. 2^64 are not changed.
USUAL = 64
#: Single precision ends just below 2^128, and the difference of two numbers must be finite too.
LARGEST = 2.0**126


@dataclass(frozen=True)
class Design:
    """The design matrix of a table: `matrix`, (n, m), float64 in C order, and `blocks`, the columns of each feature."""

    matrix: np.ndarray
    blocks: list[slice]

    def joined(self, counts: Sequence[int]) -> Design:
        """Return the design with features that each consist of several adjacent ones.

        >>> Design(np.zeros((1, 4)), [slice(0, 1), slice(1, 3), slice(3, 4)]).joined([2, 1]).blocks
        [slice(0, 3, None), slice(3, 4, None)]
        """
        stops = np.cumsum(counts).tolist()
        ends = [(self.blocks[stop - n], self.blocks[stop - 1]) for stop, n in zip(stops, counts, strict=True)]
        return Design(self.matrix, [slice(first.start, last.stop) for first, last in ends])


def design(table: Table) -> Design:
    """Encode a table.

    Numeric, boolean and categorical columns of at most two levels become one column (levels as codes), categorical
    columns of more levels an indicator per declared level, so that all parts of a table have the same columns. Raises
    `DataError` for a missing cell.

    >>> colour = Column("colour", "categorical", np.array([2, 0]), ("blue", "green", "red"))
    >>> encoded = design(Table([Column("size", "numeric", np.array([0.5, 1.5])), colour]))
    >>> encoded.matrix.tolist(), encoded.blocks
    ([[0.5, 0.0, 0.0, 1.0], [1.5, 1.0, 0.0, 0.0]], [slice(0, 1, None), slice(1, 4, None)])
    """
    widths = [len(column.levels) if _is_one_hot(column) else 1 for column in table.columns]
    stops = np.cumsum(widths, dtype=int).tolist()
    blocks = [slice(stop - width, stop) for stop, width in zip(stops, widths, strict=True)]
    matrix = np.empty((table.n_rows, sum(widths)), dtype=np.float64)
    for column, block in zip(table.columns, blocks, strict=True):
        if column.n_missing():
            raise DataError(f"column {column.name!r} has missing cells, which models do not accept. Impute it first.")
        values = column.numbers()[:, None]
        matrix[:, block] = values == np.arange(len(column.levels)) if _is_one_hot(column) else values
    return Design(matrix, blocks)


def _is_one_hot(column: Column) -> bool:
    return column.kind == CATEGORICAL and len(column.levels) > 2


def moderate(table: Table, fitted_on: Table | None = None) -> Table:
    """Return a table with columns of huge or tiny numbers multiplied by a power of two, and numbers far from all others
    clipped to `usual_range`; no cell may be missing.

    The powers and the ranges are those of the training rows `fitted_on`, by default the table.

    >>> table = Table([Column("a", "numeric", np.array([2.0, 1.0])), Column("b", "numeric", np.array([2e300, 1e300]))])
    >>> a, b = moderate(table).columns
    >>> a is table["a"], bool(b.values[0] == 2 * b.values[1]), bool(b.values[0] < 1)
    (True, True, True)
    """
    taught = zip(table.columns, (table if fitted_on is None else fitted_on).columns, strict=True)
    columns = [_scaled(own, _exponent(column), _limits(column)) for own, column in taught]
    return table if all(map(is_, columns, table.columns)) else Table(columns)


def moderated(column: Column) -> np.ndarray:
    """Return the numbers of one column, such as a target, scaled as by `moderate`, float64 of shape (n,)."""
    return _scaled(column, _exponent(column), (-np.inf, np.inf)).numbers()


def _largest(column: Column) -> float:
    if column.kind == CATEGORICAL:
        return 0.0
    values = column.numbers()
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def _exponent(column: Column) -> int:
    """Return the power of two that scales the largest number to 1/2 .. 1; 0 if scaling is not needed."""
    power = int(np.frexp(_largest(column))[1])
    return power if abs(power) > USUAL else 0


def _limits(column: Column) -> tuple[float, float]:
    """Return the limits beyond which the numbers of a column are clipped, infinite ones if it has no numbers."""
    return usual_range(column.numbers()) if column.kind == NUMERIC else (-np.inf, np.inf)


def _scaled(column: Column, power: int, limits: tuple[float, float]) -> Column:
    """Return a column within limits, divided by a power of two; the column itself if that changes nothing."""
    if column.kind == CATEGORICAL:
        return column
    values = column.numbers()
    low, high = limits if power else np.clip(limits, -LARGEST, LARGEST)
    if not power and low <= values.min(initial=np.inf) and values.max(initial=-np.inf) <= high:
        return column
    with np.errstate(over="ignore"):  # in rows that did not determine the power
        values = np.ldexp(np.clip(values, low, high), -power)
    return replace(column, values=np.clip(values, -LARGEST, LARGEST))


def unit_of_errors(numbers: np.ndarray) -> float:
    """Return the variance of a numeric target, 1 if constant, to make errors and ties independent of its unit.

    >>> unit_of_errors(np.array([1.0, 3.0])), unit_of_errors(np.array([7.0, 7.0]))
    (1.0, 1.0)
    """
    return float(np.var(numbers)) or 1.0
