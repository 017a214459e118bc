"""Tables that are in memory already, as columns of the kinds that a file of the same content would have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, INTEGER, NUMERIC
from ..core.column_checks import warn_of_row_order
from ..core.convert import as_table
from ..core.errors import DataError, did_you_mean
from ..core.table import Column, Table, check_unicode
from ..targets import get_target_kind
from ..targets.forms import AUTO, as_target
from ..targets.joint import JOINT, joint_columns
from .arrow_frames import as_frame
from .storage import WIDE
from .suspected_cells import warn_of_cells

#: The source that the spec of such a table names.
SOURCE = "memory"


def columns_in_memory(
    name: str,
    X: Any,
    y: Any,
    groups: Any = None,
    weights: Any = None,
    within: Any = None,
    time: Any = None,
    target_kind: str = "auto",
) -> tuple[Sequence[Column], Any, dict[str, str]]:
    """Return all columns of a data set, its key `target`, and the names of groups, weights, strata and times.

    `X` is a DataFrame, array or sparse matrix of shape (n, d); `y`, `groups`, `weights`, `within` and `time` have
    shape (n,) or name a column of `X`; only the last may be dates. A list of names as `y` gives several targets, a
    mapping of names such as ``{"time": "days", "event": "died"}`` one with parts, and so do the forms of `as_target`.
    Raises `DataError` if lengths differ, or names are missing or repeated.

    >>> columns, target, *_ = columns_in_memory("demo", np.array([[1.5], [2.5]]), ["a", "b"])
    >>> [column.kind for column in columns], target
    (['numeric', 'categorical'], 'target')
    """
    warn_of_row_order(name, X, y=y, groups=groups, weights=weights, within=within, time=time)
    X, time = _with_dates_as_text(as_frame(X), time)
    table = as_table(X)
    if not len(table):
        raise DataError(f"{name}: X has no columns.")
    if len(table) <= WIDE and not hasattr(X, "tocsc"):
        table = Table([_as_in_a_file(column) for column in table.columns])
    own = table
    table, target = _with_target(name, table, y, target_kind)
    is_added = isinstance(target, str) and target not in own.names
    warn_of_cells(name, X, own, table[target] if is_added else None, stacklevel=5)
    names: dict[str, str] = {}
    for part, values in {"groups": groups, "weights": weights, "within": within, "time": time}.items():
        if values is not None:
            table, names[part] = _joined(name, table, values, part)
    return table.columns, target, names


def _with_dates_as_text(X: Any, time: Any) -> tuple[Any, Any]:
    """Return the features and the times of the rows, or the name of their column, with times of a date type as text."""
    if isinstance(time, str):
        is_column = hasattr(X, "iloc") and list(X.columns).count(time) == 1
        return (X.assign(**{time: _as_text(X[time])}) if is_column else X), time
    return X, _as_text(time)


def _as_text(times: Any) -> Any:
    if getattr(getattr(times, "dtype", None), "kind", "") != "M":
        return times
    import pandas as pd

    found = times if isinstance(times, pd.Series) else pd.Series(times)
    found = found if found.dt.tz is None else found.dt.tz_convert(None)  # those of Greenwich
    return found.dt.strftime("%Y-%m-%dT%H:%M:%S.%f")


def _with_target(name: str, table: Table, y: Any, kind: str) -> tuple[Table, Any]:
    """Return the table with the target's columns, and the key `target`."""
    if several := _several_targets(table, y):
        return table, several
    if isinstance(y, Mapping) and all(isinstance(column, str) for column in y.values()):
        return table, dict(y)
    if isinstance(y, Mapping) and JOINT in y:
        return _with_joint_target(name, table, y, kind)
    if kind != AUTO and isinstance(y, str):
        return _joined(name, table, y, "target")
    of_kind = as_target(name, "target", y, kind)
    if of_kind is None:
        return _joined(name, table, y, "target")
    own = Column(of_kind.name, of_kind.kind, of_kind.values, of_kind.levels)
    parts = {part: Column(f"{own.name} ({part})", NUMERIC, values) for part, values in of_kind.parts.items()}
    for column in (own, *parts.values()):
        table, _ = _joined(name, table, column, "target")
    declared = get_target_kind(of_kind.target_kind)
    return table, {declared.own: own.name, **{part: column.name for part, column in parts.items()}}


def _with_joint_target(name: str, table: Table, y: Mapping[str, Any], kind: str) -> tuple[Table, Any]:
    """Return the table with the columns of joint labels, and the key `target`; a list names columns of the table."""
    if isinstance(y[JOINT], list | tuple) and all(isinstance(one, str) for one in y[JOINT]):
        return table, {**y, JOINT: list(y[JOINT])}
    columns = joint_columns(name, y, kind)
    for column in columns:
        table, _ = _joined(name, table, _as_in_a_file(column), "target")
    return table, {JOINT: [column.name for column in columns]}


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
    if isinstance(values, Column):
        return values
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
