"""Tests the features that a search selected on rows that it never saw: each given all the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...ci.predictive.model_losses import cross_fitted
from ...ci.splines.generalised_covariance import GeneralisedCovariance, generalised_covariance
from ...core.cards import CATEGORICAL
from ...core.errors import DataError
from ...core.holm import holm
from ...core.parts import balanced_parts
from ...core.prior import NO_GROUPS, group_of
from ...core.seeds import derive_rng, derive_seed
from ...core.table import Column, Table
from ...models.encode import moderated
from ...models.predictions import class_probabilities
from ..judged.model_rankings import linear_model
from ..learning import estimator_for, matrix_of

#: The chance that any feature that says nothing given the others is called confirmed.
LEVEL = 0.05


@dataclass(frozen=True)
class Confirmation:
    """What the rows that the search never saw say of one selected feature.

    Attributes
    ----------
    feature : str
    statistic : float
        Of the generalised covariance measure.
    p_value : float
        Of independence from the target given the other selected features; not corrected for several features.
    effect, low, high : float
        Correlation of what the others leave of the feature and of the target, -1 to 1, with its 95 % interval. Where
        one of them has more than two levels, Cramér's V of what is left, 0 to 1.
    confirmed : bool
        Whether p is at most 0.05 after Holm's correction for all selected features.
    """

    feature: str
    statistic: float
    p_value: float
    effect: float
    low: float
    high: float
    confirmed: bool


def confirm_members(
    features: Table,
    target: Column,
    members: Sequence[str],
    seed: int,
    groups: np.ndarray | None = None,
    where: str = "data",
    feature_groups: Mapping[str, Sequence[str]] = NO_GROUPS,
) -> list[Confirmation]:
    """Test each selected feature on held-out rows given the other selected ones.

    Parameters
    ----------
    features : Table
        The rows that the search never saw, with no missing cells.
    target : Column
        Their target: numeric, or categorical for classification.
    members : sequence of str
        The features that the search selected.
    seed : int
        Decides the parts in which regressions are cross-fitted.
    groups : ndarray of shape (n,), optional
        Numbers of rows that belong together; then groups are taken as independent, not rows.
    where : str
        What the message of an error begins with.
    feature_groups : mapping of str to sequence of str
        Features that stay together: they are tested together, given those outside, and have the same result.

    Returns
    -------
    list of Confirmation
        One for each member, in their order.

    Raises
    ------
    DataError
        If the target has one value only, or there are no more rows than members.
    """
    if target.is_constant():
        raise DataError(f"{where}: {target.name!r} has one value in the rows to confirm on. Remove confirm.")
    if len(members) >= target.n_rows:
        raise DataError(
            f"{where}: {len(members)} features cannot be confirmed on {target.n_rows} rows, which must be more. Select "
            "fewer, give more rows, or remove confirm."
        )
    variables: dict[str, list[str]] = {}
    for member in members:
        variables.setdefault(group_of(member, feature_groups) or member, []).append(member)
    found = [given_the_others(features, target, columns, members, seed, groups) for columns in variables.values()]
    is_confirmed = np.array(holm([one.p_value for one in found])) <= LEVEL
    confirmations = {
        member: Confirmation(member, one.statistic, one.p_value, one.effect, one.low, one.high, bool(confirmed))
        for columns, one, confirmed in zip(variables.values(), found, is_confirmed, strict=True)
        for member in columns
    }
    return [confirmations[member] for member in members]


def given_the_others(
    features: Table,
    target: Column,
    columns: Sequence[str],
    members: Sequence[str],
    seed: int,
    groups: np.ndarray | None = None,
) -> GeneralisedCovariance:
    """Test some members together given the others; the rest is as for `confirm_members`."""
    others, own = matrix_of(features, [name for name in members if name not in columns]), derive_seed(seed, *columns)
    of_columns = [cross_fitted_residuals(features[name], others, own, groups) for name in columns]
    return generalised_covariance(np.hstack(of_columns), cross_fitted_residuals(target, others, own, groups), groups)


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
