"""An estimator that is built when its training rows are known, such as k neighbours with fewer than k rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.cards import CLASSIFICATION


class LazyEstimator:
    """A scikit-learn estimator that is built by ``make(X, y)`` at `fit`.

    It does not derive from scikit-learn's classes, because reading a model's card must not import scikit-learn.

    `estimator_` is the fitted estimator; `classes_` are the class labels, ascending, for classification only.
    """

    def __init__(self, make: Callable[[np.ndarray, np.ndarray], Any], task: str) -> None:
        self.make = make
        self.task = task

    def fit(self, X: np.ndarray, y: np.ndarray) -> LazyEstimator:
        """Build the estimator for these rows and fit it."""
        X, y = np.asarray(X), np.asarray(y)
        self.estimator_ = self.make(X, y).fit(X, y)
        if self.task == CLASSIFICATION:
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predicted class or number of each row."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return class probabilities, with columns in the order of `classes_`."""
        return self.estimator_.predict_proba(X)

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the accuracy or R2 of the predictions, like scikit-learn's estimators."""
        from sklearn.metrics import accuracy_score, r2_score

        return float((accuracy_score if self.task == CLASSIFICATION else r2_score)(y, self.predict(X)))

    # The rest is what scikit-learn's clone, scorers and cross-validation need.
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's parameters."""
        return {"make": self.make, "task": self.task}

    def set_params(self, **params: Any) -> LazyEstimator:
        """Set the constructor's parameters."""
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags

        is_classifier = self.task == CLASSIFICATION
        return Tags(
            estimator_type="classifier" if is_classifier else "regressor",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags() if is_classifier else None,
            regressor_tags=None if is_classifier else RegressorTags(),
        )
