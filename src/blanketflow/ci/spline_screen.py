"""Nested regressions on functions of columns by their cross products, without looking at rows again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.least_squares import SMALLEST_SHARE
from ..core.results import CIResults
from ..core.spread import is_rounded_away
from ..core.table import Table
from .spline_functions import functions_of
from .tails import f_greater, rao_f

#: Functions of a number as X or Y, and at most as a given column.
OF_SIDE, OF_GIVEN = 4, 8
#: Rows for each function of all given numbers, down to `OF_SIDE` functions of each; and rows for each of these.
ROWS_PER_FUNCTION, FEWEST_ROWS = 40, 8
#: Rows for each degree of freedom of a test of two labels, and of any.
ROWS_PER_CELL, ROWS_PER_BEND = 10, 2
#: A function of which others leave at most this share is theirs.
VANISHING = 1e-6
#: Products of functions of which others leave more than this share need no eigenvalues.
WELL_CONDITIONED = 1e-3
#: Number of cells kept for all functions of columns: 128 MiB.
KEPT_CELLS = 2**24
#: log p from which on alpha is shared out among the parts by Bonferroni's rule, which is the same to all digits.
SMALL = -20.0


@dataclass
class Parts:
    """What m tests found of the straight part, the bends of X, and the bends of Y; arrays of shape (m, 3).

    `shares` are the parts' shares of alpha, 0 of a part that there is not.
    """

    statistic: np.ndarray
    dof: np.ndarray
    log_p: np.ndarray
    shares: np.ndarray
    reliable: np.ndarray

    @classmethod
    def none(cls, m: int) -> Parts:
        """Return those of tests that find nothing."""
        found = [np.zeros((m, 3)) for _ in range(4)]
        return cls(*found, np.ones(m, dtype=bool))

    def combined(self, n_rows: int) -> CIResults:
        """Return one result a test: with t the least p / share, p = 1 - product of (1 - share t), exact if independent.

        Statistic and degrees of freedom are those of the part that decides.
        """
        with np.errstate(divide="ignore"):
            log_t = np.where(self.shares > 0, self.log_p - np.log(self.shares), 0.0)
        rows, decides = np.arange(len(log_t)), np.argmin(log_t, axis=1)
        log_t = np.minimum(log_t[rows, decides], -np.log(np.maximum(self.shares.max(axis=1), 0.5)))
        with np.errstate(divide="ignore"):
            log_none = np.log1p(-np.minimum(self.shares * np.exp(log_t)[:, np.newaxis], 1.0)).sum(axis=1)
            log_p = np.where(log_t < SMALL, log_t, np.log(-np.expm1(log_none)))
        log_p[~(self.dof > 0).any(axis=1)] = 0.0
        n = np.full(len(rows), n_rows)
        of = self.statistic[rows, decides], self.dof[rows, decides]
        return CIResults(of[0], np.exp(log_p), log_p, of[1], n, self.reliable)


class SplineScreen:
    """Functions of the columns of one table without missing cells, their products, and the tests that these give."""

    def __init__(self, table: Table, straight_share: float) -> None:
        self.table, self.n_rows, self.straight_share = table, table.n_rows, straight_share
        self.is_label = np.array([column.is_discrete for column in table.columns])
        found = [self._kept_functions(j) for j in range(len(table))]
        self.n_functions = np.array([len(functions) for functions in found])
        self.n_straight = np.where(self.is_label, self.n_functions, np.minimum(self.n_functions, 1))
        self.n_of_side = np.where(self.is_label, self.n_functions, np.minimum(self.n_functions, OF_SIDE))
        self.starts = np.cumsum([0, *self.n_functions])
        self.functions = np.vstack([*found, np.zeros((1, table.n_rows))])  # the last for functions that a column lacks
        self._products: dict[int, np.ndarray] = {}
        self._rounded: dict[int, bool] = {}
        self._finest: dict[int, np.ndarray] = {}

    def _kept_functions(self, column: int) -> np.ndarray:
        found = functions_of(self.table[column])
        return found if self.is_label[column] else found[:OF_GIVEN].copy()

    def finest(self, column: int) -> np.ndarray:
        """Return all functions of a column, kept for the most recent columns."""
        found = self._finest.pop(column, None)
        self._finest[column] = functions_of(self.table[column]) if found is None else found
        if len(self._finest) * self._finest[column].size > KEPT_CELLS and len(self._finest) > 1:
            del self._finest[next(iter(self._finest))]
        return self._finest[column]

    def of_side(self, column: int) -> slice:
        """Return where the functions of a column as X or Y are."""
        return slice(self.starts[column], self.starts[column] + self.n_of_side[column])

    def n_of_given(self, column: int, n_given: int) -> int:
        """Return how many functions a column has as one of some given ones: more of a number with more rows."""
        if self.is_label[column]:
            return int(self.n_functions[column])
        rows = self.n_rows // n_given
        wanted = max(rows // ROWS_PER_FUNCTION, min(rows // FEWEST_ROWS, OF_SIDE), 1)
        return min(wanted, int(self.n_functions[column]))

    def basis(self, given: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return where the functions of given columns are, (r,), and their orthonormal combinations, (rank, r)."""
        sizes = [self.n_of_given(column, len(given)) for column in given]
        at = [self.starts[column] + np.arange(size) for column, size in zip(given, sizes, strict=True)]
        places = np.concatenate([np.empty(0, dtype=np.intp), *at])
        return places, whitening(self._between(given, sizes)[:, places])

    def _between(self, columns: Sequence[int], sizes: Sequence[int]) -> np.ndarray:
        """Return the products of the first functions of some columns with all functions."""
        for column in columns:
            if column not in self._products:
                own = self.functions[self.starts[column] : self.starts[column + 1]]
                self._products[column] = own @ self.functions.T
        rows = [self._products[column][:size] for column, size in zip(columns, sizes, strict=True)]
        return np.vstack([np.empty((0, len(self.functions))), *rows])

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> Parts:
        """Return what regressions find between each candidate and the target, given columns."""
        columns = np.asarray(candidates, dtype=np.intp)
        parts = Parts.none(len(columns))
        _, basis = self.basis(given)
        rows = basis @ self._between(given, [self.n_of_given(column, len(given)) for column in given])
        parts.reliable[:] = self._are_reliable(columns, target, given, len(basis))
        of_y = self._between([target], [self.n_of_side[target]])
        by_z = rows[:, self.of_side(target)]
        of_y = of_y - by_z.T @ rows  # what the given columns leave
        is_fit = parts.reliable & (self.n_functions[columns] > 0) & bool(self.n_functions[target])
        is_single = is_fit & (self.n_straight[columns] == 1) & (self.n_straight[target] == 1)
        if is_single.any():
            self._singles(parts, np.flatnonzero(is_single), columns, of_y, target, rows)
        for at in np.flatnonzero(is_fit & ~is_single).tolist():
            self._levels(parts, at, columns[at], of_y, target, rows)
        return parts

    def _are_reliable(self, columns: np.ndarray, target: int, given: tuple[int, ...], rank: int) -> np.ndarray:
        """Return which tests have enough rows, and no column that rounding has destroyed."""
        rest, straight = self.n_rows - 1 - rank, self.n_straight[columns] * self.n_straight[target]
        if any(map(self._is_rounded, (target, *given))):
            return np.zeros(len(columns), dtype=bool)
        are_rounded = np.array([self._is_rounded(column) for column in columns.tolist()], dtype=bool)
        return (rest > rows_needed(straight)) & ~are_rounded

    def _is_rounded(self, column: int) -> bool:
        if column not in self._rounded:
            self._rounded[column] = is_rounded_away(self.table[column])
        return self._rounded[column]

    def _shares(self, x_bends: np.ndarray | bool, y_bends: bool) -> np.ndarray:
        """Return the shares of alpha of the three parts, (m, 3)."""
        bends = np.stack(np.broadcast_arrays(np.asarray(x_bends), y_bends), axis=-1)
        n_bent = bends.sum(axis=-1, keepdims=True)
        straight = np.where(n_bent > 0, self.straight_share, 1.0)
        return np.concatenate([straight, bends * (1.0 - straight) / np.maximum(n_bent, 1)], axis=-1)

    def _singles(
        self, parts: Parts, at: np.ndarray, columns: np.ndarray, of_y: np.ndarray, target: int, rows: np.ndarray
    ) -> None:
        """Test columns with one straight function each, all at once."""
        from ..kernels.splines import nested_shares  # numba takes half a second to import: only if needed

        starts, sizes = self.starts[columns[at]], self.n_of_side[columns[at]]
        share, dof = np.zeros((len(at), 3)), np.zeros((len(at), 3))
        of_target = np.ascontiguousarray(of_y[:, self.of_side(target)])
        nested_shares(rows, of_y, of_target, starts, sizes, VANISHING, share, dof)
        rest = self.n_rows - 1.0 - len(rows) - dof - np.array([0.0, 1.0, 1.0])
        is_left = dof > 0
        share = np.where(is_left, np.clip(share, 0.0, 1.0 - SMALLEST_SHARE), 0.0)
        f = share / (1.0 - share) * rest / np.maximum(dof, 1.0)
        parts.statistic[at] = -self.n_rows * np.log1p(-share)
        parts.dof[at] = dof
        parts.log_p[at] = f_greater(f.ravel(), dof.ravel(), rest.ravel())[1].reshape(f.shape)
        parts.shares[at] = self._shares(sizes > 1, bool(self.n_of_side[target] > 1))

    def _levels(self, parts: Parts, at: int, column: int, of_y: np.ndarray, target: int, rows: np.ndarray) -> None:
        """Test a pair of columns of which one is a label of more than two levels."""
        x, y, n_x, n_y = self.of_side(column), self.of_side(target), self.n_straight[column], self.n_straight[target]
        own = np.eye(self.n_of_side[column]) - rows[:, x].T @ rows[:, x]
        of_y, shared, rest = of_y[:, y], of_y[:, x].T, self.n_rows - 1.0 - len(rows)
        bends = len(own) > n_x, len(of_y) > n_y
        straight_x, straight_y = own[:n_x, :n_x], of_y[:n_y, :n_y]
        found = [
            wilks(straight_x, straight_y, shared[:n_x, :n_y], 0, rest),
            wilks(own, straight_y, shared[:, :n_y], n_x, rest),
            wilks(of_y, straight_x, shared[:n_x].T, n_y, rest),
        ]
        parts.statistic[at], parts.dof[at], parts.log_p[at] = np.transpose(found)
        parts.statistic[at] *= self.n_rows
        parts.shares[at] = self._shares(bool(bends[0]), bool(bends[1]))


