"""A model of one target column: fitted on some rows, it gives the loss of each of some others."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..core.cards import CLASSIFICATION, REGRESSION
from ..core.table import Column
from ..models import Model, get_model
from ..models.magnitudes import moderated
from ..models.predictions import predicted, probabilities
from .target_arrays import unit_of_errors

SMALLEST_PROBABILITY = 1e-15
#: Folds that the probabilities of a model without its own are calibrated in.
CALIBRATION_FOLDS = 5


class Learner:
    """Fits a model of a target. Losses are log-loss for classes, for numbers squared error over the target's variance.

    Parameters
    ----------
    column : Column
        The target, without missing cells.
    model : str, mapping, Model or scikit-learn estimator
        As `models.get_model` takes it.
    certified : bool, default=False
        Whether estimators shall tell which columns they depend on where the model has such a setting: `used_columns`.
    """

    def __init__(self, column: Column, model: Any, certified: bool = False) -> None:
        self.model, self.certified = model, certified
        self.task = CLASSIFICATION if column.is_discrete else REGRESSION
        self.target = column.numbers().astype(np.int64) if column.is_discrete else moderated(column)
        self._unit = 1.0 if column.is_discrete else unit_of_errors(self.target)

    @cached_property
    def classes(self) -> np.ndarray:
        """Every class of the target."""
        return np.unique(self.target)

    def fit(self, X: np.ndarray, rows: np.ndarray, seed: int) -> Any:
        """Return the estimator fitted on some rows (positions or mask) of X; it has probabilities of classes."""
        y = self.target[rows]
        if self.task == REGRESSION:
            return self._estimator(seed).fit(X[rows], y)
        smallest = int(np.unique(y, return_counts=True)[1].min())
        if smallest == len(y):
            return OnlyClass(y[0])
        estimator = self._estimator(seed)
        if not hasattr(estimator, "predict_proba"):
            from sklearn.calibration import CalibratedClassifierCV

            every = np.arange(len(y))
            # A class of a single row cannot be held out.
            folds = min(CALIBRATION_FOLDS, smallest) if smallest > 1 else [(every, every)]
            estimator = CalibratedClassifierCV(estimator, cv=folds, ensemble=False)
        return estimator.fit(X[rows], y)

    @cached_property
    def _model(self) -> Model:
        return get_model(self.model)

    def _estimator(self, seed: int) -> Any:
        estimator = self._model.build(self.task, seed)
        return self._model.certify(estimator) if self.certified else estimator

    def used_columns(self, fitted: Any) -> np.ndarray | None:
        """Return the columns that a fitted estimator depends on, ascending; None where that may be any.

        Fitted again without some of the others, on the same rows with the same seed, it would be the same.
        """
        if isinstance(fitted, OnlyClass):
            return np.zeros(0, dtype=np.int64)
        return self._model.used_columns(fitted)

    def losses(self, fitted: Any, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the loss of each of some rows, shape (len(rows),), when they have the features X, same length."""
        y = self.target[rows]
        if self.task == REGRESSION:
            return (predicted(fitted, X) - y) ** 2 / self._unit
        probability = np.zeros(len(y))  # a class that the training rows lack has probability 0
        found, classes = probabilities(fitted, X, self.classes)
        for k, label in enumerate(classes):
            probability[y == label] = found[y == label, k]
        return -np.log(np.clip(probability, SMALLEST_PROBABILITY, 1.0))


class OnlyClass:
    """What training rows of one class teach: that class, always."""

    def __init__(self, label: int) -> None:
        self.classes_ = np.array([label])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return probability 1 of the only class, shape (n, 1)."""
        return np.ones((len(X), 1))
