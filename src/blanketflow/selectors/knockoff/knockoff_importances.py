"""Importances of features and knockoffs: by a lasso, correlation, a model of the target, or a CI test.

Importances must not depend on which of the two is the knockoff. They are in random order, so that ties broken by column
order are valid too. The lasso can use products of the columns that enter, which saves memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...ci import get_ci_test
from ...ci.base import CITest
from ...core.errors import ParameterError
from ...core.numerics import standardised
from ...core.seeds import seed_32
from ...core.table import Column, Table
from ...models.encode import moderated
from ..base import Problem
from ..filters.linear_similarity import target_columns
from ..learning import estimator_for, own_weights
from .knockoff_pairs import Pair

#: Values of the parameter `importance`.
LASSO, CORRELATION, MODEL, TEST = "lasso", "correlation", "model", "test"
#: Parts of the cross-validation.
N_PARTS = 5


def excess(
    problem: Problem, how: str, model: object, test: CITest | str, pair: Pair, rng: np.random.Generator
) -> np.ndarray:
    """Return the importance of each feature minus that of its knockoff, (d,), 0 for a feature without columns.

    `model` and `test` are for the importances that need one. For a feature that is independent of the target given all
    others, the sign is a fair coin.
    """
    d, target, owners = len(problem.features), problem.table[problem.target], pair.owners
    if not len(owners) or target.is_constant():
        return np.zeros(d)
    is_swapped = rng.random(d) < 0.5
    if how == TEST:
        found, owners = by_test(pair, is_swapped, target, test, problem.seed)
        problem.n_inner_tests += len(found)
    elif how == LASSO and pair.by_products:
        beside, outcomes = Beside(pair.columns, pair.knockoffs, is_swapped[owners]), outcomes_of(target)
        parts = problem.parts(target.numbers(), N_PARTS, "knockoffs")
        found = weights_by_products(beside, outcomes, parts, problem.check_time)
    else:
        of_columns = is_swapped[owners]
        both = np.empty((len(pair.columns), 2 * len(owners)), order="F")
        both[:, 0::2] = np.where(of_columns, pair.knockoffs, pair.columns)
        both[:, 1::2] = np.where(of_columns, pair.columns, pair.knockoffs)
        if how == LASSO:
            found = by_lasso(both, target, problem)
        elif how == CORRELATION:
            found = by_correlation(both, target)
        else:
            found = by_model(both, target, model, problem.seed)
    first = np.bincount(owners, found[0::2], d) - np.bincount(owners, found[1::2], d)
    largest = float(np.abs(first).max()) or 1.0
    return np.round(np.where(is_swapped, -first, first) / largest, DECIMALS)


def by_test(
    pair: Pair, is_swapped: np.ndarray, target: Column, test: CITest | str, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return minus log p of the marginal tests, (2 m,), in pairs, swapped ones knockoff first, and the m owners."""
    features, knockoffs, owners = pair.as_columns()
    ordered = [
        column
        for first, second, owner in zip(features, knockoffs, owners.tolist(), strict=True)
        for column in ((second, first) if is_swapped[owner] else (first, second))
    ]
    named = [replace(column, name=f"column {at}") for at, column in enumerate(ordered)]
    table = Table([*named, replace(target, name="target")])
    chosen = get_ci_test(test) if isinstance(test, str) else test
    bound = chosen.bind(table, seed=seed, target="target")
    return -bound.test_many(np.arange(len(named)), "target").log_p, owners


def by_correlation(columns: np.ndarray, target: Column) -> np.ndarray:
    """Return the absolute correlation of each column with the target, or with all its classes."""
    products = target_columns(target).T @ standardised(columns.T).T
    return np.sqrt((products**2).sum(axis=0))


def by_model(columns: np.ndarray, target: Column, model: object, seed: int) -> np.ndarray:
    """Return the importance of each column in a model of the target; `ParameterError` if the model has none."""
    fitted = estimator_for(model, target, seed_32(seed, "knockoffs", "model"), columns, np.arange(len(columns)))
    weights = own_weights(fitted.fit(columns, moderated(target)))
    if weights is None or len(weights) != columns.shape[1]:
        raise ParameterError(
            f"knockoffs: model {model!r} has neither feature_importances_ nor coef_ for its columns. Choose another "
            "model, or importance: lasso."
        )
    return weights


def outcomes_of(target: Column) -> np.ndarray:
    """Return the target of a lasso, (n, c): one column, or an indicator for each of several classes."""
    found = target_columns(target) * np.sqrt(len(target.cells()))
    return found[:, :1] if target.is_discrete and len(target.levels) == 2 else found


