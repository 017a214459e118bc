"""What regressions on other features leave of a column, on rows that they were not fitted on."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...ci.learner import cross_fitted
from ...core.cards import CATEGORICAL
from ...core.parts import balanced_parts
from ...core.seeds import derive_rng
from ...core.table import Column
from ...models.encode import moderated
from ...models.predictions import class_probabilities
from ..judged.model_rankings import linear_model
from ..learning import estimator_for

#: Parts of the rows, each predicted by what was fitted on the others; at most, if a class has so many rows.
N_PARTS = 5
#: A column of at least so many values may bend at these quantiles.
FEWEST_VALUES, QUANTILES = 8, np.linspace(0.1, 0.9, 9)
#: Up to so many columns they are bent, and up to so many their products are regressors too.
MOST_BENT, MOST_WITH_PRODUCTS = 30, 10
#: Strengths of the penalty, among which leave-one-out errors choose.
PENALTIES = np.geomspace(0.1, 1e4, 16)


def cross_fitted_residuals(column: Column, X: np.ndarray, seed: int, groups: np.ndarray | None = None) -> np.ndarray:
    """Return what is left of a column once columns X are known.

    Two regressions compete: our linear (or logistic) one, and, up to 30 columns, a ridge regression on bent columns and
    products of columns, which finds curves and pairs. The one whose predictions of held-out rows are better is used.
    Trees were tried too: they leave more of a smooth relation, and thereby find dependence where there is none.

    Parameters
    ----------
    column : Column
        A number, or a label.
    X : ndarray of shape (n, m)
        What it is regressed on; m may be 0.
    seed : int
        Decides the parts.
    groups : ndarray of shape (n,), optional
        Numbers of rows that are held out together.

    Returns
    -------
    ndarray of shape (n, k)
        One column for a number, or for the second of two levels; of more levels one for each.
    """
    y = moderated(column)
    levels = np.unique(y) if column.kind == CATEGORICAL else None
    outcomes = y[:, np.newaxis] if levels is None else (y[:, np.newaxis] == levels).astype(np.float64)
    parts = balanced_parts(y, N_PARTS, derive_rng(seed, "confirm", column.name), groups)
    candidates = [_by_linear_model(column, y, levels), _by_bent_columns(outcomes)]
    found = []
    for fitted in candidates if 0 < X.shape[1] <= MOST_BENT else candidates[:1]:
        found.append(cross_fitted(outcomes, parts, partial(fitted, X)))
    best = min(found, key=lambda left: float((left**2).sum()))
    return best[:, 1:] if best.shape[1] == 2 else best


def _by_linear_model(column: Column, y: np.ndarray, levels: np.ndarray | None) -> Any:
    def predict(X: np.ndarray, train: np.ndarray, out: np.ndarray, part: int) -> np.ndarray:
        fitted = estimator_for(linear_model(column), column, 0, X, train).fit(X[train], y[train])
        if levels is None:
            return fitted.predict(X[out])[:, np.newaxis]
        return class_probabilities(fitted, X[out], levels)

    return predict


def _by_bent_columns(outcomes: np.ndarray) -> Any:
    from sklearn.linear_model import RidgeCV

    def predict(X: np.ndarray, train: np.ndarray, out: np.ndarray, part: int) -> np.ndarray:
        regressors = bent_columns(X, train)
        fitted = RidgeCV(PENALTIES).fit(regressors[train], outcomes[train])
        return fitted.predict(regressors[out]).reshape(len(out), -1)

    return predict


def bent_columns(X: np.ndarray, train: np.ndarray) -> np.ndarray:
    """Return columns, the excess of each over its quantiles, and the products of two, standardised on training rows.

    >>> bent_columns(np.array([[0.0, 1], [1, 0], [2, 1], [3, 0]]), np.arange(4)).shape
    (4, 3)
    """
    Z = _standardised(X, train)
    found = [Z]
    for z in Z.T:
        if len(np.unique(z[train])) >= FEWEST_VALUES:
            found.append(np.maximum(z[:, np.newaxis] - np.unique(np.quantile(z[train], QUANTILES)), 0.0))
    if 1 < Z.shape[1] <= MOST_WITH_PRODUCTS:
        one, other = np.triu_indices(Z.shape[1], 1)
        found.append(Z[:, one] * Z[:, other])
    return _standardised(np.concatenate(found, axis=1), train)


def _standardised(columns: np.ndarray, train: np.ndarray) -> np.ndarray:
    deviations = columns[train].std(axis=0)
    centred = columns - columns[train].mean(axis=0)
    return np.divide(centred, deviations, out=np.zeros_like(centred), where=deviations > 1e-12)
