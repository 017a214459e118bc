"""Missing cells filled from the training rows only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, INTEGER
from ..core.column import MatrixColumns, WideColumns
from ..core.errors import DataError
from ..core.mapped_file import kept_like
from ..core.table import Column, SparseValues, Table
from .columns import missing_by_column

_WHOLE = {INTEGER: np.int64, BOOLEAN: np.int8}


def impute(train: Table, table: Table) -> Table:
    """Fill missing cells of `table` from the training rows of a table with the same columns.

    Numbers get the lower median (a value that occurs), categories the most frequent level, the first of equals; columns
    without training values get 0 or the first level. Raises `DataError` if the levels of a column differ.

    >>> train = Table([Column("a", "numeric", np.array([1.0, 2.0, 9.0, np.nan]))])
    >>> impute(train, train)["a"].values
    array([1., 2., 9., 2.])
    """
    if isinstance(table.columns, WideColumns):
        gaps = np.flatnonzero(missing_by_column(table.columns))
        return Table(_filled_at(train, table.columns, gaps.tolist()), table.design) if len(gaps) else table
    filled = (_filled(train[column.name], column) for column in table.columns)
    return Table(kept_like(table.columns, filled, table.n_rows), table.design)


def _filled_at(train: Table, columns: WideColumns, gaps: list[int]) -> WideColumns:
    """Fill some of the columns, those that have missing cells."""
    filled = {at: _filled(train[columns[at].name], columns[at]) for at in gaps}
    behind = enumerate(columns.more, len(columns.names))
    columns = replace(columns, more=tuple(filled.pop(at, column) for at, column in behind))
    if isinstance(columns, MatrixColumns):
        matrix = np.array(columns.matrix, order="F")
        for at, column in filled.items():
            matrix[:, at] = column.values
        return replace(columns, matrix=matrix)
    values = columns.values.copy()
    for at, column in filled.items():
        cells = slice(columns.starts[at], columns.starts[at + 1])
        values[cells] = column.values[columns.rows[cells]]
    return replace(columns, values=values)


def _filled(train: Column, column: Column) -> Column:
    if column.kind == CATEGORICAL:
        return _filled_levels(train, column)
    if column.n_missing():
        observed = train.numbers()
        observed = observed[~np.isnan(observed)]
        middle = (len(observed) - 1) // 2
        fill = np.partition(observed, middle)[middle] if len(observed) else 0.0
        values = column.numbers()
        column = replace(column, values=np.where(np.isnan(values), fill, values))
    # A whole-number column is stored as floats where any row of the data set lacks it.
    if column.kind in _WHOLE and not isinstance(column.values, SparseValues) and column.values.dtype.kind == "f":
        return replace(column, values=column.values.astype(_WHOLE[column.kind]))
    return column


def _filled_levels(train: Column, column: Column) -> Column:
    if not column.n_missing():
        return column
    if train.levels != column.levels:
        raise DataError(
            f"column {column.name!r}: the training rows have the levels {list(train.levels)[:10]}, the rows to fill "
            f"{list(column.levels)[:10]}. Take both from one table."
        )
    counts = np.bincount(train.values[train.values >= 0], minlength=max(1, len(column.levels)))
    filled = np.where(column.values < 0, np.argmax(counts), column.values).astype(column.values.dtype)
    return replace(column, values=filled, levels=column.levels or ("missing",))
