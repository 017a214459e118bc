"""Row weights that count: a row of weight 3 stands for three equal rows, which stay together where rows are split."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.design_arguments import numbers_of_rows
from ..core.errors import DataError

#: Rows that counts may stand for: they are written out.
MOST_ROWS = 100_000_000


def repeated_rows(where: str, weights: Any, n_rows: int) -> np.ndarray:
    """Return which rows to take, each as often as its weight says: shape (sum of weights,), ascending.

    Parameters
    ----------
    where : str
        Names the table and where the weights come from, for messages.
    weights : array-like of shape (n_rows,)
        Whole numbers of at least 0. Rows of weight 0 are not taken.
    n_rows : int
        Rows of the table.

    Raises
    ------
    DataError
        If they are not such weights, or stand for more than `MOST_ROWS` rows.

    Examples
    --------
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
