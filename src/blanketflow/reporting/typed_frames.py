"""Data frames with fixed column types, also when they have no rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: pandas' type for each type name that `blanketflow.data.artefacts.write_columns` accepts.
_DTYPES = {"string": "str", "double": "float64", "int64": "int64", "bool": "bool"}


def typed_frame(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> pd.DataFrame:
    """Return rows as a frame.

    Parameters
    ----------
    rows : iterable of mappings
        Each has a value for every column; other keys are ignored.
    types : mapping of str to {"string", "double", "int64", "bool"}
        The type of each column, in the order of the columns.

    Examples
    --------
    >>> typed_frame([], {"dataset": "string", "alpha": "double"})["alpha"].dtype
    dtype('float64')
    """
    import pandas as pd

    rows = list(rows)
    return pd.DataFrame(
        {column: pd.Series([row[column] for row in rows], dtype=_DTYPES[kind]) for column, kind in types.items()}
    )