def rows_needed(n_products: Any) -> Any:
    """Return how many rows a test of so many products of functions needs beside those that the given columns take."""
    return np.where(np.asarray(n_products) > 1, ROWS_PER_CELL * n_products, ROWS_PER_BEND * OF_SIDE)


def wilks(own: np.ndarray, other: np.ndarray, shared: np.ndarray, n_first: int, rest: float) -> tuple[float, ...]:
    """Return -log of Wilks' lambda of functions behind the first ones with others, given the first; dof and log p.

    `own`, (a, a), `other`, (b, b), and `shared`, (a, b), are products of what the given columns leave. p is by Rao's F,
    and 1 if there is nothing to compare.
    """
    if n_first:
        first = whitening(own[:n_first, :n_first])
        by_own, by_other = first @ own[:n_first, n_first:], first @ shared[:n_first]
        own, other = own[n_first:, n_first:] - by_own.T @ by_own, other - by_other.T @ by_other
        shared, rest = shared[n_first:] - by_own.T @ by_other, rest - len(first)
    one, two = whitening(own), whitening(other)
    if len(one) and len(two):
        squares = np.linalg.svd(one @ shared @ two.T, compute_uv=False) ** 2
        log_lambda = float(np.log(np.maximum(1.0 - squares, SMALLEST_SHARE)).sum())
        found = rao_f(log_lambda, len(one), len(two), rest)
        if found is not None:
            return -log_lambda, float(len(one) * len(two)), found[2]
    return 0.0, 0.0, 0.0


def whitening(products: np.ndarray) -> np.ndarray:
    """Return W, (rank, r), such that W times functions with these products, (r, r), are orthonormal.

    Examples
    --------
    >>> whitening(np.array([[4.0, 0.0], [0.0, 0.0]])).round(3)
    array([[0.5, 0. ]])
    """
    if not len(products):
        return products
    with suppress(np.linalg.LinAlgError):  # a quarter of the time of eigenvalues
        lower = np.linalg.cholesky(products)
        if np.diagonal(lower).min() ** 2 > WELL_CONDITIONED:
            return np.linalg.inv(lower)
    values, axes = np.linalg.eigh(products)
    kept = values > VANISHING
    return (axes[:, kept] / np.sqrt(values[kept])).T
