"""The lasso of features beside their knockoffs, by the products of the columns that it lets in.

Neither matrix is copied. Each lasso knows the columns that once asked to come in; when it is found, all rows are read
to see which others ask. That is repeated until none does, so that the result is the lasso of all columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: Strengths of the penalty on the path, the last as a share of the first, which lets nothing in.
N_PENALTIES, LAST = 30, 0.01
#: The path ends when so many penalties in a row predicted held-out rows worse than the best before them.
WORSE = 2
#: Sums of squared errors are compared to this many decimals of the target's, so that float noise does not decide.
DECIMALS = 12
#: What is added to the products of a column with itself, as a share of it, so that copies have a root.
ADDED = 1e-10


class Beside:
    """Two matrices of shape (n, m) as 2 m columns of mean 0 and variance 1, in pairs; some pairs stand second first."""

    def __init__(self, first: np.ndarray, second: np.ndarray, is_swapped: np.ndarray) -> None:
        self.matrices, self.is_swapped = (first, second), is_swapped
        self.n, self.m = first.shape
        self.means = self._in_pairs(*(one.mean(axis=0) for one in self.matrices))
        squares = self._in_pairs(*(np.einsum("ij,ij->j", one, one) for one in self.matrices)) / self.n
        deviations = np.sqrt(np.maximum(squares - self.means**2, 0.0))
        self.scales = 1.0 / np.where(deviations > 0, deviations, np.inf)

    def products(self, rows: np.ndarray) -> np.ndarray:
        """Return the products of all columns with vectors of shape (n, k), shape (2 m, k)."""
        raw = self._in_pairs(*(one.T @ rows for one in self.matrices))
        return (raw - np.outer(self.means, rows.sum(axis=0))) * self.scales[:, np.newaxis]

    def columns(self, positions: np.ndarray) -> np.ndarray:
        """Return a copy of some columns, (n, k)."""
        found = np.empty((self.n, len(positions)), order="F")
        is_second = positions % 2 != self.is_swapped[positions // 2]
        for matrix, here in zip(self.matrices, (~is_second, is_second), strict=True):
            found[:, here] = matrix[:, positions[here] // 2]
        return (found - self.means[positions]) * self.scales[positions]

    def _in_pairs(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        swapped = self.is_swapped.reshape(-1, *(1 for _ in first.shape[1:]))
        found = np.empty((2 * self.m, *first.shape[1:]))
        found[0::2], found[1::2] = np.where(swapped, second, first), np.where(swapped, first, second)
        return found


class Inside:
    """The columns that were let in, and their products with each other, outcomes and ones, part by part of the rows."""

    def __init__(self, beside: Beside, outcomes: np.ndarray, parts: np.ndarray) -> None:
        self.beside, self.c = beside, outcomes.shape[1]
        self.order = np.argsort(parts, kind="stable")  # so that a part's rows stand together
        stops = np.cumsum(np.bincount(parts)).tolist()
        self.rows_of = [slice(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]
        self.outcomes = outcomes[self.order]
        self.blocks, self.products = [], [np.empty((0, 0)) for _ in stops]
        self.at = np.full(2 * beside.m, -1)
        self._add(np.column_stack([self.outcomes, np.ones(len(parts))]))

    def let_in(self, positions: np.ndarray) -> None:
        """Let columns in."""
        self.at[positions] = len(self.products[0]) + np.arange(len(positions))
        self._add(self.beside.columns(positions)[self.order])

    def _add(self, block: np.ndarray) -> None:
        self.blocks.append(block)
        for part, rows in enumerate(self.rows_of):
            new = np.vstack([one[rows].T @ block[rows] for one in self.blocks])
            top = np.hstack([self.products[part], new[: -block.shape[1]]])
            self.products[part] = np.vstack([top, new.T])

    def times(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the columns times coefficients of shape (columns, k), shape (n, k), in the order of parts."""
        found, start = np.zeros((len(self.order), coefficients.shape[1])), 0
        for block in self.blocks:
            found += block @ coefficients[start : start + block.shape[1]]
            start += block.shape[1]
        return found

    def root_without(self, part: int | None, positions: np.ndarray) -> np.ndarray:
        """Return rows that have the products of some columns and then the outcomes, centred, without a part's rows."""
        take = np.ix_(*(np.concatenate([self.at[positions], np.arange(self.c + 1)]),) * 2)
        products = np.sum([one[take] for at, one in enumerate(self.products) if at != part], axis=0)
        means = products[-1] / products[-1, -1]
        centred = (products / products[-1, -1] - np.outer(means, means))[:-1, :-1]
        own = np.diag_indices(len(centred))
        centred[own] = centred[own] * (1.0 + ADDED) + ADDED
        return np.linalg.cholesky(centred).T * np.sqrt(len(centred))


