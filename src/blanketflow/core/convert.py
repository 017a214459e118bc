"""Converts frames, arrays, sparse matrices, weights, groups and strata of rows to a `Table` and arrays.

Imports neither pandas nor scipy. Object cells that are all numbers become numbers. Columns of integers beyond 2^53,
which floats would round, are stored as differences from their minimum; no result depends on the origin of a column.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from .cards import BOOLEAN, INTEGER, NUMERIC
from .column import MatrixColumns, SparseColumns, WideColumns
from .errors import DataError, shown
from .mapped_file import kept_like
from .parameters import Parameter
from .table import SAMPLING, WEIGHTS_ARE, Column, Design, Table, check_unicode, column_from_array, is_missing

_NAME = "a column has the name"


def as_table(X: Any, names: Sequence[str] | None = None) -> Table:
    """Return a DataFrame, an array (n, d) or a scipy sparse matrix (n, d) as a `Table`.

    Text, booleans and categories are discrete, other columns numeric, also objects that are all numbers. Columns of an
    array are named by `names`, or ``x0 .. x(d-1)`` as in scikit-learn. Masked cells are missing. Raises `DataError` if
    `X` is not two-dimensional, names repeat, a name or label is not Unicode, or a column has dates, times or other
    objects.
    """
    refuse_path(X)
    if isinstance(X, Table):
        return X
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        names, kinds = [str(name) for name in X.columns], set(X.dtypes)
        check_unicode(_NAME, names)
        if len(kinds) == 1 and isinstance(next(iter(kinds)), np.dtype) and next(iter(kinds)).kind in "biuf":
            return Table(MatrixColumns(names, X.to_numpy()))
        return Table([_from_series(name, X.iloc[:, j]) for j, name in enumerate(names)])
    check_unicode(_NAME, names or ())
    if hasattr(X, "tocsc"):
        return _from_sparse(X.tocsc(), names)
    X = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    if X.ndim != 2:
        raise DataError(f"a table needs rows and columns, but this array has {X.ndim} dimension(s). Reshape it.")
    names = names or [f"x{j}" for j in range(X.shape[1])]
    if np.ma.is_masked(X):
        return Table([_from_masked(name, X[:, j]) for j, name in enumerate(names)])
    X = np.asarray(X)
    if X.dtype.kind in "biuf" and X.shape[1]:
        return Table(MatrixColumns(names, X))
    return Table([column_of_objects(name, X[:, j]) for j, name in enumerate(names)])


def refuse_path(X: Any) -> None:
    """Raise `DataError` if a path was given in place of a table."""
    if isinstance(X, str | os.PathLike):
        raise DataError(
            f"X is {shown(str(X))}, but must be a table. If that is a file, read it by X = bf.read_table({str(X)!r}), "
            "which takes the keys of a data set, such as sep or orient, and name the target: y = X.pop(COLUMN)."
        )


def without_mask(values: Any) -> Any:
    """Return an array with masked cells as NaN (numbers and booleans, as floats) or None; other input unchanged.

    >>> without_mask(np.ma.masked_array([1, 2], mask=[False, True])).tolist()
    [1.0, nan]
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.getmaskarray(values).any():
        return values.data
    if values.dtype.kind in "biuf":
        return values.astype(np.result_type(values.dtype, np.float32)).filled(np.nan)
    return _with_none(values)


def _with_none(values: np.ma.MaskedArray) -> np.ndarray:
    return np.where(np.ma.getmaskarray(values), None, values.data.astype(object))


def _from_masked(name: str, values: np.ma.MaskedArray) -> Column:
    """Return a column of a masked array, of the kind that it has without missing cells."""
    if values.dtype.kind == "b":
        return Column(name, BOOLEAN, without_mask(values).astype(np.float64))
    if values.dtype.kind in "iu" and not values.mask.all():
        return Column(name, INTEGER, exact_or_near(_with_none(values).tolist()))
    return column_of_objects(name, without_mask(values))


def _from_series(name: str, series: Any) -> Column:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return column_from_array(name, series.astype(object).to_numpy())
    if getattr(dtype, "na_value", None) is not None and dtype.kind in "iufb" and series.isna().any():
        kind = {"b": BOOLEAN, "f": NUMERIC}.get(dtype.kind, INTEGER)
        if kind == INTEGER and (known := series.dropna().tolist()) and max(map(abs, known)) > MOST_WHOLE:
            return Column(name, kind, exact_or_near([None if is_missing(cell) else cell for cell in series.tolist()]))
        return Column(name, kind, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if hasattr(dtype, "numpy_dtype") and dtype.kind in "iufb":  # pandas' nullable dtypes
        return column_from_array(name, series.to_numpy(dtype=dtype.numpy_dtype))
    return column_of_objects(name, series.to_numpy())


def _from_sparse(X: Any, names: Sequence[str] | None) -> Table:
    if not X.has_canonical_format:
        X = X.copy()  # the caller's matrix must not change
        X.sum_duplicates()
    n, d = X.shape
    names = names or [f"x{j}" for j in range(d)]
    kind = {"b": BOOLEAN, "i": INTEGER, "u": INTEGER}.get(X.dtype.kind, NUMERIC)
    return Table(
        SparseColumns(names, X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False), X.data, n, kind)
    )


