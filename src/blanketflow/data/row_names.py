"""A first column without a name, which numbers or names the rows, as R and pandas write it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from ..core.cards import CATEGORICAL, INTEGER
from ..core.table import Column

#: What such a column is called until it is left out.
UNNAMED = ""


def with_row_names(header: list[str], rows: Iterator[list[str]]) -> tuple[list[str], Iterator[list[str]]]:
    """Return a header as long as the rows, and the rows: R's write.table gives row names no cell in the header.

    >>> with_row_names(["a", "b"], iter([["1", "3", "4"]]))[0]
    ['', 'a', 'b']
    """
    first = next(rows, None)
    if first is None:
        return header, rows
    if len(first) == len(header) + 1 and first[0].strip() and first[-1].strip() and len(header) > 1:
        header = [UNNAMED, *header]
    return header, chain([first], rows)


def name_rows(column: Column, by_number: bool = False) -> bool:
    """Return whether no two cells are equal, none is missing, and none has decimals; `by_number`: or these are 1 .. n.

    >>> ids = Column("", INTEGER, np.array([7, 9]))
    >>> name_rows(ids), name_rows(ids, by_number=True)
    (True, False)
    """
    if column.kind not in (INTEGER, CATEGORICAL) or column.n_missing():
        return False
    if by_number and column.kind == INTEGER:
        return np.array_equal(column.values, np.arange(1, column.n_rows + 1))
    return len(np.unique(column.values)) == column.n_rows
