"""Functions of given columns on the rows, and more of them while they tell something of what a test is about."""

from __future__ import annotations

from functools import cache

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
        self.basis = combinations @ np.vstack([np.empty((0, self.n_rows)), *found])
        self._numbers = [column for column in given if not screen.is_label[column] and screen.n_functions[column]]
        self._kept: dict[tuple[str, int, int], np.ndarray] = {}
        self._orders: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def left(self, functions: np.ndarray) -> np.ndarray:
        """Return what these functions leave of others, (m, n)."""
        return without(functions, self.basis)

    def is_nothing(self, left: np.ndarray) -> bool:
        """Whether what is left of a column is only what splines could not follow: alike in neighbours along Z."""
        if np.vecdot(left, left).max(initial=0.0) > NOTHING_LEFT:
            return False
        left = np.copysign(np.sqrt(np.abs(left)), left)  # else a few rows at the ends would decide
        alike = np.zeros(len(left))
        for column in self._numbers:
            values = left[:, self._order(column)[0]]
            alike += np.vecdot(values[:, 1:], values[:, :-1])
        return bool(np.all(alike > ALIKE * np.vecdot(left, left)))

    def more(self, functions: np.ndarray) -> np.ndarray:
        """Return orthonormal functions, (q, n), to add until nothing more is told of some functions, (m, n).

        These are finer splines, then the best cuts, as for steps, products of two columns, and powers of what is fitted
        so far, as for a logistic curve of a sum.
        """
        growth = Growth(self.basis, self.left(functions))
        for column in self._numbers:
            size = self._screen.n_of_given(column, len(self._given))
            while size < KNOTS[-1] - 1:
                growth.add(self._finer(column, size), FINER)
                size *= 2
        for column in self._numbers:
            for _ in range(MOST_CUTS):
                cut = self._best_cut(column, growth)
                if cut is None or not growth.add(cut, CUT):
                    break
        for i, column in enumerate(self._given):
            for other in self._given[i + 1 :]:
                growth.add(self._products(column, other), PRODUCTS)
        if len(self._given) > 1:
            fitted = of_length_1((functions @ self.basis.T) @ self.basis, ROUNDING)
            powers = np.stack([fitted**2, fitted**3], axis=1)
            left = self.left((powers - powers.mean(axis=-1, keepdims=True)).reshape(-1, self.n_rows))
            for of_fit in left.reshape(powers.shape):
                growth.add(orthonormal(of_fit), POWERS)
        return growth.added

    def _centred(self, functions: np.ndarray) -> np.ndarray:
        return orthonormal(self.left(functions - functions.mean(axis=1, keepdims=True)))

    def _finer(self, column: int, size: int) -> np.ndarray:
        """Return the next functions of a number, as many as it has."""
        key = "finer", column, size
        if key not in self._kept:
            self._kept[key] = orthonormal(self.left(self._screen.finest(column)[size : 2 * size]))
        return self._kept[key]

    def _products(self, column: int, other: int) -> np.ndarray:
        """Return the products of the first functions of two columns."""
        key = "products", column, other
        if key not in self._kept:
            one, two = self._few(column), self._few(other)
            self._kept[key] = self._centred((one[:, np.newaxis] * two).reshape(-1, self.n_rows))
        return self._kept[key]

    def _few(self, column: int) -> np.ndarray:
        screen = self._screen
        size = screen.n_functions[column] if screen.is_label[column] else min(screen.n_functions[column], IN_PRODUCTS)
        return screen.functions(column, size)

    def _order(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows in the order of a number, and what is left of cuts behind so many rows; 0 where none is."""
        if column not in self._orders:
            values, n = self._screen.table[column].numbers(), self.n_rows
            order = np.argsort(values, kind="stable")
            rows = np.arange(n)
            can_be = (rows >= ROWS_BESIDE) & (rows <= n - ROWS_BESIDE)
            can_be[1:] &= values[order[1:]] > values[order[:-1]]  # a difference may overflow
            self._orders[column] = order, can_be * (rows * (n - rows) / n - _squares_of_sums(self.basis, order))
        return self._orders[column]

    def _best_cut(self, column: int, growth: Growth) -> np.ndarray | None:
        """Return the cut of a number that tells most; None if no cut tells enough, or none can be made."""
        from ..kernels.splines import best_cut

        order, left = self._order(column)
        if len(growth.added):
            left = left - _squares_of_sums(growth.added, order)
        told, rows = best_cut(growth.sides, order, left, LEAST_CUT)
        if told * self.n_rows < least_told(1, CUT):
            return None
        cut = np.zeros((1, self.n_rows))
        cut[0, order[: int(rows)]] = 1.0
        return self._centred(cut)


class Growth:
    """What is left of some functions, `sides`, of length 1, while orthonormal functions are `added` to a basis."""

    def __init__(self, basis: np.ndarray, left: np.ndarray) -> None:
        self._rank, self.added = len(basis), np.empty((0, left.shape[1]))
        self.sides = of_length_1(left, EXPLAINED)

    def add(self, functions: np.ndarray, level: float) -> bool:
        """Add functions, orthonormal beside the basis, if they tell something of a side."""
        if len(self.added) and len(functions):
            functions = orthonormal(without(functions, self.added))
        n, rank = functions.shape[1], self._rank + len(self.added) + len(functions)
        if not len(functions) or not len(self.sides) or rank > MOST_FUNCTIONS * n:
            return False
        told = self.sides @ functions.T
        share = float(np.vecdot(told, told).max())
        if share * (n - 1 - rank) < least_told(len(functions), level) * (1.0 - share):
            return False
        self.sides = of_length_1(self.sides - told @ functions, ROUNDING)
        self.added = np.vstack([self.added, functions])
        return True


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
    functions = of_length_1(functions, ROUNDING)
    return whitening(functions @ functions.T) @ functions if len(functions) > 1 else functions


def of_length_1(functions: np.ndarray, least: float) -> np.ndarray:
    """Return functions, (m, n), of length 1, but for those whose squared length is at most `least`."""
    squares = np.vecdot(functions, functions)
    is_long = squares > least
    return functions[is_long] / np.sqrt(squares[is_long])[:, np.newaxis]


def _squares_of_sums(functions: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the sums of squares of the functions' sums over the first 0, 1, 2, ... rows in an order, shape (n,)."""
    found = np.zeros(len(order))
    for function in functions:
        found[1:] += np.cumsum(function[order])[:-1] ** 2
    return found
