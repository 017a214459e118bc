"""Which rows a search takes beyond `max_rows`: a sample that is stratified by the target."""

from __future__ import annotations

import numpy as np

from .parameters import Parameter
from .seeds import derive_rng

#: The key of a data set, and the argument of a selector class.
MAX_ROWS = Parameter(
    "integer",
    "Most rows of a fold for searches that fit models or compare rows with rows: beyond it they take a sample, "
    "stratified by the target; null for all.",
    at_least=10,
    nullable=True,
)


def sampled(rows: np.ndarray, target: np.ndarray, max_rows: int | None, seed: int) -> np.ndarray:
    """Return the rows that a search works on: all, or beyond `max_rows` so many of them, stratified by the target.

    Parameters
    ----------
    rows : ndarray of shape (n,)
        Rows of the table.
    target : ndarray of shape (n_table,)
        Numbers, or codes of labels, of the whole table. Each class, or each range of numbers, keeps its share to within
        one row.
    max_rows : int or None
        None takes all.
    seed : int
        The fold's.

    Examples
    --------
    >>> target = np.repeat([0, 1], [900, 100])
    >>> np.bincount(target[sampled(np.arange(1000), target, 50, seed=0)]).tolist()
    [45, 5]
    """
    if max_rows is None or len(rows) <= max_rows:
        return rows
    rng = derive_rng(seed, "max_rows")
    order = np.lexsort([rng.random(len(rows)), target[rows]])
    # One row of each of so many equal stretches, at the same place in all of them.
    places = ((np.arange(max_rows) + rng.random()) * (len(rows) / max_rows)).astype(np.int64)
    return rows[np.sort(order[np.minimum(places, len(rows) - 1)])]


def sample_told(n_rows: int, max_rows: int | None) -> str:
    """Return in words that a search takes a sample of so many rows; empty if it takes all.

    Examples
    --------
    >>> sample_told(40_000, 5_000)
    '5,000 of 40,000 rows were taken, a sample stratified by the target (max_rows)'
    """
    if max_rows is None or n_rows <= max_rows:
        return ""
    return f"{max_rows:,} of {n_rows:,} rows were taken, a sample stratified by the target (max_rows)"