def by_lasso(columns: np.ndarray, target: Column, problem: Problem) -> np.ndarray:
    """Return the absolute coefficient of each column at the penalty with the best held-out predictions.

    Least squares with an L1 penalty (Tibshirani, 1996, doi:10.1111/j.2517-6161.1996.tb02080.x). Classes are regressed
    as indicators; more than two share the penalty of a column.
    """
    from sklearn.linear_model import enet_path

    X, Y = standardised(columns.T).T * np.sqrt(len(columns)), outcomes_of(target)
    X, y = np.asfortranarray(X), Y[:, 0] if Y.shape[1] == 1 else Y
    first = float(np.sqrt(((X.T @ Y) ** 2).sum(axis=1)).max()) / len(X)
    if not first:
        return np.zeros(X.shape[1])
    penalties = np.geomspace(first, LAST * first, N_PENALTIES)

    def path(rows: np.ndarray | slice, strengths: np.ndarray) -> np.ndarray:
        problem.check_time()
        centre = X[rows].mean(axis=0)
        Z = np.asfortranarray(X[rows] - centre)
        return enet_path(Z, y[rows] - y[rows].mean(axis=0), l1_ratio=1.0, alphas=strengths, tol=1e-3)[1]

    def best_of(errors: np.ndarray) -> int:
        return int(np.argmin(np.round(errors / (Y**2).sum(), DECIMALS)))

    parts = problem.parts(target.numbers(), N_PARTS, "knockoffs")
    errors = np.zeros(N_PENALTIES)
    for part in range(parts.max() + 1):
        train, out = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
        coefficients = path(train, penalties).reshape(-1, X.shape[1], N_PENALTIES)
        for outcome, of_outcome in zip(Y.T, coefficients, strict=True):
            left = outcome[out] - outcome[train].mean()
            errors += ((left[:, np.newaxis] - (X[out] - X[train].mean(axis=0)) @ of_outcome) ** 2).sum(axis=0)
    best = best_of(errors)
    final = path(slice(None), penalties[: best + 1]).reshape(-1, X.shape[1], best + 1)[..., -1]
    return np.abs(final).sum(axis=0)


#: Number of penalties, and the last as a share of the first, at which no column enters.
N_PENALTIES, LAST = 30, 0.01
#: The path ends after so many penalties in a row with worse held-out predictions than the best.
WORSE = 2
#: Sums of squared errors are compared to this many decimals of the target's, so that float noise does not decide.
DECIMALS = 12
#: Relative ridge on the diagonal, so that copies have a Cholesky root.
ADDED = 1e-10


class Beside:
    """Two (n, m) matrices as 2 m columns of mean 0 and variance 1, in pairs; some pairs are swapped."""

    def __init__(self, first: np.ndarray, second: np.ndarray, is_swapped: np.ndarray) -> None:
        self.matrices, self.is_swapped = (first, second), is_swapped
        self.n, self.m = first.shape
        self.means = self._in_pairs(*(one.mean(axis=0) for one in self.matrices))
        squares = self._in_pairs(*(np.einsum("ij,ij->j", one, one) for one in self.matrices)) / self.n
        deviations = np.sqrt(np.maximum(squares - self.means**2, 0.0))
        self.scales = 1.0 / np.where(deviations > 0, deviations, np.inf)

    def products(self, rows: np.ndarray) -> np.ndarray:
        """Return the products of all columns with vectors, (n, k), as (2 m, k)."""
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
    """The columns that entered, and their products with each other, outcomes and ones, by part of the rows."""

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
        """Add columns."""
        self.at[positions] = len(self.products[0]) + np.arange(len(positions))
        self._add(self.beside.columns(positions)[self.order])

    def _add(self, block: np.ndarray) -> None:
        self.blocks.append(block)
        for part, rows in enumerate(self.rows_of):
            new = np.vstack([one[rows].T @ block[rows] for one in self.blocks])
            top = np.hstack([self.products[part], new[: -block.shape[1]]])
            self.products[part] = np.vstack([top, new.T])

    def times(self, coefficients: np.ndarray) -> np.ndarray:
        """Return the columns times coefficients, (columns, k), as (n, k), in the order of parts."""
        found, start = np.zeros((len(self.order), coefficients.shape[1])), 0
        for block in self.blocks:
            found += block @ coefficients[start : start + block.shape[1]]
            start += block.shape[1]
        return found

    def root_without(self, part: int | None, positions: np.ndarray) -> np.ndarray:
        """Return rows with the same products of some columns and centred outcomes as all rows without a part."""
        take = np.ix_(*(np.concatenate([self.at[positions], np.arange(self.c + 1)]),) * 2)
        products = np.sum([one[take] for at, one in enumerate(self.products) if at != part], axis=0)
        means = products[-1] / products[-1, -1]
        centred = (products / products[-1, -1] - np.outer(means, means))[:-1, :-1]
        own = np.diag_indices(len(centred))
        centred[own] = centred[own] * (1.0 + ADDED) + ADDED
        return np.linalg.cholesky(centred).T * np.sqrt(len(centred))


class Fit:
    """A lasso path without one part of the rows, or on all rows."""

    def __init__(self, inside: Inside, part: int | None) -> None:
        self.inside, self.part = inside, part
        self.positions, self.coefficients = np.empty(0, dtype=np.int64), np.zeros((inside.c, 0))
        self.root = inside.root_without(part, self.positions)
        self.out = slice(0, 0) if part is None else inside.rows_of[part]
        self.n = len(inside.order) - (self.out.stop - self.out.start)

    def let_in(self, positions: np.ndarray) -> None:
        """Add columns that are already in `inside`."""
        self.positions = np.append(self.positions, positions)
        self.coefficients = np.hstack([self.coefficients, np.zeros((self.inside.c, len(positions)))])
        self.root = self.inside.root_without(self.part, self.positions)

    def learn(self, strength: float) -> None:
        """Fit the coefficients from a warm start."""
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
    """Return the absolute coefficient of each column, (2 m,), at the penalty with the best held-out predictions.

    `outcomes`, (n, c), are centred and share a penalty; `parts` has the part of each row, from 0; `check_time` is
    called before each pass over the rows.
    """
    inside = Inside(beside, outcomes, parts)
    fits = [Fit(inside, part) for part in (*range(len(inside.rows_of)), None)]

    def read() -> tuple[np.ndarray, float]:
        """Return the gradient of each column, (2 m, fits), and the squared errors in held-out parts."""
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
    """Return which columns should enter a fit, shape (2 m, fits)."""
    enters = asked > strength
    for at, fit in enumerate(fits):
        enters[fit.positions, at] = False
    return enters
