"""Functions of given columns on the rows, and more of them while they tell something of what a test is about."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .spline_functions import KNOTS
from .spline_screen import SplineScreen, whitening

#: p-values up to which functions are added: finer splines, a cut, products of two columns, powers of the fit.
FINER, CUT, PRODUCTS, POWERS = 0.005, 0.001, 0.005, 0.02
#: Cuts of a column at most, rows on either side, and how many rows smoother functions must leave of one.
MOST_CUTS, ROWS_BESIDE, LEAST_CUT = 3, 5, 0.5
#: Functions of each of two numbers whose products are tried, and the share of the rows that all functions may take.
IN_PRODUCTS, MOST_FUNCTIONS = 3, 0.5
#: A column of which at most this share is left, and whose neighbours along the given columns correlate by at least so
#: much in all, is a function of these.
NOTHING_LEFT, ALIKE = 3e-3, 0.5
#: The same, of a column whose neighbours were so much alike before functions were added.
FOLLOWED = 1e-3
#: Functions shorter than this, squared, are rounding; and sides that are shorter need no more functions.
ROUNDING, EXPLAINED = 1e-10, 1e-8


class GivenFunctions:
    """The functions of given columns that a screen has, orthonormal on the rows, and what may be added to them.

    Attributes
    ----------
    basis : ndarray of shape (rank, n)
        The functions.
    """

    def __init__(self, screen: SplineScreen, given: tuple[int, ...]) -> None:
        self._screen, self._given, self.n_rows = screen, given, screen.n_rows
        sizes, combinations = screen.basis(given)
        found = (screen.functions(column, size) for column, size in zip(given, sizes, strict=True))
        # Row by row in memory: orders of the rows pick from it.
        self._by_row = np.vstack([np.empty((0, self.n_rows)), *found]).T @ combinations.T
        self.basis, self.leverage = self._by_row.T, 1.0 / self.n_rows + np.vecdot(self._by_row, self._by_row)
        self._numbers = [column for column in given if not screen.is_label[column] and screen.n_functions[column]]
        self._orders: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._finest: dict[int, list[Added]] = {}
        self._of_pairs: dict[tuple[int, int], Added] = {}
        self.n_cells = self.n_rows * (len(self.basis) + KNOTS[-1] * len(given) + IN_PRODUCTS**2 * len(given) ** 2 // 2)

    def left(self, functions: np.ndarray) -> np.ndarray:
        """Return what these functions leave of others, (m, n)."""
        return without(functions, self.basis)

    def is_nothing(self, before: np.ndarray, left: np.ndarray) -> bool:
        """Whether what is left of a column is only what splines could not follow: alike in neighbours along Z.

        Added functions can follow it so far that neighbours are not alike any more; `before` is what was left then.
        """
        share = np.vecdot(left, left).max(initial=0.0)
        if share > NOTHING_LEFT:
            return False
        return self._are_alike(left) or (share <= FOLLOWED and self._are_alike(before))

    def _are_alike(self, left: np.ndarray) -> bool:
        left = np.copysign(np.sqrt(np.abs(left)), left)  # else a few rows at the ends would decide
        alike = np.zeros(len(left))
        for column in self._numbers:
            values = left[:, self._order(column)[0]]
            alike += np.vecdot(values[:, 1:], values[:, :-1])
        return bool(np.all(alike > ALIKE * np.vecdot(left, left)))

    def more(self, state: State, left: np.ndarray, powers: list[Added]) -> State:
        """Return the target's state with functions added until they tell no more of it, nor of a column, (m, n).

        These are finer splines, then the best cuts, as for steps, products of two columns, and `powers` of the fit.
        """
        growth = Growth(len(self.basis), state, left)
        for column in self._numbers:
            for some in self._finer(column):
                growth.add(some, FINER)
        for column in self._numbers:
            for _ in range(MOST_CUTS):
                cut = self._best_cut(column, growth)
                if cut is None or not growth.add(cut, CUT):
                    break
        for i, column in enumerate(self._given):
            for other in self._given[i + 1 :]:
                growth.add(self._products(column, other), PRODUCTS)
        for of_fit in powers:
            growth.add(of_fit, POWERS)
        return growth.state

    def powers(self, fitted: np.ndarray, lasts: bool = False) -> list[Added]:
        """Return squares and cubes of what fits functions, (m, n), as for a logistic curve of a sum."""
        if len(self._given) < 2:
            return []
        return [self._new(np.stack([one * one, one * one * one]), lasts) for one in of_length_1(fitted, ROUNDING)]

    def _new(self, functions: np.ndarray, lasts: bool) -> Added:
        return Added(functions - functions.mean(axis=1, keepdims=True), self.basis, lasts)

    def _finer(self, column: int) -> list[Added]:
        """Return the next functions of a number, as many as it has, and twice as many until there are no more."""
        if column not in self._finest:
            size, self._finest[column] = self._screen.n_of_given(column, len(self._given)), []
            while size < KNOTS[-1] - 1:
                functions = self._screen.finest(column)[size : 2 * size].copy()
                self._finest[column].append(Added(functions, self.basis, lasts=True))
                size *= 2
        return self._finest[column]

    def _products(self, column: int, other: int) -> Added:
        """Return the products of the first functions of two columns."""
        if (column, other) not in self._of_pairs:
            one, two = self._few(column), self._few(other)
            self._of_pairs[column, other] = self._new((one[:, np.newaxis] * two).reshape(-1, self.n_rows), lasts=True)
        return self._of_pairs[column, other]

    def _few(self, column: int) -> np.ndarray:
        screen = self._screen
        size = screen.n_functions[column] if screen.is_label[column] else min(screen.n_functions[column], IN_PRODUCTS)
        return screen.functions(column, size)

    def _order(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a number, and what is left of cuts behind so many rows; 0 where none is."""
        if column not in self._orders:
            (order, is_next), n = self._screen.order(column), self.n_rows
            rows = np.arange(n)
            can_be = is_next & (rows >= ROWS_BESIDE) & (rows <= n - ROWS_BESIDE)
            self._orders[column] = order, can_be * (rows * (n - rows) / n - _squares_of_sums(self._by_row, order))
        return self._orders[column]

    def _best_cut(self, column: int, growth: Growth) -> Added | None:
        """Return the cut of a number that tells most; None if no cut tells enough, or none can be made."""
        from ..kernels.splines import best_cut

        order, left = self._order(column)
        state, n = growth.state, self.n_rows
        if column not in state.cuts:
            left, n_before = state.left_of_cuts.get(column, (left, 0))
            if len(state.added) > n_before:
                left = left - _squares_of_sums(state.added[n_before:].T, order)
            state.left_of_cuts[column] = left, len(state.added)
            state.cuts[column] = best_cut(state.sides, order, left, LEAST_CUT)
        (left, _), (of_target, rows_of_target) = state.left_of_cuts[column], state.cuts[column]
        told, rows = best_cut(growth.sides, order, left, LEAST_CUT)
        if max(told, of_target) * n < least_told(1, CUT):
            return None
        cut = np.zeros((1, n))
        cut[0, order[: int(rows if told >= of_target else rows_of_target)]] = 1.0
        if told >= of_target:
            return self._new(cut, lasts=False)
        if column not in state.best_cuts:
            state.best_cuts[column] = self._new(cut, lasts=True)
        return state.best_cuts[column]