def column_of_objects(name: str, values: np.ndarray) -> Column:
    """Create a column from an array of any dtype; an object array of numbers gives numbers, not labels.

    `exact_or_near` converts large integers. `Decimal` and `Fraction` become the nearest float, infinite if too large.

    >>> from fractions import Fraction
    >>> column_of_objects("a", np.array([Fraction(1, 2), None], dtype=object)).values.tolist()
    [0.5, nan]
    >>> column_of_objects("a", np.array([2**70, -1], dtype=object)).kind
    'integer'
    >>> column_of_objects("a", np.array([1, "b"], dtype=object)).kind
    'categorical'
    """
    if values.dtype.kind != "O":
        return column_from_array(name, values)
    cells = values.tolist()
    if not _are_numbers(set(map(type, cells))):
        return column_from_array(name, values)
    known = [cell for cell in cells if not is_missing(cell)]
    if not known:
        return column_from_array(name, values)
    if all(isinstance(cell, numbers.Integral) for cell in known):
        whole = exact_or_near([None if is_missing(cell) else int(cell) for cell in cells])
        return column_from_array(name, whole) if len(known) < len(cells) else Column(name, INTEGER, whole)
    return column_from_array(name, np.array([np.nan if is_missing(cell) else _as_float(cell) for cell in cells]))


def _are_numbers(kinds: set[type]) -> bool:
    """Whether objects of these types are real numbers or missing."""
    return all(
        (issubclass(kind, (numbers.Real, Decimal)) and not issubclass(kind, (bool, np.timedelta64)))
        or kind.__name__ in ("NoneType", "NAType", "NaTType")
        for kind in kinds
    )


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # a Decimal is infinite then, an int and a Fraction refuse
        return np.inf if number > 0 else -np.inf


#: Largest integer up to which floats are exact.
MOST_WHOLE = 2**53


def counted_from_least(table: Table) -> Table:
    """Return the table with columns of integers beyond 2^53 as differences from their minimum; else the same table.

    >>> table = Table([Column("a", "integer", np.array([2**60 + 1, 2**60, 2**60 + 5]))])
    >>> counted_from_least(table)["a"].values.tolist()
    [1, 0, 5]
    """
    columns = table.columns
    if isinstance(columns, WideColumns):
        more = tuple(from_least(column) for column in columns.more)
        is_same = all(map(_is, more, columns.more))
        if isinstance(columns, MatrixColumns) and is_beyond(columns.matrix):
            least = columns.matrix.min(axis=0)
            columns = replace(columns, matrix=_less(columns.matrix, least))
        elif is_same:
            return table
        return Table(replace(columns, more=more), table.design)
    found = [from_least(column) for column in columns]
    return table if all(map(_is, found, columns)) else Table(kept_like(columns, found, table.n_rows), table.design)


def from_least(column: Column) -> Column:
    """Return a column of integers beyond 2^53 as differences from its minimum; any other column unchanged."""
    values = column.values
    if not isinstance(values, np.ndarray) or not is_beyond(values):
        return column
    return replace(column, values=_less(values, values.min()))


def is_beyond(values: np.ndarray) -> bool:
    """Whether an array has integers that floats would round."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return False
    return int(values.max()) > MOST_WHOLE or int(values.min()) < -MOST_WHOLE


def exact_or_near(cells: Sequence[int | None]) -> np.ndarray:
    """Return integers of any size as an array, shape (n,); None is missing.

    The result has dtype int64 if they fit, else float64 if that is exact. Otherwise they are differences from the
    minimum, as integers or floats, infinite if too large.

    >>> exact_or_near([2**70 + 3, 2**70]).tolist(), exact_or_near([2**60 + 1, None, 2**60]).tolist()
    ([3, 0], [1.0, nan, 0.0])
    """
    known = [cell for cell in cells if cell is not None]
    least, has_gaps = min(known), len(known) < len(cells)
    if not has_gaps and (whole := np.array(known)).dtype.kind in "iu":
        return whole
    near = np.array([np.nan if cell is None else _as_float(cell) for cell in cells])
    if all(cell == value for cell, value in zip(cells, near.tolist(), strict=True) if cell is not None):
        return near
    if _as_float(max(known) - least) == np.inf:
        return near
    return exact_or_near([None if cell is None else cell - least for cell in cells]) if least else near


def _less(values: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return integers minus their minimum, exact as unsigned 64-bit integers."""
    found = values.astype(np.uint64) - np.asarray(least).astype(np.uint64)
    return found.astype(np.int64) if found.max() < 2**63 else found


def _is(one: object, other: object) -> bool:
    return one is other


