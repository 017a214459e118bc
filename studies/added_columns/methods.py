"""What chooses columns: searches and rankings of ours, and what people use."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import blanketflow as bf
from blanketflow.core.seeds import seed_32
from studies.added_columns.first_layer import group_lasso
from studies.added_columns.tables import Made
from studies.answer.competitors import forest, univariate

#: CPU seconds that a method of ours has for a table; a method that does not stop by itself is ended half as late again.
MOST_SECONDS = 60.0
ALL, ORIGINAL = "all columns", "original columns"
#: Methods of ours that choose the number themselves, and rankings, which are asked for a number.
SEARCHES = ("auto", "hiton-mb", "iamb", "knockoffs", "stability-selection", "permutation-importance")
RANKINGS = ("mrmr", "jmi", "cmim")


class Chosen(NamedTuple):
    """Columns kept at the original number, and those that a method keeps by itself, None for a ranking."""

    at_number: list[str]
    own: list[str] | None
    status: str = "ok"


def lasso(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> np.ndarray:
    """Return the largest coefficient of each column in a lasso of the target or of the indicators of classes."""
    from sklearn.linear_model import LassoCV, MultiTaskLassoCV

    parts = _parts(y, is_class, seed)
    outcomes = (y[:, np.newaxis] == np.unique(y)).astype(float) if is_class else y[:, np.newaxis]
    if is_class and outcomes.shape[1] > 2:
        return np.abs(
            MultiTaskLassoCV(cv=parts, alphas=30, random_state=seed).fit(_standardised(X), outcomes).coef_
        ).max(axis=0)
    return np.abs(LassoCV(cv=parts, random_state=seed).fit(_standardised(X), outcomes[:, 0]).coef_)


def gain(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> np.ndarray:
    """Return the gain of each column in boosted trees."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = (LGBMClassifier if is_class else LGBMRegressor)(
        importance_type="gain", n_jobs=1, verbose=-1, random_state=seed
    )
    return model.fit(X, y).feature_importances_


#: What people use: importances of columns, and from which on a column is kept, None for a ranking.
OTHERS: dict[str, tuple[Callable[..., np.ndarray], Callable[[np.ndarray], float] | None]] = {
    "lasso": (lasso, lambda weights: 1e-6),
    "first-layer group lasso": (group_lasso, None),
    "boosted trees, gain": (gain, None),
    "forest": (lambda *asked: forest(*asked)[0], np.mean),
    "F test": (lambda X, y, is_class, seed: np.nan_to_num(univariate(X, y, is_class)[0]), None),
}
METHODS = (ALL, ORIGINAL, *SEARCHES, *RANKINGS, *OTHERS)


def chosen(method: str, made: Made, seed: int) -> Chosen:
    """Return what a method keeps of the rows to choose by."""
    X, y, n = made.X, made.y, len(made.original)
    if method in (ALL, ORIGINAL):
        return Chosen(list(X) if method == ALL else list(made.original), None)
    if method in RANKINGS:
        return Chosen(_kept(bf.get_selector(method, n_features=n, **_ours(seed)).fit(X, y)), None)
    if method in SEARCHES:
        found = bf.get_selector(method, **_ours(seed)).fit(X, y)
        own, status = _kept(found), found.status_
        if method == "auto" and len(own) > n:
            return Chosen(_kept(bf.Auto(max_features=n, **_ours(seed)).fit(X, y)), own, status)
        return Chosen(own[:n], own, status)
    weigh, least = OTHERS[method]
    weights = weigh(X.to_numpy(), y, made.is_class, seed)
    order = np.argsort(-np.round(weights, 12), kind="stable")
    first = list(X.columns[[at for at in order[:n] if weights[at] > 0]])
    return Chosen(first, None if least is None else list(X.columns[weights >= least(weights)]))


def seed_of(task: str, method: str) -> int:
    """Return the seed of a method on a task."""
    return seed_32("added columns", task, method)


def _ours(seed: int) -> dict[str, float]:
    return {"random_state": seed, "time_limit": MOST_SECONDS}


def _kept(found: bf.PPFS) -> list[str]:
    """Return what is kept, the most important first."""
    return sorted(found.selected_features_, key=lambda name: -np.nan_to_num(found.importances_[name]))


def _parts(y: np.ndarray, is_class: bool, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    drawn = (StratifiedKFold if is_class else KFold)(5, shuffle=True, random_state=seed)
    return list(drawn.split(np.zeros(len(y)), y))


def _standardised(X: np.ndarray) -> np.ndarray:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(X)
