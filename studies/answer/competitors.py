"""What people use to select features, each by its usual settings, as methods of the workflow.

`answer.yaml` names them as ``{method: "studies.answer.competitors:Competitor", how: boruta}``. Labels of more than two
levels are one-hot encoded, as a careful user would do; a feature is kept if one of its indicators is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from blanketflow.core.seeds import seed_32
from blanketflow.models.encode import design, moderate, moderated
from blanketflow.plugins import Card, Method, Problem, Step, choice

#: Features that methods keep that must be told a number.
K = 10
#: What a way returns: the importance of each column, and which it keeps; both of shape (m,).
Found = tuple[np.ndarray, np.ndarray]


def univariate(X: np.ndarray, y: np.ndarray, is_class: bool, share: float | None = None) -> Found:
    """F tests: the ten best columns, or a share of them."""
    from sklearn.feature_selection import SelectKBest, SelectPercentile, f_classif, f_regression

    score = f_classif if is_class else f_regression
    kept = SelectPercentile(score, percentile=100 * share) if share else SelectKBest(score, k=min(K, X.shape[1]))
    return kept.fit(X, y).scores_, kept.get_support()


def mutual_information(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """The ten columns with the most mutual information, by nearest neighbours."""
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

    weights = (mutual_info_classif if is_class else mutual_info_regression)(X, y, random_state=seed)
    return weights, _best(weights, K)


def lasso(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """Columns with a coefficient in an L1 model whose penalty cross-validation chooses."""
    from sklearn.linear_model import LassoCV, LogisticRegressionCV

    X = _standardised(X)
    if is_class:
        solver = "liblinear" if len(np.unique(y)) == 2 else "saga"
        options = {"Cs": 10, "cv": _parts(is_class, seed), "solver": solver, "max_iter": 500, "scoring": "neg_log_loss"}
        options["random_state"] = seed
        model = LogisticRegressionCV(l1_ratios=(1.0,), use_legacy_attributes=False, **options).fit(X, y)
    else:
        model = LassoCV(cv=_parts(is_class, seed), random_state=seed).fit(X, y)
    weights = np.abs(np.atleast_2d(model.coef_)).max(axis=0)
    return weights, weights > 1e-6


def elimination(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """RFECV: recursive elimination by a linear model, to the number of columns that cross-validation scores best."""
    from sklearn.feature_selection import RFECV

    step = 1 if X.shape[1] <= 100 else 0.1
    found = RFECV(_linear(is_class), step=step, cv=_parts(is_class, seed)).fit(_standardised(X), y)
    return -found.ranking_.astype(float), found.support_


def forest(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """Columns of at least the mean importance in a random forest."""
    weights = _forest(is_class, seed).fit(X, y).feature_importances_
    return weights, weights >= weights.mean()


def permutation(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """Columns whose permutation costs a forest more than two standard deviations on a quarter of the rows."""
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    taught, asked, y_taught, y_asked = train_test_split(X, y, test_size=0.25, random_state=seed)
    model = _forest(is_class, seed).fit(taught, y_taught)
    lost = permutation_importance(model, asked, y_asked, n_repeats=10, random_state=seed)
    return lost.importances_mean, lost.importances_mean - 2 * lost.importances_std > 0


def shapley(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """Columns of at least the mean absolute SHAP value in boosted trees, by LightGBM's own exact values."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    model = (LGBMClassifier if is_class else LGBMRegressor)(n_jobs=1, verbose=-1, random_state=seed).fit(X, y)
    values = np.abs(model.predict(X, pred_contrib=True)).mean(axis=0)
    weights = values.reshape(-1, X.shape[1] + 1)[:, :-1].sum(axis=0)  # classes side by side, each with its bias last
    return weights, weights >= weights.mean()


def boruta(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """Boruta: columns that a forest uses more than permuted copies."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    family = RandomForestClassifier if is_class else RandomForestRegressor
    found = BorutaPy(family(max_depth=5, n_jobs=1), n_estimators="auto", random_state=seed).fit(X, y)
    return -found.ranking_.astype(float), found.support_


def mrmr(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """The ten first columns of the package mrmr-selection."""
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    frame = pd.DataFrame(X, columns=np.arange(X.shape[1]).astype(str))
    ranked = (mrmr_classif if is_class else mrmr_regression)(
        frame, pd.Series(y), K=min(K, X.shape[1]), n_jobs=1, show_progress=False
    )
    weights = np.zeros(X.shape[1])
    weights[np.array(ranked, dtype=int)] = np.arange(len(ranked), 0, -1)
    return weights, weights > 0


def sequential(X: np.ndarray, y: np.ndarray, is_class: bool, seed: int) -> Found:
    """Sequential forward selection by a linear model, until the cross-validated score gains less than 0.001."""
    from sklearn.feature_selection import SequentialFeatureSelector

    found = SequentialFeatureSelector(
        _linear(is_class), n_features_to_select="auto", tol=1e-3, cv=_parts(is_class, seed)
    )
    kept = found.fit(_standardised(X), y).get_support()
    return kept.astype(float), kept


WAYS: dict[str, Callable[..., Found]] = {
    "f-10": lambda X, y, is_class, seed: univariate(X, y, is_class),
    "f-10-percent": lambda X, y, is_class, seed: univariate(X, y, is_class, share=0.1),
    "mutual-information": mutual_information,
    "lasso": lasso,
    "rfecv": elimination,
    "forest": forest,
    "permutation": permutation,
    "shap": shapley,
    "boruta": boruta,
    "mrmr-selection": mrmr,
    "sequential": sequential,
}


@dataclass
class Competitor(Method):
    """A selector that people use, by its usual settings."""

    card: ClassVar[Card] = Card(
        id="competitor",
        name="a selector of another package",
        family="wrapper",
        summary="Selects features in one of the ways that people use.",
        reference="the package's own",
    )
    default_test: ClassVar[str | None] = None

    how: str = choice("f-10", "The way.", tuple(WAYS))

    def grow(self, problem: Problem) -> list[Step]:
        """Select features; the most important come first."""
        encoded = design(moderate(problem.table.select(list(problem.features))))
        target = problem.table[problem.target]
        is_class = bool(target.levels)
        seed = seed_32(problem.seed, self.how)
        weights, kept = WAYS[self.how](encoded.matrix, moderated(target), is_class, seed)
        starts = [block.start for block in encoded.blocks]
        weights = np.maximum.reduceat(np.nan_to_num(weights, nan=-1e300, posinf=1e300), starts)
        chosen = np.flatnonzero(np.logical_or.reduceat(kept, starts))
        ordered = chosen[np.argsort(-weights[chosen], kind="stable")]
        return [Step(problem.features[at], importance=float(weights[at])) for at in ordered]

    def shrink(self, problem: Problem, candidates: list[Step]) -> list[Step]:
        """Keep them all."""
        return candidates


def _best(weights: np.ndarray, k: int) -> np.ndarray:
    return np.argsort(np.argsort(-weights, kind="stable"), kind="stable") < k


def _parts(is_class: bool, seed: int) -> Any:
    """Return five parts of shuffled rows: the rows of some tables are sorted, which the default would keep."""
    from sklearn.model_selection import KFold, StratifiedKFold

    return (StratifiedKFold if is_class else KFold)(5, shuffle=True, random_state=seed)


def _standardised(X: np.ndarray) -> np.ndarray:
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(X)


def _linear(is_class: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    return LogisticRegression(max_iter=1000) if is_class else Ridge()


def _forest(is_class: bool, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return (RandomForestClassifier if is_class else RandomForestRegressor)(100, random_state=seed, n_jobs=1)
