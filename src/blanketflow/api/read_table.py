"""``bf.read_table``: reads a file as the workflow and the commands do."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..config.reading import checked_dataset
from ..core.cards import BOOLEAN, CATEGORICAL
from ..core.column import MatrixColumns, SparseColumns, WideColumns
from ..core.errors import ReadingWarning
from ..core.table import Column
from ..data.column_roles import recoded, setting
from ..data.columns import names_of, only
from ..data.dialect import found_line
from ..data.download import key_of_place
from ..data.missing_markers import markers_told
from ..data.sources import read_columns, without_aside

if TYPE_CHECKING:
    import pandas as pd


def read_table(path: str | Path, **keys: Any) -> pd.DataFrame:
    """Read a table as the workflow and ``blanketflow select`` do, with all its columns.

    What was found out about how the file is written is issued as a `ReadingWarning`, with the key that overrides it.

    Parameters
    ----------
    path : path
        A file or URL of any format that is read, or a source such as ``"sklearn:wine"``.
    **keys
        Keys of a data set as in config.yaml, such as ``orient="features-in-rows"``, ``below_detection="half"`` or
        ``labels={"path": "samples.csv", "by": "id", "target": "outcome"}``. `target`, `groups` and `within` name
        columns that are kept although the source says that they are no features.

    Returns
    -------
    DataFrame
        A row for each sample, the target among the columns. Labels are categories, and missing cells are NaN.

    Raises
    ------
    ConfigError
        If a key is wrong.
    DataError
        If the table cannot be read.

    Examples
    --------
    >>> import blanketflow as bf
    >>> X = bf.read_table("sklearn:wine")
    >>> y = X.pop("target")
    >>> X.shape, y.nunique()
    ((178, 13), 3)
    """
    import pandas as pd

    text = str(path)
    spec = checked_dataset("table", {key_of_place(text): text, **keys})
    loaded = read_columns("table", spec)
    for told in filter(None, [found_line(loaded.found), markers_told(loaded.markers), loaded.suspected.line()]):
        warnings.warn(f"read_table: {told}", ReadingWarning, stacklevel=2)
    columns = without_aside(loaded, spec)
    columns = only(columns, set(names_of(columns)) - {*setting(spec, "drop")})
    columns = recoded("table", columns, {*setting(spec, "categorical")})
    if not isinstance(columns, WideColumns):
        return pd.DataFrame({column.name: _series(column) for column in columns})
    frames = [_frame(columns), *(pd.DataFrame({column.name: _series(column)}) for column in columns.more)]
    return pd.concat(frames, axis=1)


def _frame(columns: WideColumns) -> pd.DataFrame:
    import pandas as pd
    from scipy.sparse import csc_array

    if isinstance(columns, MatrixColumns):
        return pd.DataFrame(columns.matrix, columns=list(columns.names))
    if isinstance(columns, SparseColumns):
        shape = columns.n_rows, len(columns.names)
        cells = csc_array((columns.values, columns.rows, columns.starts), shape=shape)
        return pd.DataFrame.sparse.from_spmatrix(cells, columns=list(columns.names))
    return pd.DataFrame({name: _series(columns.column(at)) for at, name in enumerate(columns.names)})


def _series(column: Column) -> Any:
    import pandas as pd

    if column.kind == CATEGORICAL:
        return pd.Categorical.from_codes(np.asarray(column.values), categories=list(column.levels))
    values = column.cells()
    return values.astype(bool) if column.kind == BOOLEAN and not column.n_missing() else values
