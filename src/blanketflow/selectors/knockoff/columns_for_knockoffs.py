"""Columns for knockoffs: centred, of variance 1, uncorrelated within a feature; covariances; spreads of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.cards import INTEGER, NUMERIC
from ...core.errors import ParameterError
from ...core.numerics import standardised
from ...core.parameters import anything
from ...core.table import Column, Table
from ...models.encode import design, moderate

#: A direction of a feature's levels with less than this share of the variance is a combination of others.
SMALLEST_DIRECTION = 1e-9


def columns_of(features: Table, counts: Sequence[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return columns, (n, m), and the position of each column's feature, (m,); constant features have no column.

    A number, a boolean and a feature of two levels are one column. A feature of k levels has up to k - 1 uncorrelated
    columns that span its indicators, so exchanging them all with their knockoffs is valid if it is for each. With
    `counts`, a feature has so many adjacent columns of the table, treated in the same way.
    """
    encoded = design(moderate(features))
    encoded = encoded if counts is None else encoded.joined(counts)
    n, found, owners = features.n_rows, np.empty((encoded.matrix.shape[1], features.n_rows)), []
    for at, block in enumerate(encoded.blocks):
        columns = standardised(encoded.matrix[:, block].T)
        if len(columns) > 1:
            _, singular, axes = np.linalg.svd(columns, full_matrices=False)
            columns = axes[singular**2 > SMALLEST_DIRECTION * max(singular[0] ** 2, 1e-300)]
        columns = columns[columns.any(axis=1)]
        np.multiply(columns, np.sqrt(n), out=found[len(owners) : len(owners) + len(columns)])
        owners += [at] * len(columns)
    return found[: len(owners)].T, np.array(owners, dtype=np.int64)


