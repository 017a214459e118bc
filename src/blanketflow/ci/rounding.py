"""Columns whose variation rounding has destroyed, such as 1e15 + noise: tests that centre columns fail on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.printable import printable
from ..core.results import CIResults
from ..core.table import Column, Table
from .least_squares import SMALLEST_SPREAD, standardised

_SHOWN = 5


def is_rounded_away(column: Column) -> bool:
    """Whether a column without missing cells varies, but by too little for the floats of its size.

    The standard deviation is then below about 90 times the distance between neighbouring floats. Above that, p-values
    are those of exact numbers: at an offset of 1e13, 500 times the distance, log p differs by less than 0.02.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=50)
    >>> [is_rounded_away(Column("a", "numeric", noise + offset)) for offset in (0.0, 1e13, 1e15)]
    [False, False, True]
    >>> is_rounded_away(Column("a", "numeric", np.full(50, 0.1)))
    False
    """
    if column.is_discrete:
        return False
    cells = column.cells()
    if not len(cells) or cells.min() == cells.max():
        return False
    values = column.numbers()
    low, high = float(values.min()), float(values.max())
    # The standard deviation is at least the range / sqrt(2 n).
    if high / 2 - low / 2 > 2 * SMALLEST_SPREAD * np.sqrt(len(values)) * max(abs(low), abs(high)):
        return False
    return not standardised(values[np.newaxis]).any()


def rounded_away(table: Table, target: str, results: CIResults) -> list[str]:
    """Return the columns that made marginal results on all other columns unreliable because they are rounded away."""
    suspects = np.flatnonzero(~results.reliable & (results.statistic == 0))
    if not len(suspects):
        return []
    if is_rounded_away(table[target]):
        return [target]
    features = [name for name in table.names if name != target]
    return [features[j] for j in suspects if is_rounded_away(table[features[j]])]


def reason(names: Sequence[str]) -> str:
    """Return in words why tests of some columns say nothing; empty for no columns."""
    if not names:
        return ""
    shown = ", ".join(repr(printable(name)) for name in names[:_SHOWN])
    shown += f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return (
        f"rounding has destroyed {shown}: the spread is below 90 times the distance between floats of that size, so "
        "every test says p = 1. Subtract the offset before the numbers are written, or drop the column."
    )
