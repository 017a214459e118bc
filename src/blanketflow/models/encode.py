"""Encodes a table as the float matrix for models, with one block of columns per feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.cards import CATEGORICAL
from ..core.errors import DataError
from ..core.table import Column, Table


@dataclass(frozen=True)
class Design:
    """The design matrix of a table.

    Attributes
    ----------
    matrix : ndarray of shape (n, m)
        The matrix, float64 in C order.
    blocks : list of slice
        The columns of `matrix` that belong to each feature, in table order.
    """

    matrix: np.ndarray
    blocks: list[slice]


def design(table: Table) -> Design:
    """Encode a table.

    Numeric, boolean and categorical columns with up to two levels become one column (with codes for levels).
    Categorical columns with more levels become one indicator per level. The declared levels are used, so all parts of a
    table get the same columns.

    Raises
    ------
    DataError
        If a cell is missing.

    Examples
    --------
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
