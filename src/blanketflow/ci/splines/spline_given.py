"""Functions of given columns on the rows, and more of them while they tell something of what a test is about."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .spline_functions import KNOTS
from .spline_growth import CUT, ROUNDING, Extras, Growth, Powers, State, least_told, of_length_1, without
from .spline_sample import Rows
from .spline_screen import SplineScreen, whitening

#: Cuts of a column at most, rows on either side, and how many rows smoother functions must leave of one.
MOST_CUTS, ROWS_BESIDE, LEAST_CUT = 3, 5, 0.5
#: Functions of each of two numbers whose products are tried.
IN_PRODUCTS = 3
#: A column of which at most this share is left, and whose neighbours along the given columns correlate by at least so
#: much in all, is a function of these.
NOTHING_LEFT, ALIKE = 3e-3, 0.5
#: The same, of a column whose neighbours were so much alike before functions were added.
FOLLOWED = 1e-3


class GivenFunctions:
    """The functions of given columns that a screen has, orthonormal on some rows, and what may be added to them.

    Attributes
    ----------
    basis : ndarray of shape (rank, n)
        The functions.
    leverage : ndarray of shape (n,)
        How much of each row is in these and in the constant.
    """

    def __init__(self, screen: SplineScreen, given: tuple[int, ...], rows: Rows | None = None) -> None:
        self._screen, self._given, self._rows = screen, given, screen if rows is None else rows
        self.n_rows = self._rows.n_rows
        self._sizes, combinations = screen.basis(given)
        parts = (self._rows.functions(*of) for of in zip(given, self._sizes, strict=True))
        found = np.vstack([np.empty((0, self.n_rows)), *parts])
        # Row by row in memory: orders of the rows pick from it.
        self._by_row = found.T @ (combinations if self._rows is screen else whitening(found @ found.T)).T
        self.basis, self.leverage = self._by_row.T, 1.0 / self.n_rows + np.vecdot(self._by_row, self._by_row)
        self._numbers = [column for column in given if not screen.is_label[column] and screen.n_functions[column]]
        self._orders: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.n_cells = self.n_rows * (len(self.basis) + KNOTS[-1] * len(given) + IN_PRODUCTS**2 * len(given) ** 2 // 2)

    @cached_property
    def extras(self) -> Extras:
        """The functions that may be added, but for cuts and powers: finer splines, and products of two columns."""
        finer, products = [], []
        for column, size in zip(self._given, self._sizes, strict=True):
            # As many as a number has, and twice as many until there are no more.
            while column in self._numbers and size < KNOTS[-1] - 1:
                finer.append(self._rows.finest(column)[size : 2 * size])
                size *= 2
        few = [self._rows.functions(column, self._few(column)) for column in self._given]
        for at, one in enumerate(few):
            for other in few[at + 1 :]:
                products.append(_centred((one[:, np.newaxis] * other).reshape(-1, self.n_rows)))
        return Extras([*finer, *products], len(finer), self.basis)

    def side(self, column: int) -> np.ndarray:
        """Return the functions of a column as X or Y, (q, n)."""
        return self._rows.functions(column, int(self._screen.n_of_side[column]))

    def left(self, functions: np.ndarray) -> np.ndarray:
        """Return what these functions leave of others, (m, n)."""
        return without(functions, self.basis)

    def first(self, left: np.ndarray) -> State:
        """Return a target's state before anything is added: the basis leaves this of it, (m, n)."""
        return State.first(left, self.extras)

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

    def more(self, state: State, left: np.ndarray, powers: list[Powers]) -> State:
        """Return the target's state with functions added until they tell no more of it, nor of a column, (m, n).

        These are finer splines, then the best cuts, as for steps, products of two columns, and `powers` of the fit.
        """
        growth, extras = Growth(self.extras, state, left), self.extras
        growth.add_groups(extras.n_finer)
        for column in self._numbers:
            for _ in range(MOST_CUTS):
                if not self._adds_cut(column, growth):
                    break
        growth.add_groups(extras.n_groups)
        for of_fit in powers:
            growth.add_powers(of_fit)
        return growth.state

    def powers(self, functions: np.ndarray) -> list[Powers]:
        """Return squares and cubes of what fits functions, (m, n), as for a logistic curve of a sum."""
        if len(self._given) < 2:
            return []
        fits = of_length_1(functions @ self.basis.T, ROUNDING) @ self.basis
        found = []
        for fit in fits:
            of_variance_1 = fit * np.sqrt(self.n_rows)
            square = fit * of_variance_1  # of a length that does not shrink with the rows
            found.append(Powers(self.left(_centred(np.stack([square, square * of_variance_1])))))
        return found

    def _few(self, column: int) -> int:
        n_functions = int(self._screen.n_functions[column])
        return n_functions if self._screen.is_label[column] else min(n_functions, IN_PRODUCTS)

    def _order(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a number, and what is left of cuts behind so many rows; 0 where none is."""
        if column not in self._orders:
            (order, is_next), n = self._rows.order(column), self.n_rows
            rows = np.arange(n)
            can_be = is_next & (rows >= ROWS_BESIDE) & (rows <= n - ROWS_BESIDE)
            self._orders[column] = order, can_be * (rows * (n - rows) / n - _squares_of_sums(self._by_row, order))
        return self._orders[column]

    def _adds_cut(self, column: int, growth: Growth) -> bool:
        """Add the cut of a number that tells most, if it tells enough."""
        from ...kernels.splines import best_cut

        order, left = self._order(column)
        state = growth.state
        if column not in state.cuts:
            left, n_before = state.left_of_cuts.get(column, (left, 0))
            if len(state.added) > n_before:
                left = left - _squares_of_sums(state.added[n_before:].T, order)
            state.left_of_cuts[column] = left, len(state.added)
            state.cuts[column] = best_cut(state.sides.values, order, left, LEAST_CUT)
        (left, _), (of_target, rows_of_target) = state.left_of_cuts[column], state.cuts[column]
        told, rows = best_cut(growth.sides.values, order, left, LEAST_CUT)
        share = max(told, of_target)
        if share * self.n_rows < least_told(1, CUT) or not growth.is_told(1, share, CUT):  # many cuts are tried
            return False
        lasts = of_target > told
        n_before = int(rows_of_target if lasts else rows)
        growth.join((column, n_before) if lasts else None, lambda: self.left(self._cut(order[:n_before])))
        return True

    def _cut(self, rows: np.ndarray) -> np.ndarray:
        cut = np.zeros((1, self.n_rows))
        cut[0, rows] = 1.0
        return _centred(cut)


def _centred(functions: np.ndarray) -> np.ndarray:
    return functions - functions.mean(axis=1, keepdims=True)


def _squares_of_sums(by_row: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the sums of squares of functions' sums over the first 0, 1, 2, ... rows in an order, shape (n,)."""
    from ...kernels.splines import squares_of_sums

    found = np.empty(len(order))
    squares_of_sums(np.ascontiguousarray(by_row), order, found)
    return found
