"""`confirm`: which rows a search leaves out, so that its features can be tested on rows that it never saw."""

from __future__ import annotations

import numpy as np

from .errors import DataError
from .parameters import Parameter
from .row_sample import sampled
from .seeds import derive_seed

#: The key of a selector, and the argument of a selector class.
CONFIRM = Parameter(
    "number",
    "Share of the rows that the search leaves out, on which each selected feature is then tested given the others; "
    "null for none.",
    at_least=0.1,
    at_most=0.9,
    nullable=True,
)
#: The key, and the argument, that says how often the rows are divided.
CONFIRM_SPLITS = Parameter(
    "integer",
    "How many times confirm divides the rows at random, each time with a search and with tests of its own, whose "
    "p-values are combined by a quantile rule.",
    at_least=1,
    at_most=1000,
)
#: Fewest rows to search on, and to confirm on; with groups, fewest groups.
FEWEST = 10
#: So many rows with neighbouring numbers of the target are divided at random among themselves.
STRATUM = 20


def seed_of_split(seed: int, number: int) -> int:
    """Return the seed of the division with a number from 0 on: the first is that of `confirm` alone.

    >>> seed_of_split(7, 0)
    7
    """
    return derive_seed(seed, "confirm_splits", number) if number else seed


def why_no_splits(confirm: float | None, splits: int) -> str | None:
    """Return why rows cannot be divided several times, or None if they can.

    >>> why_no_splits(0.5, 20)
    """
    if splits == 1 or confirm is not None:
        return None
    return f"confirm_splits is {splits}, but confirm leaves no rows out. Set confirm: 0.5, or remove confirm_splits."


def searched_rows(
    target: np.ndarray, share: float | None, seed: int, groups: np.ndarray | None = None, where: str = "data"
) -> np.ndarray:
    """Return which rows a search may see: all, or all but a share, drawn at random and stratified by the target.

    Parameters
    ----------
    target : ndarray of shape (n,)
        Numbers, or codes of labels. Each class, or each range of numbers, keeps its share to within one row.
    share : float or None
        `confirm`, 0.1 to 0.9; None leaves no row out.
    seed : int
        One seed draws one division.
    groups : ndarray of shape (n,), optional
        Numbers of rows that stay together: then it is a share of the groups, stratified by their mean target.
    where : str
        What the message of an error begins with.

    Returns
    -------
    ndarray of bool, shape (n,)

    Raises
    ------
    DataError
        If fewer than 10 rows, or groups, are left on either side, or one value of the target.

    Examples
    --------
    >>> target = np.repeat([0, 1], [60, 20])
    >>> np.bincount(target[searched_rows(target, 0.5, seed=0)]).tolist()
    [30, 10]
    """
    if share is None:
        return np.ones(len(target), dtype=bool)
    if groups is not None:
        numbers = np.unique(groups, return_inverse=True)[1]
        means = np.round(np.bincount(numbers, weights=target) / np.bincount(numbers), 12)
        is_searched = _drawn(means, share, seed, where, "groups")[numbers]
    else:
        is_searched = _drawn(target, share, seed, where, "rows")
    for side, rows in (("search", is_searched), ("confirm", ~is_searched)):
        if len(np.unique(target[rows])) == 1:
            raise DataError(
                f"{where}: confirm: {share:g} leaves rows of one class, or with one value of the target, to {side} on. "
                "Give more rows of the others, or remove confirm."
            )
    return is_searched


def _drawn(target: np.ndarray, share: float, seed: int, where: str, what: str) -> np.ndarray:
    n = len(target)
    n_searched = n - round(share * n)
    if min(n_searched, n - n_searched) < FEWEST:
        raise DataError(
            f"{where}: confirm: {share:g} divides {n} {what} into {n_searched} to search on and {n - n_searched} to "
            f"confirm on, but both need {FEWEST}. Give more {what}, or remove confirm."
        )
    if len(np.unique(target)) > n / STRATUM:
        target = np.argsort(np.argsort(target, kind="stable")) // STRATUM
    is_searched = np.zeros(n, dtype=bool)
    is_searched[sampled(np.arange(n), target, n_searched, derive_seed(seed, "confirm"))] = True
    return is_searched
