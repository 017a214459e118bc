"""Rows as a data frame of stated column types, also when there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: pandas' types of the type names that `blanketflow.data.artefacts.write_columns` takes.
_DTYPES = {"string": "str", "double": "float64", "int64": "int64", "bool": "bool"}


def typed_frame(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> pd.DataFrame:
    """Return rows as a frame.

    Parameters
    ----------
    rows : iterable of mappings
        Each with a value for each column; other keys are left out.
    types : mapping of str to {"string", "double", "int64", "bool"}
        The type of each column, in their order.

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
