"""Weights and groups of rows as a caller gives them, checked: the rows that count, and their `Design`.

A row whose weight counts stands for so many equal rows, which stay together where rows are split.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .convert import without_mask
from .design import SAMPLING, WEIGHTS_ARE, Design
from .errors import DataError
from .parameters import Parameter
from .table import column_from_array

#: What weights of rows are, of `CITest.bind` and of the selector classes.
SAMPLE_WEIGHTS = Parameter(
    "choice",
    "What sample_weight is: numbers of equal rows, or sampling weights, in proportion to how many members of the "
    "population a row stands for.",
    choices=WEIGHTS_ARE,
)
#: Rows that counts may stand for: they are written out.
MOST_ROWS = 100_000_000


def weighted_rows(
    where: str, weights: Any, weights_are: str, n_rows: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return which rows to take, each as often as it counts, and sampling weights of all; None where all are alike.

    Parameters
    ----------
    where : str
        Names the table and where the weights come from, for messages.
    weights : array-like of shape (n_rows,)
        Numbers of equal rows, or sampling weights. Rows of weight 0 are not taken.
    weights_are : {"counts", "sampling"}
        What they are.
    n_rows : int
        Rows of the table.

    Raises
    ------
    DataError
        If they are not such weights.

    Examples
    --------
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
    """Return the design of rows with sampling weights, groups and strata, both as numbers from 0 on; each may be None.

    Where groups are the strata rows have no clusters: within a group its rows are as drawn one by one.

    Examples
    --------
    >>> site = np.array([0, 1, 0])
    >>> as_design(None, site, None).n_clusters, as_design(None, site, 1 - site).clusters is None
    (2, True)
    """
    if groups is not None and within is not None:
        n_both = len(np.unique(within * (groups.max() + 1) + groups))
        groups = None if n_both == within.max() + 1 == groups.max() + 1 else groups
    return Design(shares, groups, within)


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


def sampling_weights(where: str, weights: Any, n_rows: int) -> np.ndarray:
    """Return sampling weights as floats, shape (n_rows,).

    Parameters
    ----------
    where : str
        Names the table and where the weights come from, for messages.
    weights : array-like of shape (n_rows,)
        Numbers of at least 0, not all 0, in proportion to how many members of the population a row stands for.
    n_rows : int
        Rows of the table.

    Raises
    ------
    DataError
        If they are not such weights.

    Examples
    --------
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
    """Return an array-like of one number per row as floats; raises `DataError` if it is not one.

    Examples
    --------
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
    """Return labels of rows as numbers from 0 on, shape (n_rows,); raises `DataError` if rows have none.

    `what` they are the labels of, such as groups, is for messages.

    Examples
    --------
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
