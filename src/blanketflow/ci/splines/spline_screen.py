"""Nested regressions on functions of columns from their cross products; findings are confirmed on rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from ...core.numerics import SMALLEST_SHARE, is_rounded_away
from ...core.results import CIResults
from ...core.seeds import derive_rng
from ...core.table import Table
from ..spline_functions import functions_of
from ..tails import f_greater, rao_f

#: Functions of a number as X or Y, and the most of a given column.
OF_SIDE, OF_GIVEN = 4, 8
#: Rows per function of all given numbers, down to `OF_SIDE` functions each; and rows per function of these.
ROWS_PER_FUNCTION, FEWEST_ROWS = 40, 8
#: Rows per degree of freedom of a test of two labels, and of any test.
ROWS_PER_CELL, ROWS_PER_BEND = 10, 2
#: A function is dropped if others leave at most this share of it.
VANISHING = 1e-6
#: Products of functions need no eigenvalues if others leave more than this share.
WELL_CONDITIONED = 1e-3
#: Number of cells cached for all functions of columns, and for products: 128 MiB each.
KEPT_CELLS = 2**24


@dataclass
class Parts:
    """Results of m tests of the linear part and the bends of X and of Y, (3, m); log p is 0 if a part cannot decide."""

    statistic: np.ndarray
    dof: np.ndarray
    log_p: np.ndarray
    shares: np.ndarray
    reliable: np.ndarray

    @classmethod
    def none(cls, m: int) -> Parts:
        """Return results with p = 1."""
        found = [np.zeros((3, m)) for _ in range(4)]
        return cls(*found, np.ones(m, dtype=bool))

    def combined(self, n_rows: int) -> CIResults:
        """Return one result per test: with t the least p / share, p = 1 - product of (1 - share t), exact if
        independent.

        Statistic and degrees of freedom are those of the part that decides.
        """
        is_tested = (self.dof > 0).any(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_t = np.where(self.shares > 0, self.log_p - np.log(self.shares), np.inf)
            decides, tests = np.argmin(log_t, axis=0), np.arange(len(is_tested))
            log_t = np.minimum(log_t[decides, tests], -np.log(np.maximum(self.shares.max(axis=0), 0.5)))
            t, (one, two, three) = np.exp(log_t), self.shares
            # The product written out and divided by t, so that t may underflow.
            over_t = one + two + three - t * (one * (two + three) + two * three - t * one * two * three)
            log_p = np.where(is_tested, np.minimum(log_t + np.log(over_t), 0.0), 0.0)
        n = np.full(len(tests), n_rows)
        of = self.statistic[decides, tests], self.dof[decides, tests]
        return CIResults(of[0], np.exp(log_p), log_p, of[1], n, self.reliable)


class SplineScreen:
    """Functions of the columns of one table without missing cells, their products, and the tests from these."""

    def __init__(self, table: Table, straight_share: float) -> None:
        self.table, self.n_rows, self.straight_share = table, table.n_rows, straight_share
        self.is_label = np.array([column.is_discrete for column in table.columns])
        n_most = [max(len(column.levels) - 1, 1) if column.is_discrete else OF_SIDE for column in table.columns]
        self._sides = np.empty((sum(n_most), self.n_rows))  # pages without functions take no memory
        self._others = np.empty((int(np.sum(~self.is_label)) * (OF_GIVEN - OF_SIDE), self.n_rows))
        starts, of_others = [0], [0]
        for column, n_sides in zip(table.columns, n_most, strict=True):
            found = functions_of(column, OF_GIVEN)
            starts.append(starts[-1] + len(found[:n_sides]))
            of_others.append(of_others[-1] + len(found[n_sides:]))
            self._sides[starts[-2] : starts[-1]] = found[:n_sides]
            self._others[of_others[-2] : of_others[-1]] = found[n_sides:]
        self._sides, self._others = self._sides[: starts[-1]], self._others[: of_others[-1]]
        self._starts, self._of_others, self.n_of_side = np.array(starts), np.array(of_others), np.diff(starts)
        self.n_functions = self.n_of_side + np.diff(of_others)
        self.n_straight = np.where(self.is_label, self.n_functions, np.minimum(self.n_functions, 1))
        # A column destroyed by rounding has no functions.
        columns = zip(table.columns, self.n_functions.tolist(), strict=True)
        self._is_rounded = np.array([not n_found and is_rounded_away(column) for column, n_found in columns])
        self._products: dict[int, np.ndarray] = {}
        self._finest: dict[int, np.ndarray] = {}
        self._orders: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def side(self, column: int) -> np.ndarray:
        """Return the functions of a column as X or Y, (q, n)."""
        return self._sides[self._of_side(column)]

    def firsts(self, columns: Sequence[int]) -> np.ndarray:
        """Return the first function of each of some columns, (m, n)."""
        return self._sides[self._starts[np.asarray(columns)]]

    def functions(self, column: int, size: int) -> np.ndarray:
        """Return the first functions of a column as a given one, (size, n)."""
        start, n_sides = self._of_others[column], min(size, int(self.n_of_side[column]))
        others = self._others[start : start + size - n_sides]
        return np.vstack([self.side(column)[:n_sides], others]) if len(others) else self.side(column)[:n_sides]

    def finest(self, column: int) -> np.ndarray:
        """Return all functions of a column, cached for the most recent columns."""
        if column not in self._finest:
            found = functions_of(self.table[column])
            keep(self._finest, column, found, found.size)
        return self._finest[column]

    def order(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a number, and which of them have a larger number than the one before."""
        if column not in self._orders:
            found = in_order(self.table[column].numbers())
            keep(self._orders, column, found, 2 * self.n_rows)
        return self._orders[column]

    def _of_side(self, column: int) -> slice:
        return slice(self._starts[column], self._starts[column + 1])

    def n_of_given(self, column: int, n_given: int) -> int:
        """Return the number of functions of a given column, for a number increasing with the rows."""
        if self.is_label[column]:
            return int(self.n_functions[column])
        rows = self.n_rows // n_given
        wanted = max(rows // ROWS_PER_FUNCTION, min(rows // FEWEST_ROWS, OF_SIDE), 1)
        return min(wanted, int(self.n_functions[column]))

    def basis(self, given: Sequence[int]) -> tuple[list[int], np.ndarray]:
        """Return the number of functions of given columns, and orthonormal combinations of them, (rank, r)."""
        sizes, places = [self.n_of_given(column, len(given)) for column in given], [np.empty(0, dtype=np.intp)]
        for column, size in zip(given, sizes, strict=True):
            n_sides, other = min(size, int(self.n_of_side[column])), len(self._sides) + int(self._of_others[column])
            places += [self._starts[column] + np.arange(n_sides), other + np.arange(size - n_sides)]
        return sizes, whitening(self._between(given, sizes, np.concatenate(places)))

    def _between(self, columns: Sequence[int], sizes: Sequence[int], places: np.ndarray | slice) -> np.ndarray:
        """Return the products of the first functions of some columns with those at some positions."""
        found = [np.empty((0, len(self._sides) + len(self._others)))[:, places]]
        for column, size in zip(columns, sizes, strict=True):
            if column not in self._products:
                own = self.functions(column, int(self.n_functions[column]))
                products = np.hstack([own @ self._sides.T, own @ self._others.T])
                keep(self._products, column, products, products.size)
            found.append(self._products[column][:size, places])
        return np.vstack(found)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> Parts:
        """Return the results of the regressions between each candidate and the target, given columns."""
        columns = np.asarray(candidates, dtype=np.intp)
        parts, n_y = Parts.none(len(columns)), int(self.n_of_side[target])
        sizes, basis = self.basis(given)
        parts.reliable[:] = self._are_reliable(columns, target, given, len(basis))
        is_fit = parts.reliable & (self.n_functions[columns] > 0) & (n_y > 0)
        # Picking out the functions of most columns is not worth it.
        if 2 * len(columns) > len(self.table):
            places, starts, of_target = slice(len(self._sides)), self._starts[columns], self._of_side(target)
        else:
            ends = np.cumsum([n_y, *self.n_of_side[columns]])
            starts, of_target = ends[:-1], slice(n_y)
            among = np.arange(ends[-1]) - np.repeat([0, *starts], [n_y, *self.n_of_side[columns]])
            places = among + np.repeat(self._starts[[target, *columns]], [n_y, *self.n_of_side[columns]])
        products, rank = self._between([*given, target], [*sizes, n_y], places), len(basis)
        of_y = basis @ products[:-n_y, of_target] if n_y else basis[:, :0]
        is_single = is_fit & (self.n_straight[columns] == 1) & (self.n_straight[target] == 1)
        # Orthonormal combinations of the functions of the given columns, then of Y.
        turned, together = np.eye(n_y), np.zeros((rank + n_y, len(products)))
        if is_single.any():
            turned = turn_in(np.eye(n_y) - of_y.T @ of_y)
        together[:rank, : basis.shape[1]], together[rank:, basis.shape[1] :] = basis, turned
        together[rank:, : basis.shape[1]] = -turned @ of_y.T @ basis
        shared = products.T @ together.T
        if is_single.any():
            at = slice(None) if is_single.all() else np.flatnonzero(is_single)
            self._singles(parts, at, columns[at], starts[at], shared, np.diagonal(turned) > 0)
        for at in np.flatnonzero(is_fit & ~is_single).tolist():
            of_x = slice(starts[at], starts[at] + self.n_of_side[columns[at]])
            by_z = shared[of_x, :rank]
            left = [np.eye(len(one)) - one @ one.T for one in (by_z, of_y.T)]
            n_first = int(self.n_straight[columns[at]]), int(self.n_straight[target])
            self._levels(parts, at, n_first, *left, products[-n_y:, of_x].T - by_z @ of_y, self.n_rows - 1.0 - rank)
        return parts

    def _are_reliable(self, columns: np.ndarray, target: int, given: tuple[int, ...], rank: int) -> np.ndarray:
        """Return which tests have enough rows, and no column destroyed by rounding."""
        rest, straight = self.n_rows - 1 - rank, self.n_straight[columns] * self.n_straight[target]
        return (rest > rows_needed(straight)) & ~self._is_rounded[columns] & ~self._is_rounded[[target, *given]].any()

    def _shares(self, x_bends: bool, y_bends: bool) -> np.ndarray:
        """Return the shares of alpha of the three parts, (3,)."""
        n_bent = x_bends + y_bends
        straight = self.straight_share if n_bent else 1.0
        return np.array([straight, x_bends, y_bends]) * [1.0, *[(1.0 - straight) / max(n_bent, 1)] * 2]

    def _singles(
        self,
        parts: Parts,
        at: np.ndarray | slice,
        columns: np.ndarray,
        starts: np.ndarray,
        shared: np.ndarray,
        is_kept: np.ndarray,
    ) -> None:
        """Test columns with one linear function each, all at once."""
        from ...kernels.splines import nested_shares  # numba takes half a second to import: only if needed

        sizes, rest = self.n_of_side[columns], self.n_rows - 1.0 - (shared.shape[1] - len(is_kept))
        share, f, dof = np.zeros((3, 3, len(columns)))
        nested_shares(shared, is_kept, starts, sizes, rest, VANISHING, share, f, dof)
        shares = np.stack([self._shares(bends, len(is_kept) > 1) for bends in (False, True)], axis=1)
        # A bend decides only if its p / share is below that of the linear part, whose p is at most 1.
        most = shares[1:].max() / shares[0].min()
        least = np.array([np.inf, *(least_f(k, rest - 1.0 - k, most) for k in range(1, OF_SIDE))])
        decides = dof > 0
        decides[1:] &= f[1:] >= least[dof[1:].astype(np.intp)]
        of_parts = (rest - dof - [[0.0], [1.0], [1.0]])[decides]
        log_p = np.zeros_like(f)
        log_p[decides] = f_greater(f[decides], dof[decides], of_parts)[1]
        parts.statistic[:, at], parts.dof[:, at], parts.log_p[:, at] = -self.n_rows * np.log1p(-share), dof, log_p
        parts.shares[:, at] = shares[:, (sizes > 1).astype(np.intp)]

    def _levels(
        self,
        parts: Parts,
        at: int,
        n_first: tuple[int, int],
        of_x: np.ndarray,
        of_y: np.ndarray,
        shared: np.ndarray,
        rest: float,
    ) -> None:
        """Test a pair with a label of more than two levels."""
        n_x, n_y = n_first
        straight_x, straight_y = of_x[:n_x, :n_x], of_y[:n_y, :n_y]
        found = [
            wilks(straight_x, straight_y, shared[:n_x, :n_y], 0, rest),
            wilks(of_x, straight_y, shared[:, :n_y], n_x, rest),
            wilks(of_y, straight_x, shared[:n_x].T, n_y, rest),
        ]
        parts.statistic[:, at], parts.dof[:, at], parts.log_p[:, at] = np.transpose(found)
        parts.statistic[:, at] *= self.n_rows
        parts.shares[:, at] = self._shares(len(of_x) > n_x, len(of_y) > n_y)


def keep(kept: dict[Any, Any], key: Any, found: Any, n_cells: int) -> None:
    """Cache an item of a number of cells, and drop the oldest if all of this size would have too many."""
    kept[key] = found
    while len(kept) * n_cells > KEPT_CELLS and len(kept) > 1:
        del kept[next(iter(kept))]


def in_order(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows in the order of a number's values, (n,), and which have a larger value than the one before."""
    order = np.argsort(values, kind="stable")
    return order, np.concatenate([[False], values[order[1:]] > values[order[:-1]]])  # a difference may overflow


def turn_in(products: np.ndarray) -> np.ndarray:
    """Return combinations, (b, b), of functions with these products, each minus those before it; 0 if empty."""
    from ...kernels.splines import turn

    turned = np.zeros_like(products)
    turn(products, VANISHING, turned)
    return turned


@cache
def least_f(dof: int, rest: float, p: float) -> float:
    """Return an F whose p-value is slightly above this one; 0 for p of at least 1."""
    from scipy.special import fdtri

    return float(fdtri(dof, rest, 1.0 - p)) * (1.0 - 1e-6) if p < 1.0 and rest > 0 else 0.0


def rows_needed(n_products: Any) -> Any:
    """Return how many rows a test of so many products of functions needs besides those for the given columns."""
    return np.where(np.asarray(n_products) > 1, ROWS_PER_CELL * n_products, ROWS_PER_BEND * OF_SIDE)


def wilks(own: np.ndarray, other: np.ndarray, shared: np.ndarray, n_first: int, rest: float) -> tuple[float, ...]:
    """Return -log of Wilks' lambda of functions after the first ones with others, given the first; dof and log p.

    `own`, (a, a), `other`, (b, b), and `shared`, (a, b), are products of residuals on the given columns. p is from
    Rao's F, and 1 if there is nothing to compare.
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

    >>> whitening(np.array([[4.0, 0.0], [0.0, 0.0]])).round(3)
    array([[0.5, 0. ]])
    """
    if not len(products):
        return products
    from ...kernels.splines import inverse_factor

    inverse = np.zeros_like(products)
    if inverse_factor(products, WELL_CONDITIONED, inverse):  # a twentieth of the time of eigenvalues
        return inverse
    values, axes = np.linalg.eigh(products)
    kept = values > VANISHING
    return (axes[:, kept] / np.sqrt(values[kept])).T


#: Rows of the samples tested first, if there are twice as many.
SAMPLES = (2_000, 12_000)
#: A sample's rejection at this level is final. All rows test the rest, so the level is right up to this, without loss
#: of power.
CLEAR = 1e-9


class Rows(Protocol):
    """Functions of columns on `n_rows` rows, each with mean 0 and a length of about 1 there."""

    n_rows: int

    def functions(self, column: int, size: int) -> np.ndarray:
        """Return the first functions of a column, (size, n)."""
        ...

    def finest(self, column: int) -> np.ndarray:
        """Return all functions of a column."""
        ...

    def order(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a number, and which of them have a larger number than the one before."""
        ...


class SampledRows:
    """Some of a screen's rows, ascending."""

    def __init__(self, screen: SplineScreen, rows: np.ndarray) -> None:
        self._screen, self._rows, self.n_rows = screen, rows, len(rows)
        self._functions: dict[int, np.ndarray] = {}
        self._finest: dict[int, np.ndarray] = {}

    def functions(self, column: int, size: int) -> np.ndarray:
        """Return the first functions of a column, (size, n)."""
        if column not in self._functions:
            found = self.picked(self._screen.functions(column, int(self._screen.n_functions[column])))
            keep(self._functions, column, found, found.size)
        return self._functions[column][:size]

    def finest(self, column: int) -> np.ndarray:
        """Return all functions of a column."""
        if column not in self._finest:
            found = self.picked(functions_of(self._screen.table[column]))
            keep(self._finest, column, found, found.size)
        return self._finest[column]

    def picked(self, functions: np.ndarray) -> np.ndarray:
        """Return functions on these rows, centred, with lengths as on all rows."""
        picked = functions[:, self._rows]
        return (picked - picked.mean(axis=1, keepdims=True)) * np.sqrt(self._screen.n_rows / self.n_rows)

    def order(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a number, and which of them have a larger number than the one before."""
        return in_order(self._screen.table[column].numbers()[self._rows])


def rows_that_confirm(screen: SplineScreen) -> list[Rows]:
    """Return the rows on which to confirm: a random sample, or a larger one, or all, if it does not decide.

    A smaller sample is the start of a larger one.
    """
    sizes = [size for size in SAMPLES if 2 * size <= screen.n_rows]
    order = derive_rng(0, "spline").permutation(screen.n_rows) if sizes else np.arange(0)
    return [*(SampledRows(screen, np.sort(order[:size])) for size in sizes), screen]