def known_columns(
    features: Table, covariance: Any, where: str, counts: Sequence[int] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns and owners as `columns_of` does, from a known covariance, and its correlations.

    Columns are centred on the rows at hand, which does not change importances. Raises `ParameterError`, starting with
    `where`, unless all columns are numbers and the matrix is a covariance of them.
    """
    if wide := [column.name for column in features.columns if len(column.levels) > 2]:
        raise ParameterError(
            f"{where}: covariance cannot say how the levels of {wide[0]!r} vary. Exclude it, or leave covariance out."
        )
    known = _matrix(covariance, features.names, where)
    deviations = np.sqrt(np.diag(known))
    columns = design(features).matrix
    columns = (columns - columns.mean(axis=0)) / deviations
    correlations = known / np.outer(deviations, deviations)
    if counts is None or max(counts, default=1) == 1:
        return columns, np.arange(len(features.names)), correlations
    return _uncorrelated(columns, correlations, np.repeat(np.arange(len(counts)), counts))


def _uncorrelated(
    columns: np.ndarray, correlations: np.ndarray, owners: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns that are uncorrelated within each feature under the known law, and their correlations."""
    change = np.zeros_like(correlations)
    for owner in np.unique(owners):
        own = np.flatnonzero(owners == owner)
        values, vectors = np.linalg.eigh(correlations[np.ix_(own, own)])
        change[np.ix_(own, own)] = vectors / np.sqrt(values) if len(own) > 1 else 1.0
    return columns @ change, owners, change.T @ correlations @ change


def _matrix(covariance: Any, names: list[str], where: str) -> np.ndarray:
    """Return the covariance of features as an array; mappings and frames are read by name."""
    d = len(names)
    if isinstance(covariance, str):
        raise ParameterError(f"{where}: covariance is {covariance!r}, but must be a matrix or a mapping of names.")
    if hasattr(covariance, "keys"):
        missing = [name for name in names if name not in covariance]
        if missing:
            raise ParameterError(f"{where}: covariance does not name the feature {missing[0]!r}. Add it.")
        covariance = [[covariance[one][other] for other in names] for one in names]
    known = np.asarray(covariance, dtype=np.float64)
    if known.shape != (d, d):
        raise ParameterError(
            f"{where}: covariance has the shape {known.shape}, but {d} features are searched. Give one row and one "
            "column for each in table order, or name them: {a: {a: 1.0, b: 0.5}, b: ...}."
        )
    if not np.isfinite(known).all() or not np.allclose(known, known.T):
        raise ParameterError(f"{where}: covariance must be finite and symmetric. Correct it.")
    if np.linalg.eigvalsh(known)[0] <= 0:
        raise ParameterError(f"{where}: covariance must be positive definite, and has an eigenvalue of 0 or less.")
    return known


#: Estimates for wide tables, in place of a matrix.
BANDED, FACTOR = "banded", "factor"


def covariance_option(more: str = "") -> Any:
    """Declare the option `covariance`; `more` documents further values."""
    return anything(
        None,
        "Covariance of the features: rows and columns in table order, or {name: {name: number}}; null: estimated, "
        f"shrunken as Ledoit and Wolf have it{more}.",
    )


class TakesCovariance:
    """Mixin of methods with the option `covariance`."""

    covariance: Any

    def follows_order(self) -> bool:
        """Whether the column order matters: for a matrix without names."""
        if self.covariance is None or isinstance(self.covariance, str):
            return self.covariance == BANDED
        return not hasattr(self.covariance, "keys")

    def options(self) -> dict[str, Any]:
        """Return the value of every parameter, the covariance as lists or mappings."""
        known = self.covariance
        if hasattr(known, "to_dict"):
            known = known.to_dict()
        written = known.tolist() if isinstance(known, np.ndarray) else known
        return {**super().options(), "covariance": written}  # type: ignore[misc]


#: Maximum columns to estimate the spread of a row, and maximum rows and columns to test for it.
MOST_COLUMNS, LOOKED_AT_ROWS, LOOKED_AT_COLUMNS = 1000, 2000, 200
#: Minimum columns to estimate the spread of a row, and minimum values of such a column.
FEWEST_COLUMNS, FEWEST_VALUES = 10, 10
#: `shared_spread` from which rows differ in spread. Rows from t of 5 degrees of freedom have 0.2 and of
#: 10 degrees 0.1, Gaussian ones 0.
SHARED = 0.05
#: Cut of cells, in standard deviations, since tails of one column are not informative about a row.
_CUT = 2.0
_ROUNDS, _CHANGE = 50, 1e-4


def numbers_of(table: Table) -> list[int]:
    """Return the positions of columns of numbers with at least `FEWEST_VALUES` values.

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
    """Return the excess correlation of squared columns, (n, m), over squared correlations, after normal scores.

    The mean over all pairs, -1 to 1: near 0 for Gaussian columns, 0 for fewer than two. Of many columns a few are used,
    evenly spaced.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(500, 20))
    >>> heavy = rows / np.sqrt(rng.chisquare(3, (500, 1)) / 3)
    >>> bool(abs(shared_spread(rows)) < 0.01), bool(shared_spread(heavy) > 0.2)
    (True, True)
    """
    n, m = columns.shape
    some = columns[:: -(-n // LOOKED_AT_ROWS), :: -(-m // LOOKED_AT_COLUMNS)] if m else columns
    scores = standardised(np.array([normal_scores(values) for values in some.T]).reshape(-1, len(some)))
    squares = standardised(scores**2)
    excess = squares @ squares.T - (scores @ scores.T) ** 2
    pairs = len(scores) * (len(scores) - 1)
    return float(excess.sum() - np.trace(excess)) / pairs if pairs else 0.0


def normal_scores(values: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of the ranks of values, (n,); equal values share their middle rank."""
    from scipy.special import ndtri

    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle_ranks = np.cumsum(counts) - (counts - 1) / 2
    return ndtri(middle_ranks / (len(values) + 1))[place]


def row_spreads(columns: np.ndarray) -> np.ndarray:
    """Return the spread of each row, (n,), relative to the median row.

    Rows and columns are scaled in turn until the mean of squared cells, cut at `_CUT` squared, is that of a standard
    Gaussian: an M-estimator of scale (Huber 1964, Tyler 1987). At most `MOST_COLUMNS` columns are used, evenly spaced.

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
    """Return the factor by which rows or columns are too large; 1 if all are 0."""
    found = np.sqrt(np.minimum(cells**2, _CUT**2).mean(axis=axis, keepdims=True) / wanted)
    return np.where(found > 0, found, 1.0)


def _mean_of_cut_squares() -> float:
    """Return the mean of min(z^2, cut^2) of a standard Gaussian z."""
    inside = math.erf(_CUT / math.sqrt(2))
    density = math.exp(-(_CUT**2) / 2) / math.sqrt(2 * math.pi)
    return inside - 2 * _CUT * density + _CUT**2 * (1 - inside)


def of_one_spread(table: Table, numbers: list[int], spreads: np.ndarray) -> Table:
    """Return a table with numbers centred by their medians and divided by the spread of their row."""
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