class Added:
    """Functions that may be added to a basis, (q, n), and combinations that are orthonormal in what the basis leaves.

    They last if they are not of one candidate alone.
    """

    def __init__(self, functions: np.ndarray, basis: np.ndarray, lasts: bool) -> None:
        self.functions, self.lasts, self._basis, self._by_basis = functions, lasts, basis, functions @ basis.T
        self.combinations = orthonormal_of(functions @ functions.T - self._by_basis @ self._by_basis.T)

    def left(self, combinations: np.ndarray) -> np.ndarray:
        """Return combinations of what the basis leaves."""
        return combinations @ self.functions - (combinations @ self._by_basis) @ self._basis


class State:
    """Orthonormal functions, `added` to a basis, and what both leave of the target, `sides`, of length 1.

    What was found for one candidate is kept for the next ones: of functions that were tried and last, their orthonormal
    combinations and what these tell of the target, and the state with those that tell something; of columns the cuts;
    and `of_target`, what the test takes of the target.
    """

    def __init__(self, added: np.ndarray, sides: np.ndarray, left_of_cuts: dict[int, tuple[np.ndarray, int]]) -> None:
        self.added, self.sides = added, sides
        self.left_of_cuts = {**left_of_cuts}  # with the number of functions added by then
        self.tried: dict[Added, tuple[np.ndarray, np.ndarray, np.ndarray, float]] = {}
        self.following: dict[Added, State] = {}
        self.cuts: dict[int, tuple[float, float]] = {}
        self.best_cuts: dict[int, Added] = {}
        self.of_target: Any = None

    @classmethod
    def first(cls, left: np.ndarray) -> State:
        """Return the state before anything is added; the basis leaves this of the target."""
        return cls(left[:0], of_length_1(left, EXPLAINED), {})


