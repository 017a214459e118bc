"""Functions that are added to those of given columns while they tell something of a target or of a candidate."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from .spline_screen import VANISHING, whitening

#: p-values up to which functions are added: finer splines, a cut, products of two columns, powers of the fit.
FINER, CUT, PRODUCTS, POWERS = 0.005, 0.001, 0.005, 0.02
#: The share of the rows that all functions may take.
MOST_FUNCTIONS = 0.5
#: Functions shorter than this, squared, are rounding; and sides that are shorter need no more functions.
ROUNDING, EXPLAINED = 1e-10, 1e-8


class Extras:
    """Functions of given columns that may be added to a basis, in groups that are added as a whole.

    Attributes
    ----------
    n_groups, n_finer : int
        How many groups: of finer splines, and products behind these.
    blocks : ndarray of shape (D, q)
        Products of what the basis leaves of each function with those of its group.
    """

    def __init__(self, groups: list[np.ndarray], n_finer: int, basis: np.ndarray) -> None:
        self.n_groups, self.n_finer, self.basis = len(groups), n_finer, basis
        self.starts = np.cumsum([0, *map(len, groups)])
        self._functions = np.vstack([np.empty((0, basis.shape[1])), *groups])
        self._by_basis = self._functions @ basis.T
        self.blocks = np.zeros((len(self._functions), max(map(len, groups), default=0)))
        for at, functions in enumerate(groups):
            by_basis = self._by_basis[self._of(at)]
            self.blocks[self._of(at), : len(functions)] = functions @ functions.T - by_basis @ by_basis.T
        sizes = range(self.blocks.shape[1] + 1)
        self.least = np.array([[least_told(q, self.level(at)) for q in sizes] for at in range(len(groups))])

    def left(self, at: int) -> np.ndarray:
        """Return what the basis leaves of the functions of a group, (q, n)."""
        return self._functions[self._of(at)] - self._by_basis[self._of(at)] @ self.basis

    def level(self, at: int) -> float:
        """Return the p-value up to which a group is added."""
        return FINER if at < self.n_finer else PRODUCTS

    def of(self, left: np.ndarray, start: int = 0) -> np.ndarray:
        """Return products of what the basis leaves of some functions with all of these, (m, D); 0 before a group."""
        at, found = self.starts[start], np.zeros((len(left), len(self._functions)))
        found[:, at:] = left @ self._functions[at:].T
        return found

    def _of(self, at: int) -> slice:
        return slice(self.starts[at], self.starts[at + 1])


class Sides:
    """Functions of length 1 that others may tell something of, (m, n), and their products with extras, (m, D)."""

    def __init__(self, values: np.ndarray, of_extras: np.ndarray) -> None:
        self.values, self.of_extras = values, of_extras

    @classmethod
    def of(cls, left: np.ndarray, extras: Extras) -> Sides:
        """Return the sides of which the basis leaves this."""
        values = of_length_1(left, EXPLAINED)
        return cls(values, extras.of(values))

    def without(self, functions: np.ndarray, of_extras: np.ndarray) -> Sides:
        """Return what orthonormal functions with these products with extras leave."""
        told = self.values @ functions.T
        left = self.values - told @ functions
        squares = np.vecdot(left, left)
        kept = squares > ROUNDING
        scale = 1.0 / np.sqrt(squares[kept])[:, np.newaxis]
        return Sides(left[kept] * scale, (self.of_extras - told @ of_extras)[kept] * scale)


class State:
    """Orthonormal functions, `added` to a basis, and what both leave of the target.

    `blocks` are those of `Extras` that all leave. What was found for one candidate is kept for the next ones: the
    states with more functions; of columns the cuts; and `of_target`, what the test takes of the target.
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
        """Return the state before anything is added; the basis leaves this of the target."""
        sides = Sides.of(left, extras)
        return cls(left[:0], sides.of_extras[:0], sides, extras.blocks)

    def joined(self, left: np.ndarray, extras: Extras, start: int) -> State:
        """Return the state with more functions, of which the basis leaves this, (q, n).

        Extra functions matter from the group `start` on.
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
    """What the basis leaves of powers of a fit of given columns, (2, n)."""

    def __init__(self, left: np.ndarray) -> None:
        self.left = left


class Growth:
    """The state of a target while functions are added, and what is left of a candidate, `sides`, of length 1."""

    def __init__(self, extras: Extras, state: State, left: np.ndarray) -> None:
        self._extras, self._rank, self._n, self._next = extras, len(extras.basis), left.shape[1], 0
        self.state, self.sides = state, Sides.of(left, extras)

    def add_groups(self, stop: int) -> None:
        """Add the next groups of extra functions, up to one, that tell something of a side."""
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
        """Add powers of a fit if they tell something of a side."""
        new = orthonormal(without(powers.left, self.state.added))
        told, of_target = (_largest_square(new @ one.values.T) for one in (self.sides, self.state.sides))
        if self.is_told(len(new), max(told, of_target), POWERS):
            lasts = self.is_told(len(new), of_target, POWERS)
            self.join(powers if lasts else None, lambda: powers.left)

    def is_told(self, q: int, share: float, level: float) -> bool:
        """Whether so many functions that tell this share of a side tell something of it."""
        rank = self._rank + len(self.state.added) + q
        if not q or rank > MOST_FUNCTIONS * self._n:
            return False
        return share * (self._n - 1 - rank) >= least_told(q, level) * (1.0 - share)

    def join(self, key: Any, left: Callable[[], np.ndarray]) -> None:
        """Add functions of which the basis leaves this; a key keeps the state for other candidates of the target."""
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
