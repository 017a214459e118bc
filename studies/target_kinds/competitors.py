"""What people use to select features for such targets, each by its usual settings.

Each way gets a design matrix, (n, m), with an indicator for each level of labels of three levels and more, and returns
which of its columns it keeps, (m,).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from blanketflow.core.column import TargetColumn
from blanketflow.core.table import Table
from blanketflow.models import get_model
from blanketflow.models.encode import design
from blanketflow.models.responses import response
from blanketflow.models.survival_scores import concordance
from blanketflow.targets import get_target_kind

N_FOLDS = 5
#: Shares of columns that the variance filter chooses among.
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


def residuals(target: TargetColumn) -> np.ndarray:
    """Return the residuals of the kind's regression without features: martingale residuals of times, (n,)."""
    return get_target_kind(target.target_kind).null_model(target, np.empty((0, target.n_rows))).residuals()


def as_number(target: TargetColumn) -> np.ndarray:
    """Return what a linear model of a number is told of a target without times, (n,)."""
    values = target.numbers().astype(float)
    inside = np.clip(values, 0.5 / len(values), 1 - 0.5 / len(values))
    made = {
        "count": lambda: np.log(values + 0.5),
        "ordered": lambda: values,
        "share": lambda: np.log(inside / (1 - inside)),
        "positive": lambda: np.log(values),
    }
    return made[target.target_kind]()


def _folds(target: TargetColumn, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return pairs of rows to learn from and to ask, stratified by event or class."""
    from sklearn.model_selection import KFold, StratifiedKFold

    rows = np.arange(target.n_rows)
    if target.target_kind not in ("survival", "ordered"):
        return list(KFold(N_FOLDS, shuffle=True, random_state=seed).split(rows))
    strata = target.parts["event"] if target.target_kind == "survival" else target.numbers()
    return list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(rows, strata))


def lasso(X: np.ndarray, target: TargetColumn, seed: int) -> np.ndarray:
    """An L1 model whose penalty is chosen by five folds: Cox by concordance, else a linear model of a number."""
    if target.target_kind != "survival":
        from sklearn.linear_model import LassoCV

        model = LassoCV(cv=_folds(target, seed), random_state=seed).fit(X, as_number(target))
        return np.abs(model.coef_) > 1e-9
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    y = response(target, "survival")
    whole = CoxnetSurvivalAnalysis(l1_ratio=1.0, n_alphas=50, alpha_min_ratio=0.02).fit(X, y)
    scores = np.zeros(len(whole.alphas_))
    for taught, asked in _folds(target, seed):
        model = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=whole.alphas_).fit(X[taught], y[taught])
        for at, alpha in enumerate(whole.alphas_):
            scores[at] += concordance(y[asked], model.predict(X[asked], alpha=alpha))
    return np.abs(whole.coef_[:, int(np.argmax(scores))]) > 1e-9


def abess(X: np.ndarray, target: TargetColumn, seed: int) -> np.ndarray:
    """The package abess: best subset selection, its size chosen by an information criterion."""
    from abess import linear

    kind, values = target.target_kind, target.numbers().astype(float)
    if kind == "survival":
        model, y = linear.CoxPHSurvivalAnalysis(), np.column_stack([values, target.parts["event"].astype(float)])
    elif kind == "count":
        model, y = linear.PoissonRegression(), values
    elif kind == "ordered":
        model, y = linear.OrdinalRegression(), np.unique(values, return_inverse=True)[1]
    elif kind == "positive":
        model, y = linear.GammaRegression(), values
    else:
        model, y = linear.LinearRegression(), as_number(target)
    coefficients = np.asarray(model.fit(X, y).coef_)
    return np.abs(coefficients.reshape(X.shape[1], -1)).max(axis=1) > 1e-12


def forest(X: np.ndarray, target: TargetColumn, seed: int) -> np.ndarray:
    """Columns of at least the mean importance in a random forest of the residuals."""
    from sklearn.ensemble import RandomForestRegressor

    weights = RandomForestRegressor(100, random_state=seed, min_samples_leaf=5, max_features=1 / 3)
    weights = weights.fit(X, residuals(target)).feature_importances_
    return weights >= weights.mean()


def boruta(X: np.ndarray, target: TargetColumn, seed: int) -> np.ndarray:
    """Boruta on the residuals: columns that a forest uses more than permuted copies."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestRegressor

    trees = RandomForestRegressor(max_depth=5, max_features=1 / 3, n_jobs=1, random_state=seed)
    return BorutaPy(trees, n_estimators=50, max_iter=30, random_state=seed).fit(X, residuals(target)).support_


def variance(X: np.ndarray, target: TargetColumn, seed: int, raw: np.ndarray) -> np.ndarray:
    """The columns of largest variance; a linear model of the kind chooses their share by five folds."""
    ranked, kind = np.argsort(-raw.var(axis=0), kind="stable"), target.target_kind
    model, y = get_model(get_target_kind(kind).models[0]), response(target, kind)
    sizes = sorted({max(1, round(share * X.shape[1])) for share in SHARES})
    scores = np.zeros(len(sizes))
    for taught, asked in _folds(target, seed):
        for at, size in enumerate(sizes):
            own = np.sort(ranked[:size])
            fitted = model.build(kind, seed).fit(X[np.ix_(taught, own)], y[taught])
            predicted = fitted.predict(X[np.ix_(asked, own)])
            if kind == "survival":
                scores[at] += concordance(y[asked], predicted)
            else:
                scores[at] -= float(np.mean(np.abs(target.numbers()[asked] - predicted)))
    kept = np.zeros(X.shape[1], dtype=bool)
    kept[ranked[: sizes[int(np.argmax(scores))]]] = True
    return kept


WAYS: dict[str, Callable[..., np.ndarray]] = {"lasso": lasso, "abess": abess, "forest": forest, "boruta": boruta}
VARIANCE = "variance"


def chosen_by(how: str, table: Table, target: Any, seed: int) -> list[str]:
    """Return the features that a way keeps; a feature of several indicators is kept if one of them is."""
    encoded = design(table)
    raw, varies = encoded.matrix, encoded.matrix.std(axis=0) > 0
    X = (raw[:, varies] - raw[:, varies].mean(axis=0)) / raw[:, varies].std(axis=0)
    kept = np.zeros(raw.shape[1], dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, and of packages about their own code
        kept[varies] = variance(X, target, seed, raw[:, varies]) if how == VARIANCE else WAYS[how](X, target, seed)
    return [name for name, block in zip(table.names, encoded.blocks, strict=True) if kept[block].any()]