class Growth:
    """The state of a target while functions are added, and what is left of a candidate, `sides`, of length 1."""

    def __init__(self, rank: int, state: State, left: np.ndarray) -> None:
        self._rank, self.state, self.sides = rank, state, of_length_1(left, EXPLAINED)

    def add(self, some: Added, level: float) -> bool:
        """Add functions if they tell something of a side."""
        state, added = self.state, self.state.added
        if not len(self.sides) and not len(state.sides):
            return False
        if some not in state.tried:
            combinations, by_added = some.combinations, some.functions @ added.T
            if len(added):
                beside = combinations @ by_added
                combinations = orthonormal_of(np.eye(len(beside)) - beside @ beside.T) @ combinations
            of_target = combinations @ (some.functions @ state.sides.T)
            tried = combinations, by_added, of_target, _largest_square(of_target)
            if some.lasts:
                state.tried[some] = tried
        else:
            tried = state.tried[some]
        combinations, by_added, of_target, share_of_target = tried
        n, q = added.shape[1], len(combinations)
        rank = self._rank + len(added) + q
        if not q or rank > MOST_FUNCTIONS * n:
            return False
        told, least = combinations @ (some.functions @ self.sides.T), least_told(q, level)
        share = max(_largest_square(told), share_of_target)
        if share * (n - 1 - rank) < least * (1.0 - share):
            return False
        if some in state.following:
            self.state = state.following[some]
        else:
            functions = some.left(combinations) - (combinations @ by_added) @ added
            sides = of_length_1(state.sides - of_target.T @ functions, ROUNDING)
            self.state = State(np.vstack([added, functions]), sides, state.left_of_cuts)
            if some.lasts and share_of_target * (n - 1 - rank) >= least * (1.0 - share_of_target):
                state.following[some] = self.state
        self.sides = of_length_1(self.sides - told.T @ self.state.added[len(added) :], ROUNDING)
        return True


def _largest_square(told: np.ndarray) -> float:
    """Return the largest squared length of a column of an array of shape (q, m), 0 if there is none."""
    return float(np.vdot(told, told)) if told.shape[1] == 1 else float((told * told).sum(axis=0).max(initial=0.0))


@cache
def least_told(dof: int, level: float) -> float:
    """Return the chi-square that is exceeded by chance with this probability.

    Examples
    --------
    >>> round(least_told(1, 0.05), 2)
    3.84
    """
    from scipy.special import chdtri

    return float(chdtri(dof, level))


def without(functions: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return functions, (m, n), minus their projections on an orthonormal basis, (rank, n)."""
    return functions - (functions @ basis.T) @ basis if len(basis) else functions


def orthonormal(functions: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of functions, (m, n), of which `ROUNDING` is left out."""
    return (
        orthonormal_of(functions @ functions.T) @ functions if len(functions) > 1 else of_length_1(functions, ROUNDING)
    )


def orthonormal_of(products: np.ndarray) -> np.ndarray:
    """Return orthonormal combinations, (q, m), of functions with these products, (m, m); `ROUNDING` is left out."""
    squares = np.diagonal(products)
    scale = 1.0 / np.sqrt(np.where(squares > ROUNDING, squares, np.inf))
    if len(squares) == 1:
        return scale[scale > 0, np.newaxis]
    return whitening(scale[:, np.newaxis] * products * scale) * scale


def of_length_1(functions: np.ndarray, least: float) -> np.ndarray:
    """Return functions, (m, n), of length 1, but for those whose squared length is at most `least`."""
    squares = np.vecdot(functions, functions)
    is_long = squares > least
    if is_long.all():
        return functions / np.sqrt(squares)[:, np.newaxis]
    return functions[is_long] / np.sqrt(squares[is_long])[:, np.newaxis]


def _squares_of_sums(by_row: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the sums of squares of functions' sums over the first 0, 1, 2, ... rows in an order, shape (n,)."""
    from ..kernels.splines import squares_of_sums

    found = np.empty(len(order))
    squares_of_sums(np.ascontiguousarray(by_row), order, found)
    return found
