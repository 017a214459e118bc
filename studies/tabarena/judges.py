"""What judges a set of features on unseen rows: a linear model, a random forest and LightGBM, by their defaults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

JUDGES = ("linear", "forest", "boosted")


def scores(X: pd.DataFrame, y: pd.Series, is_class: bool, learn: np.ndarray, ask: np.ndarray) -> list[float]:
    """Return the ROC AUC, of one class against the others and then averaged, or the R2, at least -1, of each judge."""
    from sklearn.metrics import r2_score, roc_auc_score

    known, asked = y.iloc[learn], y.iloc[ask]
    if X.shape[1] == 0:
        return [0.5 if is_class else 0.0] * len(JUDGES)
    found = []
    for matrix, model in ((one_hot(X, learn), _linear(is_class)), *((coded(X, learn), m) for m in _trees(is_class))):
        model.fit(matrix[learn], known)
        if is_class:
            chances = model.predict_proba(matrix[ask])
            said = chances[:, 1] if chances.shape[1] == 2 else chances
            found.append(float(roc_auc_score(asked, said, multi_class="ovr")))
        else:
            found.append(max(-1.0, float(r2_score(asked, model.predict(matrix[ask])))))
    return found


def one_hot(X: pd.DataFrame, learn: np.ndarray) -> np.ndarray:
    """Return numbers, with the median for missing ones, and an indicator of each label."""
    made = []
    for name in X:
        if X[name].dtype.kind == "f":
            made.append(X[name].fillna(X[name].iloc[learn].median()).to_numpy()[:, None])
        else:
            made.append(pd.get_dummies(X[name], dtype=float).to_numpy())
    return np.hstack(made)


def coded(X: pd.DataFrame, learn: np.ndarray) -> np.ndarray:
    """Return numbers, with the median for missing ones, and labels by their order."""
    kinds = {name: X[name].dtype.kind == "f" for name in X}
    filled = [X[n].fillna(X[n].iloc[learn].median()) if kinds[n] else X[n].cat.codes.astype(float) for n in X]
    return np.column_stack(filled)


def _linear(is_class: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500) if is_class else Ridge())


def _trees(is_class: bool) -> list[Any]:
    from lightgbm import LGBMClassifier, LGBMRegressor
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if is_class else RandomForestRegressor
    return [forest(100, random_state=0), (LGBMClassifier if is_class else LGBMRegressor)(n_jobs=1, verbose=-1)]
