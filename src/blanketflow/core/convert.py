"""Makes a `Table` of a DataFrame, an array or a scipy sparse matrix, without importing pandas or scipy."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from .cards import BOOLEAN, INTEGER, NUMERIC
from .errors import DataError
from .table import Column, Table, column_from_array, is_missing
from .wide_columns import MatrixColumns, SparseColumns

_NUMBERS = (int, float, np.number, Decimal)


def as_table(X: Any, names: Sequence[str] | None = None) -> Table:
    """Return a DataFrame, an array (n, d) or a scipy sparse matrix (n, d) as a `Table`.

    Columns of object, string, boolean or categorical dtype are discrete, all others numeric. The columns of an array
    are named by `names`, or ``x0 .. x(d-1)`` as scikit-learn names them. Raises `DataError` if `X` is not
    two-dimensional or two columns share a name.
    """
    if isinstance(X, Table):
        return X
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        kinds = set(X.dtypes)
        if len(kinds) == 1 and isinstance(next(iter(kinds)), np.dtype) and next(iter(kinds)).kind in "biuf":
            return Table(MatrixColumns([str(name) for name in X.columns], X.to_numpy()))
        return Table([_from_series(str(name), X.iloc[:, j]) for j, name in enumerate(X.columns)])
    if hasattr(X, "tocsc"):
        return _from_sparse(X.tocsc(), names)
    X = np.asarray(X)
    if X.ndim != 2:
        raise DataError(f"a table needs rows and columns, but this array has {X.ndim} dimension(s). Reshape it.")
    names = names or [f"x{j}" for j in range(X.shape[1])]
    if X.dtype.kind in "biuf" and X.shape[1]:
        return Table(MatrixColumns(names, X))
    return Table([column_from_array(name, _plain(X[:, j])) for j, name in enumerate(names)])


def _plain(values: np.ndarray) -> np.ndarray:
    """Return an object column of numbers as numbers; None and NaN among them are missing."""
    if values.dtype.kind != "O":
        return values
    cells = values.tolist()
    known = [v for v in cells if not is_missing(v)]
    if not known or not all(isinstance(v, _NUMBERS) and not isinstance(v, bool) for v in known):
        return values
    if len(known) == len(cells) and all(isinstance(v, (int, np.integer)) for v in known):
        return np.array(cells)
    return np.array([np.nan if is_missing(v) else float(v) for v in cells])


def _from_series(name: str, series: Any) -> Column:
    dtype = series.dtype
    if hasattr(dtype, "categories"):
        return column_from_array(name, series.astype(object).to_numpy())
    if getattr(dtype, "na_value", None) is not None and dtype.kind in "iufb" and series.isna().any():
        kind = {"b": BOOLEAN, "f": NUMERIC}.get(dtype.kind, INTEGER)
        return Column(name, kind, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if hasattr(dtype, "numpy_dtype") and dtype.kind in "iufb":  # pandas' nullable dtypes
        return column_from_array(name, series.to_numpy(dtype=dtype.numpy_dtype))
    return column_from_array(name, _plain(series.to_numpy()))


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
