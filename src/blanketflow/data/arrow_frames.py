"""Data frames other than pandas': tables of polars, pyarrow and others that give their columns as Arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import DataError


def is_arrow_table(X: Any) -> bool:
    """Return whether something is a table that gives Arrow, and is not a pandas one."""
    return hasattr(X, "__arrow_c_stream__") and hasattr(X, "columns") and not hasattr(X, "iloc")


def as_frame(X: Any) -> Any:
    """Return a polars, pyarrow or other Arrow table as a pandas DataFrame, and anything else unchanged.

    Integers and booleans keep their type where cells are missing. Raises `DataError` for a lazy table of polars.

    >>> import pyarrow as pa
    >>> as_frame(pa.table({"a": [1, None], "b": ["x", "y"]})).dtypes.astype(str).tolist()
    ['Int64', 'str']
    """
    if hasattr(X, "collect_schema") and not hasattr(X, "__arrow_c_stream__"):
        raise DataError("this is a LazyFrame, which has no cells yet. Give its .collect().")
    if not is_arrow_table(X):
        return X
    import pandas as pd
    import pyarrow as pa

    whole = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
    nullable = {pa.type_for_alias(kind.lower()): pd.api.types.pandas_dtype(kind) for kind in whole}
    nullable[pa.bool_()] = pd.BooleanDtype()
    table = pa.table(X)
    return table.to_pandas(types_mapper=lambda kind: nullable.get(kind), ignore_metadata=True)


def with_plain_texts(X: Any) -> Any:
    """Return a pandas DataFrame or Series whose texts and categories are objects, where scikit-learn needs that.

    It reads Arrow's texts, and texts beside booleans or nullable numbers, as numbers.

    >>> import pandas as pd
    >>> with_plain_texts(pd.DataFrame({"a": ["x"], "b": pd.array([1], "Int64")})).dtypes.astype(str).tolist()
    ['object', 'Int64']
    """
    if not hasattr(X, "iloc"):
        return X
    if not hasattr(X, "columns"):
        return X.astype(object) if _is_text(X.dtype) else X
    texts = {name: object for name, dtype in X.dtypes.items() if _is_text(dtype)}
    needs_it = any(
        dtype.kind == "b" or hasattr(dtype, "pyarrow_dtype") or not (isinstance(dtype, np.dtype) or _is_text(dtype))
        for dtype in X.dtypes
    )
    return X.astype(texts) if texts and needs_it else X


def _is_text(dtype: Any) -> bool:
    """Return whether a dtype of pandas' own is of texts or categories."""
    return not isinstance(dtype, np.dtype) and dtype.kind not in "iufcbmM"