class Fit:
    """A lasso on all rows but those of a part, or on all, as the penalty becomes weaker."""

    def __init__(self, inside: Inside, part: int | None) -> None:
        self.inside, self.part = inside, part
        self.positions, self.coefficients = np.empty(0, dtype=np.int64), np.zeros((inside.c, 0))
        self.root = inside.root_without(part, self.positions)
        self.out = slice(0, 0) if part is None else inside.rows_of[part]
        self.n = len(inside.order) - (self.out.stop - self.out.start)

    def let_in(self, positions: np.ndarray) -> None:
        """Let columns in that the others of `inside` already are among."""
        self.positions = np.append(self.positions, positions)
        self.coefficients = np.hstack([self.coefficients, np.zeros((self.inside.c, len(positions)))])
        self.root = self.inside.root_without(self.part, self.positions)

    def learn(self, strength: float) -> None:
        """Find the coefficients, beginning with those known."""
        from sklearn.linear_model import enet_path

        c, k = self.coefficients.shape
        if k:
            y, begin = (self.root[:, k], self.coefficients[0]) if c == 1 else (self.root[:, k:], self.coefficients)
            columns = np.asfortranarray(self.root[:, :k])
            found = enet_path(columns, y, l1_ratio=1.0, alphas=[strength], coef_init=begin, tol=1e-3)[1]
            self.coefficients = found.reshape(c, k)


def weights_by_products(
    beside: Beside, outcomes: np.ndarray, parts: np.ndarray, check_time: Callable[[], None]
) -> np.ndarray:
    """Return the absolute coefficient of each column, (2 m,), under the penalty that predicts held-out parts best.

    Parameters
    ----------
    beside : Beside
    outcomes : ndarray of shape (n, c)
        Centred columns of the target. The coefficients of several share a penalty.
    parts : ndarray of int, shape (n,)
        The part of each row, from 0.
    check_time : callable
        Called before all rows are read.
    """
    inside = Inside(beside, outcomes, parts)
    fits = [Fit(inside, part) for part in (*range(len(inside.rows_of)), None)]

    def read() -> tuple[np.ndarray, float]:
        """Return how strongly each column asks to come in, (2 m, fits), and the squared errors in held-out parts."""
        check_time()
        known, error = np.zeros((len(inside.products[0]), len(fits), inside.c)), 0.0
        for at, fit in enumerate(fits):
            known[inside.at[fit.positions], at] = fit.coefficients.T
        left = np.tile(inside.outcomes, len(fits)) - inside.times(known.reshape(len(known), -1))
        rows = np.empty((len(parts), len(fits) * inside.c))
        for at, fit in enumerate(fits):
            one = left[:, at * inside.c : (at + 1) * inside.c]
            one -= (one.sum(axis=0) - one[fit.out].sum(axis=0)) / fit.n
            error += float((one[fit.out] ** 2).sum())
            one[fit.out] = 0.0
        rows[inside.order] = left
        asked = beside.products(rows).reshape(-1, len(fits), inside.c)
        return np.sqrt((asked**2).sum(axis=2)) / [fit.n for fit in fits], error

    asked, error = read()
    first, found = float(asked[:, -1].max()), np.zeros(2 * beside.m)
    if not first:
        return found
    errors: list[float] = []
    for strength in np.geomspace(first, LAST * first, N_PENALTIES):
        enters = _new(fits, asked, strength)
        while True:
            if (is_new := enters.any(axis=1) & (inside.at < 0)).any():
                inside.let_in(np.flatnonzero(is_new))
            for fit, own in zip(fits, enters.T, strict=True):
                if own.any():
                    fit.let_in(np.flatnonzero(own))
                fit.learn(strength)
            asked, error = read()
            enters = _new(fits, asked, strength)
            if not enters.any():
                break
        errors.append(np.round(error / (outcomes**2).sum(), DECIMALS))
        best = int(np.argmin(errors))
        if best == len(errors) - 1:
            found[fits[-1].positions] = np.abs(fits[-1].coefficients).sum(axis=0)
        elif len(errors) - 1 - best >= WORSE:
            break
    return found


def _new(fits: list[Fit], asked: np.ndarray, strength: float) -> np.ndarray:
    """Return which columns ask a fit to come in and are not, shape (2 m, fits)."""
    enters = asked > strength
    for at, fit in enumerate(fits):
        enters[fit.positions, at] = False
    return enters
