"""A model of one target column, fitted on some rows, and its loss on other rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...core.cards import CLASSIFICATION, REGRESSION
from ...core.rows import numbers_of
from ...core.seeds import derive_rng, seed_32
from ...core.table import Column, Table
from ...models import Model, get_model
from ...models.base import class_probabilities, predicted
from ...models.encode import design, moderate, moderated, unit_of_errors

SMALLEST_PROBABILITY = 1e-15
#: Number of folds for calibrating a model that has no probabilities.
CALIBRATION_FOLDS = 5


class Learner:
    """Fits a model of a target. The loss is log-loss for classes, and squared error over the variance for numbers.

    The model is as for `models.get_model`; `certified` selects its setting, if any, with known `used_columns`.
    """

    def __init__(self, column: Column, model: Any, certified: bool = False) -> None:
        self.model, self.certified = model, certified
        self.task = CLASSIFICATION if column.is_discrete else REGRESSION
        self.target = column.numbers().astype(np.int64) if column.is_discrete else moderated(column)
        self._unit = 1.0 if column.is_discrete else unit_of_errors(self.target)

    @cached_property
    def classes(self) -> np.ndarray:
        """All classes of the target, ascending."""
        return np.unique(self.target)

    def fit(self, X: np.ndarray, rows: np.ndarray, seed: int) -> Any:
        """Return the estimator fitted on some rows (positions or mask) of X; classifiers have `predict_proba`."""
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
            # A class with a single row cannot be held out.
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
        """Return the columns on which a fitted estimator depends, ascending; None if unknown.

        Refitted without other columns, on the same rows with the same seed, the estimator would be the same.
        """
        if isinstance(fitted, OnlyClass):
            return np.zeros(0, dtype=np.int64)
        return self._model.used_columns(fitted)

    @property
    def outcomes(self) -> np.ndarray:
        """The target of `expected`: numbers, (n, 1), or the indicator of each of r classes, (n, r)."""
        y = self.target[:, np.newaxis]
        return y if self.task == REGRESSION else (y == self.classes).astype(np.float64)

    def expected(self, fitted: Any, X: np.ndarray) -> np.ndarray:
        """Return predictions of some rows, shape (m, 1), or the probability of each of all r classes, (m, r)."""
        if self.task == REGRESSION:
            return predicted(fitted, X)[:, np.newaxis]
        return class_probabilities(fitted, X, self.classes)

    def losses(self, fitted: Any, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the loss of some rows, shape (len(rows),), whose features are the rows of X."""
        y = self.target[rows]
        if self.task == REGRESSION:
            return (predicted(fitted, X) - y) ** 2 / self._unit
        probability = self.expected(fitted, X)[np.arange(len(y)), np.searchsorted(self.classes, y)]
        return -np.log(np.clip(probability, SMALLEST_PROBABILITY, 1.0))


class OnlyClass:
    """A classifier that always predicts one class, for training rows with a single class."""

    def __init__(self, label: int) -> None:
        self.classes_ = np.array([label])

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probability 1 of the only class, shape (n, 1)."""
        return np.ones((len(X), 1))


def cross_fitted(
    outcomes: np.ndarray, parts: np.ndarray, expected: Callable[[np.ndarray, np.ndarray, int], np.ndarray]
) -> np.ndarray:
    """Return the residuals of outcomes, (n, k), after each part of the rows is predicted from the others.

    `parts`, (n,), are part numbers; `expected(train, test, part)` returns predictions, (m, k), for m test rows.

    >>> outcomes = np.array([[1.0], [2.0], [4.0]])
    >>> cross_fitted(outcomes, np.array([0, 0, 1]), lambda train, out, part: outcomes[train].mean(axis=0)).ravel()
    array([-3. , -2. ,  2.5])
    """
    left = outcomes.copy()
    for part in np.unique(parts):
        train, out = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
        left[out] -= expected(train, out, int(part))
    return left


def held_out_losses(
    table: Table,
    columns: Sequence[str],
    target: str,
    model: Any,
    n_folds: int,
    seed: int,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Return the loss (log-loss or squared error) of each row by a model fitted on the other folds, shape (n,).

    Folds depend only on `seed` and the number of rows, so losses for two sets of columns are paired; rows with equal
    `groups`, (n,), share a fold. Without columns the prediction is the class shares, or the mean. Costs `n_folds` model
    fits.
    """
    learner = Learner(table[target], model)
    numbers = np.arange(table.n_rows) if groups is None else numbers_of(groups)
    part = (derive_rng(seed, "held-out", "folds").permutation(numbers.max() + 1) % n_folds)[numbers]
    # One constant column replaces an empty set; a model learns only class shares or the mean from it.
    matrix = design(moderate(table.select(columns))).matrix if columns else np.zeros((table.n_rows, 1))
    losses = np.empty(table.n_rows)
    for fold in range(part.max() + 1):
        rows = np.flatnonzero(part == fold)
        fitted = learner.fit(matrix, part != fold, seed_32(seed, "held-out", fold))
        losses[rows] = learner.losses(fitted, matrix[rows], rows)
    return losses
