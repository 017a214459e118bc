"""A model of one target column: fitted on some rows, it gives the loss of each of some others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.cards import CLASSIFICATION, REGRESSION
from ..core.table import Column
from ..models import build_estimator

SMALLEST_PROBABILITY = 1e-15
#: Folds that the probabilities of a model without its own are calibrated in.
CALIBRATION_FOLDS = 5


class Learner:
    """Fits a model of a target. Losses are log-loss for classes, squared error for numbers.

    Parameters
    ----------
    column : Column
        The target, without missing cells.
    model : str, mapping, Model or scikit-learn estimator
        As `models.get_model` takes it.
    """

    def __init__(self, column: Column, model: Any) -> None:
        self.model = model
        self.task = CLASSIFICATION if column.is_discrete else REGRESSION
        self.target = column.numbers().astype(np.int64) if column.is_discrete else column.numbers()

    def fit(self, X: np.ndarray, rows: np.ndarray, seed: int) -> Any:
        """Return the estimator fitted on some rows (positions or mask) of X; it has probabilities of classes."""
        y = self.target[rows]
        if self.task == REGRESSION:
            return build_estimator(self.model, self.task, seed).fit(X[rows], y)
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest == len(y):
            return OnlyClass(y[0])
        estimator = build_estimator(self.model, self.task, seed)
        if not hasattr(estimator, "predict_proba"):
            from sklearn.calibration import CalibratedClassifierCV

            every = np.arange(len(y))
            # A class of a single row cannot be held out.
            folds = min(CALIBRATION_FOLDS, smallest) if smallest > 1 else [(every, every)]
            estimator = CalibratedClassifierCV(estimator, cv=folds, ensemble=False)
        return estimator.fit(X[rows], y)

    def losses(self, fitted: Any, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the loss of each of some rows, shape (len(rows),), when they have the features X, same length."""
        y = self.target[rows]
        if self.task == REGRESSION:
            return (np.asarray(fitted.predict(X)) - y) ** 2
        probability = np.zeros(len(y))  # a class that the training rows lack has probability 0
        predicted = fitted.predict_proba(X)
        for k, label in enumerate(fitted.classes_):
            probability[y == label] = predicted[y == label, k]
        return -np.log(np.clip(probability, SMALLEST_PROBABILITY, 1.0))


class OnlyClass:
    """What training rows of one class teach: that class, always."""

    def __init__(self, label: int) -> None:
        self.classes_ = np.array([label])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return probability 1 of the only class, shape (n, 1)."""
        return np.ones((len(X), 1))
