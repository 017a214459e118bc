"""Makes a `Table` of a DataFrame, an array or a scipy sparse matrix, without importing pandas or scipy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .cards import BOOLEAN, INTEGER, NUMERIC
from .errors import DataError
from .object_numbers import column_of_objects
from .table import Column, Table, column_from_array
from .unicode_text import check_unicode
from .wide_columns import MatrixColumns, SparseColumns

_NAME = "a column has the name"


def as_table(X: Any, names: Sequence[str] | None = None) -> Table:
    """Return a DataFrame, an array (n, d) or a scipy sparse matrix (n, d) as a `Table`.

    Columns of text, booleans or categories are discrete, all others numeric; so are objects that are all numbers, as
    `column_of_objects` reads them. The columns of an array are named by `names`, or ``x0 .. x(d-1)`` as scikit-learn
    names them. Raises `DataError` if `X` is not two-dimensional, two columns share a name, a name or label is not
    Unicode text, or a column holds dates, times or other objects.
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
    X = np.asarray(X)
    if X.ndim != 2:
        raise DataError(f"a table needs rows and columns, but this array has {X.ndim} dimension(s). Reshape it.")
    names = names or [f"x{j}" for j in range(X.shape[1])]
    if X.dtype.kind in "biuf" and X.shape[1]:
        return Table(MatrixColumns(names, X))
    return Table([column_of_objects(name, X[:, j]) for j, name in enumerate(names)])


def _from_series(name: str, series: Any) -> Column:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return column_from_array(name, series.astype(object).to_numpy())
    if getattr(dtype, "na_value", None) is not None and dtype.kind in "iufb" and series.isna().any():
        kind = {"b": BOOLEAN, "f": NUMERIC}.get(dtype.kind, INTEGER)
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
