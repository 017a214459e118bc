"""How much each feature and its knockoff matter: by a lasso, by correlation, by a model of the target, or by a CI test.

Any way is allowed that does not know which of the two is the knockoff. So the two stand in random order: what breaks
ties by the order of columns is then right as well.
"""

from __future__ import annotations

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
from ..importances import own_weights
from ..learning import estimator_for
from .knockoff_pairs import Pair
from .lasso_of_products import DECIMALS, LAST, N_PENALTIES, Beside, weights_by_products

#: The ways, in the words of the parameter.
LASSO, CORRELATION, MODEL, TEST = "lasso", "correlation", "model", "test"
#: Parts held out, one after the other.
N_PARTS = 5


def excess(
    problem: Problem, how: str, model: object, test: CITest | str, pair: Pair, rng: np.random.Generator
) -> np.ndarray:
    """Return how much more each feature matters than its knockoff, shape (d,), 0 for a feature without columns.

    `model` and `test` are those for the ways that need one. The sign of a feature that says nothing about the target
    given all others is a fair coin.
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
    """Return minus log p of each column's test against the target given nothing, (2 m,), and the m owners of pairs.

    The columns stand in pairs, of which those of features that are swapped begin with the knockoff.
    """
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
    """Return the absolute correlation of each column with the target, with all its classes if these are several."""
    products = target_columns(target).T @ standardised(columns.T).T
    return np.sqrt((products**2).sum(axis=0))


def by_model(columns: np.ndarray, target: Column, model: object, seed: int) -> np.ndarray:
    """Return what a model that learnt the target from all columns says of each.

    Raises `ParameterError` if it has neither ``feature_importances_`` nor ``coef_`` for them.
    """
    fitted = estimator_for(model, target, seed_32(seed, "knockoffs", "model"), columns, np.arange(len(columns)))
    weights = own_weights(fitted.fit(columns, moderated(target)))
    if weights is None or len(weights) != columns.shape[1]:
        raise ParameterError(
            f"knockoffs: model {model!r} has neither feature_importances_ nor coef_ for its columns. Choose another "
            "model, or importance: lasso."
        )
    return weights


def outcomes_of(target: Column) -> np.ndarray:
    """Return what a lasso learns of the target, (n, c): one column, or an indicator for each of several classes."""
    found = target_columns(target) * np.sqrt(len(target.cells()))
    return found[:, :1] if target.is_discrete and len(target.levels) == 2 else found


def by_lasso(columns: np.ndarray, target: Column, problem: Problem) -> np.ndarray:
    """Return the absolute coefficient of each column, under the penalty that predicts held-out rows best.

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
