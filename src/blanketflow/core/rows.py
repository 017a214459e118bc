"""Parts for cross-validation, samples of rows, and the rows held out by `confirm`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .column import Column
from .errors import DataError
from .parameters import Parameter
from .seeds import derive_rng, derive_seed

#: Rows of an inner fold: all rows but its part, or its part.
FOLD_ROWS = ("train", "part")
#: Outer splits that each hold out one group, and the maximum, since each is a whole search.
LEAVE_GROUP_OUT = "leave-group-out"
#: Outer splits that train on the past and test on the period that follows.
FORWARD = "forward"
MOST_GROUPS = 100
#: Parts of the training rows for the score on the groups that were not held out.
SEEN_PARTS = 5


def balanced_parts(
    target: np.ndarray, n_parts: int, rng: np.random.Generator, groups: np.ndarray | None = None
) -> np.ndarray:
    """Return the part of each row, 0 .. n_parts - 1, stratified by the target; equal targets are in random order.

    The target has numbers or codes, (n,) or (n, m), the last column first in order. Rows of one group in `groups`,
    (n,), are in one part; groups are then stratified by mean target, with at most one part per group. Raises
    `DataError` for a single group.

    >>> parts = balanced_parts(np.array([1, 0, 1, 0]), 2, np.random.default_rng(0))
    >>> sorted(parts[[0, 2]].tolist()), sorted(parts[[1, 3]].tolist())
    ([0, 1], [0, 1])
    >>> balanced_parts(np.array([1, 1, 0, 0]), 2, np.random.default_rng(0), np.array([7, 7, 3, 3])).tolist()
    [1, 1, 0, 0]
    """
    if groups is not None:
        numbers = numbers_of(groups)
        sums = np.array([np.bincount(numbers, weights=key) for key in target.reshape(len(target), -1).T])
        return balanced_parts(np.round(sums / np.bincount(numbers), 12).T, n_parts, rng)[numbers]
    keys = target.reshape(len(target), -1)
    parts = np.empty(len(target), dtype=np.int64)
    parts[np.lexsort([rng.random(len(target)), *keys.T])] = np.arange(len(target)) % n_parts
    return parts


def numbers_of(groups: np.ndarray) -> np.ndarray:
    """Return the groups of rows as integers from 0, (n,); raises `DataError` if rows cannot be held out by them.

    >>> numbers_of(np.array([7, 3, 7])).tolist()
    [1, 0, 1]
    """
    numbers = np.unique(groups, return_inverse=True)[1]
    if not numbers.any():
        raise DataError("rows are held out by groups, and all are of one group. Give more groups, or none.")
    return numbers


#: Rows are repeated if at least this share equals an earlier row, ...
REPEATED = 0.02
#: ... at least this share of the distinct rows differs from all others in one half of the columns already, ...
TOLD_APART = 0.9
#: ... and at least so many rows, and this share of all, are distinct. Fewer may be equal by chance.
FEWEST_DISTINCT, DISTINCT = 20, 0.1
#: The most cells in which equal rows are looked for.
MOST_COMPARED = 2**26


def repeats(columns: Iterable[Column], n_rows: int) -> np.ndarray | None:
    """Return numbers of rows, (n,), equal for rows that are equal in all columns; None if no row is entered twice.

    Rows of few values are equal by chance. They are taken for repeated only if half of the columns tells nearly all
    distinct rows apart, so that a coincidence of all columns is out of the question. Most tables are told apart by few
    columns, and no more are read.

    >>> size = Column("size", "numeric", np.tile(np.linspace(0, 1, 50), 2))
    >>> repeats([size], 100)[[0, 50, 1]].tolist(), repeats([size.take(np.arange(50))], 50)
    ([0, 0, 1], None)
    >>> repeats([Column("flag", "numeric", np.tile([0.0, 1.0], 50))], 100) is None
    True
    """
    if n_rows < FEWEST_DISTINCT:
        return None
    halves, most = np.zeros((2, n_rows), dtype=np.uint64), MOST_COMPARED // n_rows
    for at, column in enumerate(columns):
        if at >= most:
            return None
        halves[at % 2] = _mixed(halves[at % 2], column.numbers())
        if not at & (at + 1):  # after 1, 2, 4, 8, ... columns
            ordered = np.sort(_both(halves))  # np.unique hashes integers, which takes 20 times as long
            if not (ordered[1:] == ordered[:-1]).any():
                return None
    _, first, numbers = np.unique(_both(halves), return_index=True, return_inverse=True)
    n_distinct = len(first)
    if n_rows - n_distinct < REPEATED * n_rows or n_distinct < max(FEWEST_DISTINCT, DISTINCT * n_rows):
        return None
    alone = [np.count_nonzero(np.unique(half[first], return_counts=True)[1] == 1) for half in halves]
    return np.argsort(np.argsort(first))[numbers] if max(alone) >= TOLD_APART * n_distinct else None


def _mixed(hashes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return hashes of rows, uint64 (n,), with the numbers of one more column."""
    numbers = np.asarray(values, dtype=np.float64) + 0.0  # -0.0 equals 0.0
    numbers[np.isnan(numbers)] = np.nan
    hashes = (hashes ^ numbers.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    return (hashes ^ (hashes >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


def _both(halves: np.ndarray) -> np.ndarray:
    return halves[0] ^ (halves[1] >> np.uint64(7)) ^ (halves[1] << np.uint64(57))


#: What is said of repeated rows where they are found.
REPEATS_TOLD = "kept together where rows are held out, but tests and models count each: keep each once if entered twice"


def repeats_told(numbers: np.ndarray | None) -> str:
    """Return a note on repeated rows; empty if there are none.

    >>> repeats_told(np.array([0, 1, 0]))[:40]
    '1 of 3 rows equals an earlier one and is'
    """
    if numbers is None:
        return ""
    n_equal = len(numbers) - len(np.unique(numbers))
    equal = "equals an earlier one and is" if n_equal == 1 else "equal earlier ones and are"
    return f"{n_equal:,} of {len(numbers):,} rows {equal} {REPEATS_TOLD}"


#: The key of a data set, and the argument of a selector class.
MAX_ROWS = Parameter(
    "integer",
    "Most rows of a fold for searches that fit models or compare rows with rows: beyond it they take a sample, "
    "stratified by the target; null for all.",
    at_least=10,
    nullable=True,
)


def sampled(rows: np.ndarray, target: np.ndarray, max_rows: int | None, seed: int) -> np.ndarray:
    """Return all rows, or `max_rows` stratified by the target of the whole table, each class to within one row.

    >>> target = np.repeat([0, 1], [900, 100])
    >>> np.bincount(target[sampled(np.arange(1000), target, 50, seed=0)]).tolist()
    [45, 5]
    """
    if max_rows is None or len(rows) <= max_rows:
        return rows
    rng = derive_rng(seed, "max_rows")
    order = np.lexsort([rng.random(len(rows)), target[rows]])
    # One row of each equal stretch, at the same place.
    places = ((np.arange(max_rows) + rng.random()) * (len(rows) / max_rows)).astype(np.int64)
    return rows[np.sort(order[np.minimum(places, len(rows) - 1)])]


def sample_told(n_rows: int, max_rows: int | None) -> str:
    """Return a text on the sample of a search; empty if all rows are used.

    >>> sample_told(40_000, 5_000)
    '5,000 of 40,000 rows were taken, a sample stratified by the target (max_rows)'
    """
    if max_rows is None or n_rows <= max_rows:
        return ""
    return f"{max_rows:,} of {n_rows:,} rows were taken, a sample stratified by the target (max_rows)"


#: The key of a selector, and the argument of a selector class.
CONFIRM = Parameter(
    "number",
    "Share of the rows that the search leaves out, on which each selected feature is then tested given the others; "
    "null for none.",
    at_least=0.1,
    at_most=0.9,
    nullable=True,
)
#: Key and argument of the number of splits.
CONFIRM_SPLITS = Parameter(
    "integer",
    "How many times confirm divides the rows at random, each time with a search and with tests of its own, whose "
    "p-values are combined by a quantile rule.",
    at_least=1,
    at_most=1000,
)
#: Fewest rows to search on, and to confirm on; with groups, fewest groups.
FEWEST = 10
#: Rows with neighbouring target values in one stratum.
STRATUM = 20


def seed_of_split(seed: int, number: int) -> int:
    """Return the seed of a numbered split; the first is that of a single `confirm`.

    >>> seed_of_split(7, 0)
    7
    """
    return derive_seed(seed, "confirm_splits", number) if number else seed


def why_no_splits(confirm: float | None, splits: int) -> str | None:
    """Return why rows cannot be split several times, or None.

    >>> why_no_splits(0.5, 20)
    """
    if splits == 1 or confirm is not None:
        return None
    return f"confirm_splits is {splits}, but confirm leaves no rows out. Set confirm: 0.5, or remove confirm_splits."


def searched_rows(
    target: np.ndarray, share: float | None, seed: int, groups: np.ndarray | None = None, where: str = "data"
) -> np.ndarray:
    """Return the rows for the search, bool (n,): all but a random share `confirm` (0.1 to 0.9; None: all).

    The split is stratified by the target to within one row. With `groups`, (n,), whole groups are drawn, stratified by
    mean target. Raises `DataError`, starting with `where`, if a side has fewer than 10 rows or groups, or one value of
    the target.

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
