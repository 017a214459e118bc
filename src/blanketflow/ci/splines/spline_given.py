"""Functions of given columns on the rows, and further ones while they predict a side of the test."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from ..spline_functions import KNOTS
from .spline_screen import VANISHING, Rows, SplineScreen, whitening

#: Most cuts of a column, rows on either side, and the rows that smoother functions must leave of one.
MOST_CUTS, ROWS_BESIDE, LEAST_CUT = 3, 5, 0.5
#: Functions per number whose products are tried.
IN_PRODUCTS = 3
#: A column is a function of the given ones if at most this share is left, and neighbours along them have at least this
#: total correlation.
NOTHING_LEFT, ALIKE = 3e-3, 0.5
#: The same for the correlation of neighbours before functions were added.
FOLLOWED = 1e-3


class GivenFunctions:
    """The screen's functions of given columns, an orthonormal basis, (rank, n), with leverage, (n,), and further
    functions.
    """

    def __init__(self, screen: SplineScreen, given: tuple[int, ...], rows: Rows | None = None) -> None:
        self._screen, self._given, self._rows = screen, given, screen if rows is None else rows
        self.n_rows = self._rows.n_rows
        self._sizes, combinations = screen.basis(given)
        parts = (self._rows.functions(*of) for of in zip(given, self._sizes, strict=True))
        found = np.vstack([np.empty((0, self.n_rows)), *parts])
        # Contiguous by row, for indexing by orders of the rows.
        self._by_row = found.T @ (combinations if self._rows is screen else whitening(found @ found.T)).T
        self.basis, self.leverage = self._by_row.T, 1.0 / self.n_rows + np.vecdot(self._by_row, self._by_row)
        self._numbers = [column for column in given if not screen.is_label[column] and screen.n_functions[column]]
        self._orders: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.n_cells = self.n_rows * (len(self.basis) + KNOTS[-1] * len(given) + IN_PRODUCTS**2 * len(given) ** 2 // 2)

    @cached_property
    def extras(self) -> Extras:
        """The further functions except cuts and powers: finer splines, and products of two columns."""
        finer, products = [], []
        for column, size in zip(self._given, self._sizes, strict=True):
            # The usual number of functions, doubled until there are no more.
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
        """Return the residuals of functions, (m, n), on these."""
        return without(functions, self.basis)

    def first(self, left: np.ndarray) -> State:
        """Return a target's state before anything is added, from its residuals on the basis, (m, n)."""
        return State.first(left, self.extras)

    def is_nothing(self, before: np.ndarray, left: np.ndarray) -> bool:
        """Whether a column's residuals are only what splines could not follow: similar in neighbours along Z.

        `before` are the residuals before functions were added, which can remove the similarity.
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
        """Return the target's state with functions added until they predict neither it nor a column, (m, n).

        First finer splines, then the best cuts, as for steps, products of two columns, and `powers` of the fit.
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

    def left_at_once(self, functions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return residuals of functions, (m, n), each a column of its own, on these and cuts; leverages; which are
        right.

        Right are those to which `more` adds cuts only, and of which something is left. What is near a threshold is not.
        """
        from ...kernels.splines import add_cuts

        left, extras, n = self.left(functions), self.extras, self.n_rows
        squares, leverages, shares = np.vecdot(left, left), np.zeros_like(left), np.zeros(len(left))
        is_left, is_settled = squares > NOTHING_LEFT, np.zeros(len(left), dtype=bool)
        values = left / np.sqrt(np.where(is_left, squares, 1.0))[:, np.newaxis]
        orders, lefts = np.empty((len(self._numbers), n), dtype=np.intp), np.empty((len(self._numbers), n))
        for at, column in enumerate(self._numbers):
            orders[at], lefts[at] = self._order(column)
        add_cuts(
            values,
            self._by_row,
            orders,
            lefts,
            extras.functions,
            extras.starts,
            extras.n_finer,
            extras.blocks,
            extras.least,
            extras.of(values),
            *self._powers_at_once(functions),
            (least_told(1, CUT), least_told(2, POWERS), LEAST_CUT, NEAR),
            (int(MOST_FUNCTIONS * n), MOST_CUTS),
            (ROUNDING, VANISHING),
            leverages,
            shares,
            is_settled,
        )
        return values, self.leverage + leverages, is_settled & (squares * shares > (1.0 + NEAR) * NOTHING_LEFT)

    def _powers_at_once(self, functions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return squares and cubes of the fits of functions, (m, 2, n), and products of their residuals, (m, 2, 2)."""
        if len(self._given) < 2:
            return np.empty((0, 2, self.n_rows)), np.empty((0, 2, 2))
        of_fit = functions @ self.basis.T
        lengths = np.vecdot(of_fit, of_fit)
        fits = (of_fit / np.sqrt(np.where(lengths > 2 * ROUNDING, lengths, np.inf))[:, np.newaxis]) @ self.basis
        powers, of_variance_1 = np.empty((len(fits), 2, self.n_rows)), fits * np.sqrt(self.n_rows)
        np.multiply(fits, of_variance_1, out=powers[:, 0])
        np.multiply(powers[:, 0], of_variance_1, out=powers[:, 1])
        powers -= powers.mean(axis=2, keepdims=True)
        by_basis = powers @ self.basis.T
        return powers, powers @ powers.transpose(0, 2, 1) - by_basis @ by_basis.transpose(0, 2, 1)

    def powers(self, functions: np.ndarray) -> list[Powers]:
        """Return squares and cubes of the fit of functions, (m, n), as for a logistic curve of a sum."""
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
        """Return the rows in the order of a number, and the squared residuals of cuts after each row; 0 for no cut."""
        if column not in self._orders:
            (order, is_next), n = self._rows.order(column), self.n_rows
            rows = np.arange(n)
            can_be = is_next & (rows >= ROWS_BESIDE) & (rows <= n - ROWS_BESIDE)
            self._orders[column] = order, can_be * (rows * (n - rows) / n - _squares_of_sums(self._by_row, order))
        return self._orders[column]

    def _adds_cut(self, column: int, growth: Growth) -> bool:
        """Add the most predictive cut of a number, if it is significant."""
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


#: p-values up to which functions are added: finer splines, a cut, products of two columns, powers of the fit.
FINER, CUT, PRODUCTS, POWERS = 0.005, 0.001, 0.005, 0.02
#: Largest number of functions, as a share of the rows.
MOST_FUNCTIONS = 0.5
#: Functions of smaller squared length are rounding; shorter sides need no further functions.
ROUNDING, EXPLAINED = 1e-10, 1e-8
#: Where many columns are regressed at once, those this near a threshold, as a share of it, are regressed alone.
NEAR = 1e-6


class Extras:
    """Functions of given columns that are added to a basis in whole groups: `n_finer` of finer splines, then products.

    `blocks`, (D, q), are products of each function's residual on the basis with those of its group.
    """

    def __init__(self, groups: list[np.ndarray], n_finer: int, basis: np.ndarray) -> None:
        self.n_groups, self.n_finer, self.basis = len(groups), n_finer, basis
        self.starts = np.cumsum([0, *map(len, groups)])
        self.functions = np.vstack([np.empty((0, basis.shape[1])), *groups])
        self._by_basis = self.functions @ basis.T
        self.blocks = np.zeros((len(self.functions), max(map(len, groups), default=0)))
        for at, functions in enumerate(groups):
            by_basis = self._by_basis[self._of(at)]
            self.blocks[self._of(at), : len(functions)] = functions @ functions.T - by_basis @ by_basis.T
        sizes = range(self.blocks.shape[1] + 1)
        critical = [least_told(q, self.level(at)) for at in range(len(groups)) for q in sizes]
        self.least = np.array(critical).reshape(len(groups), len(sizes))

    def left(self, at: int) -> np.ndarray:
        """Return the residuals of a group's functions on the basis, (q, n)."""
        return self.functions[self._of(at)] - self._by_basis[self._of(at)] @ self.basis

    def level(self, at: int) -> float:
        """Return the p-value up to which a group is added."""
        return FINER if at < self.n_finer else PRODUCTS

    def of(self, left: np.ndarray, start: int = 0) -> np.ndarray:
        """Return products of some functions' residuals on the basis with all of these, (m, D); 0 before a group."""
        at, found = self.starts[start], np.zeros((len(left), len(self.functions)))
        found[:, at:] = left @ self.functions[at:].T
        return found

    def _of(self, at: int) -> slice:
        return slice(self.starts[at], self.starts[at + 1])


class Sides:
    """Functions of length 1 to be predicted, (m, n), and their products with extras, (m, D)."""

    def __init__(self, values: np.ndarray, of_extras: np.ndarray) -> None:
        self.values, self.of_extras = values, of_extras

    @classmethod
    def of(cls, left: np.ndarray, extras: Extras) -> Sides:
        """Return the sides from residuals on the basis."""
        values = of_length_1(left, EXPLAINED)
        return cls(values, extras.of(values))

    def without(self, functions: np.ndarray, of_extras: np.ndarray) -> Sides:
        """Return the residuals on orthonormal functions with these products with extras."""
        told = self.values @ functions.T
        left = self.values - told @ functions
        squares = np.vecdot(left, left)
        kept = squares > ROUNDING
        scale = 1.0 / np.sqrt(squares[kept])[:, np.newaxis]
        return Sides(left[kept] * scale, (self.of_extras - told @ of_extras)[kept] * scale)


class State:
    """Orthonormal functions, `added` to a basis, and the target's residuals on both.

    `blocks` are the residual ones of `Extras`. Results for one candidate are cached for the next: the states with more
    functions; the cuts of columns; and `of_target`, the test's view of the target.
    """

    def __init__(self, added: np.ndarray, of_extras: np.ndarray, sides: Sides, blocks: np.ndarray) -> None:
        self.added, self.sides, self.blocks = added, sides, blocks
        self.last = added[len(added) - len(of_extras) :], of_extras
        self.left_of_cuts: dict[int, tuple[np.ndarray, int]] = {}  # with the number of functions added by then
        self.following: dict[Any, State] = {}
        self.cuts: dict[int, tuple[float, float]] = {}
        self.of_target: Any = None

    @classmethod
    def first(cls, left: np.ndarray, extras: Extras) -> State:
        """Return the state before anything is added, from the target's residuals on the basis."""
        sides = Sides.of(left, extras)
        return cls(left[:0], sides.of_extras[:0], sides, extras.blocks)

    def joined(self, left: np.ndarray, extras: Extras, start: int) -> State:
        """Return the state with more functions, by their residuals, (q, n); extras are updated from the group `start`
        on.
        """
        from ...kernels.splines import take_off

        new, blocks = orthonormal(without(left, self.added)), self.blocks.copy()
        of_extras = extras.of(new, start)
        take_off(extras.starts, of_extras, blocks)
        sides, added = self.sides.without(new, of_extras), np.vstack([self.added, new])
        found = State(added, of_extras, sides, blocks)
        found.left_of_cuts.update(self.left_of_cuts)
        return found


class Powers:
    """Residuals on the basis of powers of a fit of given columns, (2, n)."""

    def __init__(self, left: np.ndarray) -> None:
        self.left = left


class Growth:
    """The state of a target while functions are added, and a candidate's residuals, `sides`, of length 1."""

    def __init__(self, extras: Extras, state: State, left: np.ndarray) -> None:
        self._extras, self._rank, self._n, self._next = extras, len(extras.basis), left.shape[1], 0
        self.state, self.sides = state, Sides.of(left, extras)

    def add_groups(self, stop: int) -> None:
        """Add the next groups of extra functions, up to one, that predict a side."""
        from ...kernels.splines import first_told

        extras = self._extras
        while self._next < stop and len(self.sides.values) + len(self.state.sides.values):
            told = np.vstack([self.sides.of_extras, self.state.sides.of_extras])
            limits = self._n, MOST_FUNCTIONS * self._n, self._rank + len(self.state.added), ROUNDING, VANISHING
            groups, n_first = (extras.starts, self._next, stop, self.state.blocks), len(self.sides.values)
            at, share_of_target = first_told(*groups, told, n_first, extras.least, *limits)
            self._next = at + 1
            if at < stop:
                lasts = self.is_told(extras.starts[at + 1] - extras.starts[at], share_of_target, extras.level(at))
                self.join(at if lasts else None, partial(extras.left, at))
        self._next = stop

    def add_powers(self, powers: Powers) -> None:
        """Add powers of a fit if they predict a side."""
        new = orthonormal(without(powers.left, self.state.added))
        told, of_target = (_largest_square(new @ one.values.T) for one in (self.sides, self.state.sides))
        if self.is_told(len(new), max(told, of_target), POWERS):
            lasts = self.is_told(len(new), of_target, POWERS)
            self.join(powers if lasts else None, lambda: powers.left)

    def is_told(self, q: int, share: float, level: float) -> bool:
        """Whether functions, this many, that explain this share of a side are significant."""
        rank = self._rank + len(self.state.added) + q
        if not q or rank > MOST_FUNCTIONS * self._n:
            return False
        return share * (self._n - 1 - rank) >= least_told(q, level) * (1.0 - share)

    def join(self, key: Any, left: Callable[[], np.ndarray]) -> None:
        """Add functions by their residuals on the basis; with a key the state is cached for other candidates."""
        state = self.state.following.get(key) or self.state.joined(left(), self._extras, self._next)
        if key is not None:
            self.state.following[key] = state
        self.state, self.sides = state, self.sides.without(*state.last)


def _largest_square(told: np.ndarray) -> float:
    """Return the largest squared length of a column of an array of shape (q, m), 0 if there is none."""
    return float((told * told).sum(axis=0).max(initial=0.0))


@cache
def least_told(dof: int, level: float) -> float:
    """Return the chi-square that is exceeded by chance with this probability.

    >>> round(least_told(1, 0.05), 2)
    3.84
    """
    from scipy.special import chdtri

    return float(chdtri(dof, level))


def without(functions: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return functions, (m, n), minus their projections on an orthonormal basis, (rank, n)."""
    return functions - (functions @ basis.T) @ basis if len(basis) else functions


def orthonormal(functions: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of functions, (m, n), ignoring `ROUNDING`."""
    return (
        orthonormal_of(functions @ functions.T) @ functions if len(functions) > 1 else of_length_1(functions, ROUNDING)
    )


def orthonormal_of(products: np.ndarray) -> np.ndarray:
    """Return orthonormal combinations, (q, m), of functions with these products, (m, m), ignoring `ROUNDING`."""
    squares = np.diagonal(products)
    scale = 1.0 / np.sqrt(np.where(squares > ROUNDING, squares, np.inf))
    if len(squares) == 1:
        return scale[scale > 0, np.newaxis]
    return whitening(scale[:, np.newaxis] * products * scale) * scale


def of_length_1(functions: np.ndarray, least: float) -> np.ndarray:
    """Return functions, (m, n), scaled to length 1, except those of squared length at most `least`."""
    squares = np.vecdot(functions, functions)
    is_long = squares > least
    if is_long.all():
        return functions / np.sqrt(squares)[:, np.newaxis]
    return functions[is_long] / np.sqrt(squares[is_long])[:, np.newaxis]
