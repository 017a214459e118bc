"""Copies of a column that keep its relation to given columns, for the PPI test with ``copies: conditional``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ...core.seeds import derive_rng
from ...core.table import Table
from ...models.encode import moderated
from ..spline_functions import functions_of
from .cpi import exchanged_levels
from .risk_differences import Repeats

#: A given column has at most this many functions, and all together at most a quarter as many as there are rows.
MOST_FUNCTIONS, ROWS_PER_FUNCTION = 8, 4
#: Penalties of a regression on functions of length 1. It has at most half as many degrees of freedom as rows.
PENALTIES = np.geomspace(1e-4, 1e2, 13)
#: A residual counts as at least this share of the mean one when the spread is estimated.
LEAST_RESIDUAL = 0.05
#: A column with a smaller share of residuals is a function of the given ones.
ROUNDING = 1e-9


class ConditionalCopies:
    """Copies of columns, as the test rows whose values they have in each repeat.

    A number is taken as E[X | Z] plus its spread given Z times noise. The noise is exchanged as the repeat permutes its
    rows, and the test row with the nearest value of X is taken, so that the copy has no value that X has not. A label's
    rank within P(level | Z) is exchanged. Both are ridge regressions on splines of each given column, over all rows,
    which do not use the target; the penalty is chosen by generalised cross-validation.
    """

    def __init__(self, table: Table, repeats: Repeats, seed: int) -> None:
        self._table, self._repeats, self._seed = table, repeats, seed
        self._functions = cache(lambda column, most: functions_of(table[column], most))

    def sources(self, x: int, given: Sequence[int]) -> np.ndarray:
        """Return the place among a repeat's test rows whose value each of them gets, (B, m)."""
        repeats, column = self._repeats, self._table[x]
        if not given or column.is_constant():
            return repeats.sources
        most = int(np.clip(self._table.n_rows // (ROWS_PER_FUNCTION * len(given)), 1, MOST_FUNCTIONS))
        names = self._table.names
        smooth = Smoother(np.vstack([self._functions(at, most) for at in sorted(given, key=lambda at: names[at])]))
        if column.is_discrete:
            return self._of_labels(column.name, column.numbers().astype(np.int64), smooth)
        values = np.asarray(moderated(column), dtype=np.float64)
        expected = smooth.fitted(values)
        left = values - expected
        size = np.abs(left)
        if size.mean() <= ROUNDING * values.std():
            return np.tile(np.arange(repeats.test_rows.shape[1]), (len(repeats.test_rows), 1))
        spread = np.exp(smooth.fitted(np.log(size + LEAST_RESIDUAL * size.mean())))
        noise = left / spread
        found = []
        for rows, moved in zip(repeats.test_rows, repeats.sources, strict=True):
            found.append(nearest(values[rows], expected[rows] + spread[rows] * noise[rows[moved]]))
        return np.array(found)

    def _of_labels(self, name: str, codes: np.ndarray, smooth: Smoother) -> np.ndarray:
        repeats, probability = self._repeats, smooth.fitted(np.eye(int(codes.max()) + 1)[codes])
        found = []
        for b, (rows, moved) in enumerate(zip(repeats.test_rows, repeats.sources, strict=True)):
            rng = derive_rng(self._seed, "repeat", repeats.first + b, "level", name)
            levels = exchanged_levels(codes[rows], probability[rows], moved, rng)
            at = nearest(codes[rows], levels)
            found.append(np.where(codes[rows][at] == levels, at, np.arange(len(rows))))
        return np.array(found)


class Smoother:
    """Ridge regressions on the same functions, (p, n), each of length 1 and with mean 0."""

    def __init__(self, functions: np.ndarray) -> None:
        p, n = functions.shape
        if p <= n:
            squares, axes = np.linalg.eigh(functions @ functions.T)
            kept = squares > ROUNDING * squares.max(initial=0.0)
            self._basis = (axes[:, kept] / np.sqrt(squares[kept])).T @ functions
        else:
            squares, axes = np.linalg.eigh(functions.T @ functions)
            kept = squares > ROUNDING * squares.max(initial=0.0)
            self._basis = axes[:, kept].T
        self._shares = squares[kept] / (squares[kept] + PENALTIES[:, np.newaxis])
        self._dof = self._shares.sum(axis=1)
        self._allowed = self._dof <= max(n / 2, self._dof.min())

    def fitted(self, y: np.ndarray) -> np.ndarray:
        """Return the fit of one or more columns, (n,) or (n, k), each with its own penalty."""
        columns = y.reshape(len(y), -1)
        mean = columns.mean(axis=0)
        along = self._basis @ (columns - mean)
        rest = ((columns - mean) ** 2).sum(axis=0) - (self._shares * (2.0 - self._shares)) @ along**2
        criterion = rest / ((len(y) - 1.0 - self._dof) ** 2)[:, np.newaxis]
        best = np.where(self._allowed[:, np.newaxis], criterion, np.inf).argmin(axis=0)
        return (mean + self._basis.T @ (self._shares[best].T * along)).reshape(y.shape)


def nearest(values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the place of the value that is nearest to each wanted one; the smaller of two.

    >>> nearest(np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.2, 9.0])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    after = np.clip(np.searchsorted(ordered, wanted), 1, len(values) - 1)
    is_before = wanted - ordered[after - 1] <= ordered[after] - wanted
    return order[np.where(is_before, after - 1, after)]
