"""Checks of cells that several kinds of targets share."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL
from ..core.column import Column
from ..core.errors import DataError


def refuse_missing(where: str, column: Column) -> None:
    """Raise `DataError` if a column has missing cells."""
    if n_missing := column.n_missing():
        raise DataError(f"{where}: column {column.name!r} is missing in {rows(n_missing)}. Fill or drop these rows.")


def finite_numbers(where: str, column: Column, what: str) -> np.ndarray:
    """Return a column's cells as float64, (n,); raises `DataError` unless they are finite numbers.

    `what` names what the cells should be, such as ``"times"``.
    """
    if column.kind in (BOOLEAN, CATEGORICAL):
        held = "text" if column.kind == CATEGORICAL else "truth values"
        raise DataError(f"{where}: column {column.name!r} holds {held}, but {what} are numbers. Name another column.")
    refuse_missing(where, column)
    if n_infinite := column.n_infinite():
        how_many = rows(n_infinite)
        raise DataError(f"{where}: column {column.name!r} is infinite in {how_many}. Correct or drop these rows.")
    return column.numbers()


def refuse_where(where: str, column: Column, wrong: np.ndarray, holds: str, remedy: str) -> None:
    """Raise `DataError` if some rows are `wrong`, (n,); the message says what the column holds and shows the first."""
    if wrong.any():
        row = int(np.argmax(wrong))
        value = f"{column.numbers()[row]:g}"
        raise DataError(
            f"{where}: column {column.name!r} holds {holds} in {rows(int(wrong.sum()))}, first {value} in row "
            f"{row + 1}. {remedy}"
        )


#: Probability of rejecting a true assumption of one kind, for all features together.
LEVEL = 0.01


def rejected(tests: Mapping[str, tuple[float, int]]) -> list[str]:
    """Return the features whose assumption is rejected, by chi-square and degrees of freedom (Bonferroni).

    >>> rejected({"a": (12.0, 1), "b": (6.7, 1), "c": (40.0, 0)})
    ['a']
    """
    from scipy.stats import chi2

    return [name for name, (statistic, dof) in tests.items() if dof and chi2.sf(statistic, dof) <= LEVEL / len(tests)]


def rows(n: int) -> str:
    """Return a number of rows in words.

    >>> rows(1), rows(2000)
    ('1 row', '2,000 rows')
    """
    return f"{n:,} row{'' if n == 1 else 's'}"
