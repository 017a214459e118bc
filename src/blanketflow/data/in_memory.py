"""Tables that are in memory already, as columns of the kinds that a file of the same content would have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, INTEGER, NUMERIC
from ..core.column_checks import warn_of_row_order
from ..core.convert import as_table
from ..core.errors import DataError, did_you_mean
from ..core.table import Column, Table, check_unicode
from .arrow_frames import as_frame
from .doubtful_cells import warn_of_cells
from .storage import WIDE

#: The source that the spec of such a table names.
SOURCE = "memory"


def columns_in_memory(
    name: str, X: Any, y: Any, groups: Any = None, weights: Any = None, within: Any = None
) -> tuple[Sequence[Column], str | list[str], dict[str, str]]:
    """Return all columns of a data set, the target's name, and the names of groups, weights and strata.

    `X` is a DataFrame, array or sparse matrix of shape (n, d); `y`, `groups`, `weights` and `within` have shape (n,) or
    name a column of `X`. A list of names as `y` gives several targets. Raises `DataError` if lengths differ, or names
    are missing or repeated.

    >>> columns, target, *_ = columns_in_memory("demo", np.array([[1.5], [2.5]]), ["a", "b"])
    >>> [column.kind for column in columns], target
    (['numeric', 'categorical'], 'target')
    """
    warn_of_row_order(name, X, y=y, groups=groups, weights=weights, within=within)
    table = as_table(as_frame(X))
    if not len(table):
        raise DataError(f"{name}: X has no columns.")
    if len(table) <= WIDE and not hasattr(X, "tocsc"):
        table = Table([_as_in_a_file(column) for column in table.columns])
    own = table
    several = _several_targets(table, y)
    table, target = (table, several) if several else _joined(name, table, y, "target")
    warn_of_cells(name, X, own, None if several or target in own.names else table[target], stacklevel=5)
    names: dict[str, str] = {}
    for part, values in {"groups": groups, "weights": weights, "within": within}.items():
        if values is not None:
            table, names[part] = _joined(name, table, values, part)
    return table.columns, target, names


def _several_targets(table: Table, y: Any) -> list[str]:
    """Return the targets, if `y` is a list of several columns; labels of rows cannot all differ and be columns."""
    is_named = isinstance(y, list | tuple) and len(y) > 1 and all(isinstance(one, str) for one in y)
    return list(y) if is_named and len(set(y)) == len(y) and set(y) <= set(table.names) else []


def _joined(name: str, table: Table, values: Any, part: str) -> tuple[Table, str]:
    """Return the table with one more column, unless `values` names one of its columns; and that column's name."""
    if isinstance(values, str):
        if values not in table.names:
            raise DataError(f"{name}: X has no column {values!r} for the {part}. {did_you_mean(values, table.names)}")
        return table, values
    if values is None:
        raise DataError(f"{name}: there is no {part}. Give y, or the name of its column in X.")
    known = getattr(values, "name", None)
    called = part if known in (None, "") else str(known)  # a Series of polars without a name has an empty one
    check_unicode(f"{name}: the {part} has the name", [called])
    if called in table.names:
        raise DataError(
            f"{name}: X has a column {called!r}, and so is the {part} called. If it is the same, drop it from X "
            "or give its name instead; else rename one of them."
        )
    column = _single(name, values, called, part)
    if column.n_rows != table.n_rows:
        raise DataError(f"{name}: X has {table.n_rows} rows, but the {part} has {column.n_rows}. Give as many of both.")
    return table.with_column(column), called


def _single(name: str, values: Any, called: str, part: str) -> Column:
    if hasattr(values, "to_frame"):  # a Series
        one = as_table(as_frame(values.to_frame(called)))
    elif hasattr(values, "columns"):
        one = as_table(as_frame(values))
    else:
        cells = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
        one = as_table(cells.reshape(-1, 1), [called]) if cells.ndim == 1 else as_table(cells)
    if len(one) != 1:
        raise DataError(f"{name}: the {part} has {len(one)} columns, but must be one.")
    return _as_in_a_file(replace(one.columns[0], name=called))


def _as_in_a_file(column: Column) -> Column:
    """Return a column as read from a file: with missing cells, pandas has integers as floats, booleans as objects."""
    if column.kind == NUMERIC and column.n_missing():
        values = column.numbers()
        known = values[~np.isnan(values)]
        if len(known) and np.isfinite(known).all() and (known == np.round(known)).all():
            return replace(column, kind=INTEGER)
    if column.kind == CATEGORICAL and column.levels == ("False", "True") and column.n_missing():
        return Column(column.name, BOOLEAN, np.where(column.values < 0, np.nan, column.values.astype(np.float64)))
    return column
