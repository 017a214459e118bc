"""Features of few values as codes of levels, and codes as columns again, for laws of discrete features."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.cards import BOOLEAN, CATEGORICAL
from ...core.errors import DataError, ParameterError
from ...core.table import Column, Table

#: A column of numbers with more distinct values is not discrete.
MOST_VALUES = 64


def levels_of(column: Column, where: str) -> tuple[str, ...]:
    """Return the levels of a column that occur, as texts; a number is one.

    Raises `ParameterError`, beginning with `where`, if a column of numbers has more than `MOST_VALUES` of them.

    Examples
    --------
    >>> levels_of(Column("a", "integer", np.array([2, 0, 2])), "here")
    ('0', '2')
    """
    found = np.unique(column.cells())
    if column.kind == CATEGORICAL:
        return tuple(column.levels[code] for code in found.tolist())
    if len(found) > MOST_VALUES:
        raise ParameterError(
            f"{where}: {column.name!r} has {len(found)} distinct numbers, but a law of discrete features takes at most "
            f"{MOST_VALUES}. Bin it, exclude it, or set law: gaussian."
        )
    return tuple(f"{value:.17g}" for value in found.tolist())


def codes_of(column: Column, levels: Sequence[str], where: str) -> np.ndarray:
    """Return the position of each cell among some levels, shape (n,).

    Labels are compared as texts, numbers by value, and truth values with 0, 1, true and false. Raises `DataError`,
    beginning with `where`, if a level of the column is not among them.

    Examples
    --------
    >>> codes_of(Column("a", "integer", np.array([2, 0, 2])), ["0.0", "1.0", "2.0"], "here").tolist()
    [2, 0, 2]
    """
    own = np.unique(column.cells())
    if column.kind == CATEGORICAL:
        place = {level: at for at, level in enumerate(levels)}
        at = [place.get(column.levels[code], -1) for code in own.tolist()]
    else:
        numbers = {number: at for at, number in enumerate(_number(level, column.kind) for level in levels)}
        at = [numbers.get(float(value), -1) for value in own.tolist()]
    if -1 in at:
        value = own[at.index(-1)]
        level = column.levels[value] if column.kind == CATEGORICAL else f"{value:g}"
        raise DataError(f"{where}: {column.name!r} has the level {level!r}, but the law has {list(levels)[:10]} only.")
    return np.array(at)[np.searchsorted(own, column.cells())]


def _number(level: str, kind: str) -> float | None:
    if kind == BOOLEAN and level.lower() in ("false", "true"):
        return float(level.lower() == "true")
    try:
        return float(level)
    except ValueError:
        return None


def table_of(features: Table, levels: Sequence[Sequence[str]], codes: np.ndarray) -> Table:
    """Return columns of the kinds of some features, with other cells: codes of levels, shape (n, features)."""
    columns = []
    for column, of_column, coded in zip(features.columns, levels, codes.T, strict=True):
        if column.kind == CATEGORICAL:
            columns.append(Column(column.name, CATEGORICAL, coded.astype(np.int32), tuple(of_column)))
        else:
            numbers = np.array([_number(level, column.kind) for level in of_column], dtype=np.float64)
            columns.append(Column(column.name, column.kind, numbers[coded]))
    return Table(columns)
