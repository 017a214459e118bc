"""Sampling weights and groups of rows as a caller gives them, checked and made a `Design`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .design import Design
from .errors import DataError
from .table import column_from_array


def as_design(where: str, weights: Any, groups: Any, within: Any, n_rows: int) -> Design:
    """Return the design of rows with sampling weights above 0, groups or strata; raises `DataError` as these do.

    Examples
    --------
    >>> as_design("table", None, ["a", "b", "a"], None, 3).n_clusters
    2
    """
    shares = None if weights is None else sampling_weights(f"{where}: sample_weight", weights, n_rows)
    if shares is not None and not shares.all():
        raise DataError(f"{where}: sample_weight is 0 in row {np.argmin(shares) + 1}. Leave such rows out.")
    labels = {"groups": groups, "within": within}
    codes = [None if one is None else labels_as_numbers(where, what, one, n_rows) for what, one in labels.items()]
    return Design(shares, *codes)


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
        found = np.asarray(values, dtype=float)
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
    labels = np.asarray(given)
    if labels.shape != (n_rows,):
        raise DataError(f"{where}: {what} have the shape {labels.shape}, but there are {n_rows:,} rows. Give one each.")
    column = column_from_array(what, labels)
    if column.n_missing():
        raise DataError(f"{where}: {what} are missing in {column.n_missing()} rows. Give each row one.")
    return np.unique(column.cells(), return_inverse=True)[1].astype(np.int64)
