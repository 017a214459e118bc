"""Rows that differ in spread in all their numbers at once, as those of a multivariate t distribution do.

Such a row is Gaussian given its spread. Knockoffs that are drawn as if all rows had one spread are too small where a
row is large, and tell features from knockoffs. So numbers are divided by the spread of their row before knockoffs are
drawn, and both are multiplied by it afterwards (the latent variable of Gimenez, Ghorbani and Zou 2019,
http://proceedings.mlr.press/v89/gimenez19a.html).
"""

from __future__ import annotations

import math

import numpy as np

from ...core.cards import INTEGER, NUMERIC
from ...core.numerics import standardised
from ...core.table import Column, Table

#: Most columns that the spread of a row is estimated by, and most rows and columns that are looked at.
MOST_COLUMNS, LOOKED_AT_ROWS, LOOKED_AT_COLUMNS = 1000, 2000, 200
#: Fewest columns by which the spread of a row can be told, and fewest values of a column that is a number here.
FEWEST_COLUMNS, FEWEST_VALUES = 10, 10
#: From which `shared_spread` on rows count as differing in spread. Rows from t of 5 degrees of freedom have 0.2 and of
#: 10 degrees 0.1, Gaussian ones 0.
SHARED = 0.05
#: Cells further from 0 than so many standard deviations count as so many: tails of one column say little of a row.
_CUT = 2.0
_ROUNDS, _CHANGE = 50, 1e-4


def numbers_of(table: Table) -> list[int]:
    """Return the positions of the columns that hold numbers of at least `FEWEST_VALUES` different values.

    Examples
    --------
    >>> few, many = np.arange(30) % 3, np.arange(30.0)
    >>> numbers_of(Table([Column("few", "integer", few), Column("many", "numeric", many)]))
    [1]
    """
    return [
        at
        for at, column in enumerate(table.columns)
        if column.kind in (INTEGER, NUMERIC) and len(np.unique(column.cells())) >= FEWEST_VALUES
    ]


def shared_spread(columns: np.ndarray) -> float:
    """Return how much the spreads of columns go together beyond what their correlations say.

    Each column is replaced by normal scores, so that its own tails do not count. Of Gaussian columns the squares
    correlate as much as the square of their correlation.

    Parameters
    ----------
    columns : ndarray of shape (n, m)
        Numbers; some are looked at, evenly spaced, if there are many.

    Returns
    -------
    float
        The mean excess over all pairs, -1 to 1: near 0 for Gaussian columns, 0 for fewer than two.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(500, 20))
    >>> heavy = rows / np.sqrt(rng.chisquare(3, (500, 1)) / 3)
    >>> bool(abs(shared_spread(rows)) < 0.01), bool(shared_spread(heavy) > 0.2)
    (True, True)
    """
    n, m = columns.shape
    some = columns[:: -(-n // LOOKED_AT_ROWS), :: -(-m // LOOKED_AT_COLUMNS)] if m else columns
    scores = standardised(np.array([_normal_scores(values) for values in some.T]).reshape(-1, len(some)))
    squares = standardised(scores**2)
    excess = squares @ squares.T - (scores @ scores.T) ** 2
    pairs = len(scores) * (len(scores) - 1)
    return float(excess.sum() - np.trace(excess)) / pairs if pairs else 0.0


def _normal_scores(values: np.ndarray) -> np.ndarray:
    from scipy.special import ndtri

    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle_ranks = np.cumsum(counts) - (counts - 1) / 2
    return ndtri(middle_ranks / (len(values) + 1))[place]


def row_spreads(columns: np.ndarray) -> np.ndarray:
    """Return the spread of each row, shape (n,), relative to the median row.

    Rows and columns are scaled in turn until the mean of the squared cells, of which none counts more than `_CUT`
    squared, is that of a standard Gaussian in each: an M-estimator of scale (Huber 1964, Tyler 1987).

    Parameters
    ----------
    columns : ndarray of shape (n, m)
        Numbers; at most `MOST_COLUMNS` of them, evenly spaced, are looked at.

    Returns
    -------
    ndarray of shape (n,)
        Positive; 1 for the median row.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> spreads = np.repeat([1.0, 1.0, 10.0], 50)
    >>> found = row_spreads(spreads[:, np.newaxis] * rng.normal(size=(150, 200)))
    >>> bool(np.abs(found / spreads - 1).max() < 0.25)
    True
    """
    some = columns[:, :: -(-columns.shape[1] // MOST_COLUMNS)]
    centred = some - np.median(some, axis=0)
    wanted = _mean_of_cut_squares()
    rows, of_columns = np.ones((len(some), 1)), np.abs(centred).mean(axis=0, keepdims=True)
    for _ in range(_ROUNDS):
        before = rows
        rows = rows * _factor(centred / (rows * of_columns), 1, wanted)
        of_columns = of_columns * _factor(centred / (rows * of_columns), 0, wanted)
        if np.abs(rows / before - 1).max() < _CHANGE:
            break
    return np.ravel(rows / np.median(rows))


def _factor(cells: np.ndarray, axis: int, wanted: float) -> np.ndarray:
    """Return by how much rows or columns are too large; 1 for those that are 0 throughout."""
    found = np.sqrt(np.minimum(cells**2, _CUT**2).mean(axis=axis, keepdims=True) / wanted)
    return np.where(found > 0, found, 1.0)


def _mean_of_cut_squares() -> float:
    """Return the mean of min(z^2, cut^2) of a standard Gaussian z."""
    inside = math.erf(_CUT / math.sqrt(2))
    density = math.exp(-(_CUT**2) / 2) / math.sqrt(2 * math.pi)
    return inside - 2 * _CUT * density + _CUT**2 * (1 - inside)


def of_one_spread(table: Table, numbers: list[int], spreads: np.ndarray) -> Table:
    """Return a table whose numbers, less their medians, are divided by the spread of their row."""
    chosen = set(numbers)
    return Table(
        [
            Column(column.name, NUMERIC, _deviations(column) / spreads) if at in chosen else column
            for at, column in enumerate(table.columns)
        ]
    )


def _deviations(column: Column) -> np.ndarray:
    values = column.numbers()
    return values - np.median(values)
