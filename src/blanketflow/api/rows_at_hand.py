"""The rows that a selector fits: each as often as its weight says, and which of them belong together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..ci.base import CITest
from ..core.errors import DataError, DependentRowsWarning, UnsupportedError
from ..core.table import Column, Table, column_from_array
from ..core.wide_columns import WideColumns
from ..data.raw import used_levels
from ..data.weights import repeated_rows
from ..selectors.base import Method
from ..selectors.run_fold import why_no_weights


def rows_at_hand(
    name: str,
    features: Table,
    target: Column,
    weights: Any,
    groups: Any,
) -> tuple[Table, Column, np.ndarray | None]:
    """Return features and target with each row as often as it counts, and numbers of rows that belong together.

    Weights that are all one change nothing, with any method.

    Raises
    ------
    DataError
        If weights or groups do not have one entry per row, weights are not counts, or entries are missing.
    """
    together = None if groups is None else _numbers(name, groups, features.n_rows)
    if weights is None:
        return features, target, together
    rows = repeated_rows(f"{name}: sample_weight", weights, features.n_rows)
    if np.array_equal(rows, np.arange(features.n_rows)):
        return features, target, together
    taken = features.take(rows)
    if not isinstance(taken.columns, WideColumns):
        taken = Table([used_levels(column) for column in taken.columns])
    return taken, used_levels(target.take(rows)), rows if together is None else together[rows]


def check_rows(name: str, method: Method, test: CITest | None, are_weighted: bool, are_grouped: bool) -> None:
    """Raise `UnsupportedError` if rows have weights and method or test draws rows; warn if a test ignores groups."""
    if are_weighted and (reason := why_no_weights(method, test)):
        raise UnsupportedError(f"{name}: {reason}. Repeat the rows, or choose another method or test.")
    if are_grouped and test is not None:
        said = "rows of one group stay together, but p-values take all rows as independent: they may be too small"
        warnings.warn(f"{name}: {said}.", DependentRowsWarning, stacklevel=3)


def _numbers(name: str, groups: Any, n_rows: int) -> np.ndarray:
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise DataError(f"{name}: groups have the shape {labels.shape}, but there are {n_rows:,} rows. Give one each.")
    column = column_from_array("groups", labels)
    if column.n_missing():
        raise DataError(f"{name}: groups are missing in {column.n_missing()} rows. Give each row one.")
    return np.unique(column.cells(), return_inverse=True)[1].astype(np.int64)
