"""Makes a `Table` of a DataFrame, an array or a scipy sparse matrix, without importing pandas or scipy.

Objects that are numbers become numbers: ints of any size, floats, `Decimal`, `Fraction`, and gaps among them.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from .cards import BOOLEAN, INTEGER, NUMERIC
from .errors import DataError
from .table import Column, Table, column_from_array, is_missing
from .unicode_text import check_unicode
from .whole_numbers import MOST_WHOLE, exact_or_near
from .wide_columns import MatrixColumns, SparseColumns

_NAME = "a column has the name"


def as_table(X: Any, names: Sequence[str] | None = None) -> Table:
    """Return a DataFrame, an array (n, d) or a scipy sparse matrix (n, d) as a `Table`.

    Columns of text, booleans or categories are discrete, all others numeric; so are objects that are all numbers, as
    `column_of_objects` reads them. The columns of an array are named by `names`, or ``x0 .. x(d-1)`` as scikit-learn
    names them. Masked cells of an array of `numpy.ma` are missing. Raises `DataError` if `X` is not two-dimensional,
    two columns share a name, a name or label is not Unicode text, or a column holds dates, times or other objects.
    """
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


def without_mask(values: Any) -> Any:
    """Return a masked array of numpy as an array whose masked cells are missing, and anything else as it is.

    They are NaN among numbers and truth values, which become floats, and None among others.

    Examples
    --------
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
    """Return a column of a masked array, of the kind that it would have without gaps."""
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
    """Make a column of an array of any dtype; an object array of numbers is read as numbers, not as labels.

    Whole numbers beyond 64 bits, and beyond 2^53 if cells are missing, are counted from the least if floats would round
    them.
    `Decimal` and `Fraction` become the nearest floats; what is too large for a float is infinite. None and NaN are
    missing.

    Examples
    --------
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