#: Weights in `CITest.bind` and the selector classes.
SAMPLE_WEIGHTS = Parameter(
    "choice",
    "What sample_weight is: numbers of equal rows, or sampling weights, in proportion to how many members of the "
    "population a row stands for.",
    choices=WEIGHTS_ARE,
)
#: Maximum number of rows after counts are expanded.
MOST_ROWS = 100_000_000


def weighted_rows(
    where: str, weights: Any, weights_are: str, n_rows: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return row indices repeated by counts, and sampling weights of all rows, or None for equal weights.

    Rows of weight 0 are dropped. Raises `DataError`, starting with `where`, if `weights` are invalid.

    >>> weighted_rows("table", [2, 0, 1], "counts", 3)[0].tolist()
    [0, 0, 2]
    >>> weighted_rows("table", [2, 0, 1], "sampling", 3)[0].tolist(), weighted_rows("table", [3, 3], "sampling", 2)
    ([0, 2], (None, None))
    """
    shares = None
    if weights_are == SAMPLING:
        shares = sampling_weights(where, weights, n_rows)
        shares = None if (shares == shares[0]).all() else shares
        rows = np.arange(n_rows) if shares is None else np.flatnonzero(shares)
    else:
        rows = repeated_rows(where, weights, n_rows)
    return (None if np.array_equal(rows, np.arange(n_rows)) else rows), shares


def as_design(shares: np.ndarray | None, groups: np.ndarray | None, within: np.ndarray | None) -> Design:
    """Return the design of rows, with groups and strata as integers from 0; each argument may be None.

    If the groups are the strata, rows have no clusters: they are independent within a stratum.

    >>> site = np.array([0, 1, 0])
    >>> as_design(None, site, None).n_clusters, as_design(None, site, 1 - site).clusters is None
    (2, True)
    """
    if groups is not None and within is not None:
        n_both = len(np.unique(within * (groups.max() + 1) + groups))
        groups = None if n_both == within.max() + 1 == groups.max() + 1 else groups
    return Design(shares, groups, within)


def repeated_rows(where: str, weights: Any, n_rows: int) -> np.ndarray:
    """Return row indices repeated by integer weights >= 0; `DataError` for others, or for more than `MOST_ROWS` rows.

    >>> repeated_rows("table", [2, 0, 1], 3).tolist()
    [0, 0, 2]
    """
    values = numbers_of_rows(where, weights, n_rows)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0) & (values == np.floor(values))))
    if len(wrong):
        raise DataError(
            f"{where} must count equal rows, in whole numbers of at least 0, but row {wrong[0] + 1} has "
            f"{values[wrong[0]]:g}. Round them, if they are counts."
        )
    total = values.sum()
    if not total:
        raise DataError(f"{where} are zero in every row. At least some rows must count.")
    if total > MOST_ROWS:
        raise DataError(
            f"{where} stand for {total:,.0f} rows, but at most {MOST_ROWS:,} can be written out. Divide the weights."
        )
    return np.repeat(np.arange(n_rows), values.astype(np.int64))


def sampling_weights(where: str, weights: Any, n_rows: int) -> np.ndarray:
    """Return sampling weights as floats, (n_rows,); raises `DataError` unless they are >= 0 and not all 0.

    >>> sampling_weights("table", [2, 0.5], 2)
    array([2. , 0.5])
    """
    values = numbers_of_rows(where, weights, n_rows)
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise DataError(
            f"{where} must be sampling weights, numbers of at least 0, but row {wrong[0] + 1} has "
            f"{values[wrong[0]]:g}. Correct it, or give 0 to leave the row out."
        )
    if not values.any():
        raise DataError(f"{where} are zero in every row. At least some rows must count.")
    return values


def numbers_of_rows(where: str, values: Any, n_rows: int) -> np.ndarray:
    """Return one number per row as floats; raises `DataError` for other input.

    >>> numbers_of_rows("table", [2, 1], 2)
    array([2., 1.])
    """
    try:
        found = np.asarray(without_mask(values), dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"{where} must be numbers: {error}.") from error
    if found.shape != (n_rows,):
        raise DataError(f"{where} have the shape {found.shape}, but there are {n_rows:,} rows. Give one per row.")
    return found


def labels_as_numbers(where: str, what: str, given: Any, n_rows: int) -> np.ndarray:
    """Return labels of rows as integers from 0, (n_rows,); raises `DataError`, which names `what`, if one is missing.

    >>> labels_as_numbers("table", "groups", ["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    labels = np.asarray(without_mask(given))
    if labels.shape != (n_rows,):
        raise DataError(f"{where}: {what} have the shape {labels.shape}, but there are {n_rows:,} rows. Give one each.")
    column = column_from_array(what, labels)
    if column.n_missing():
        raise DataError(f"{where}: {what} are missing in {column.n_missing()} rows. Give each row one.")
    return np.unique(column.cells(), return_inverse=True)[1].astype(np.int64)
