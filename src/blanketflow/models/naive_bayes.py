"""Naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import CLASSIFICATION, Card
from ..core.parameters import number
from .base import LazyEstimator, Model


@dataclass
class NaiveBayes(Model):
    """Naive Bayes: within a class all features are independent.

    Numbers are normally distributed within a class. A run of columns of zeros and ones with exactly one 1 in each
    training row is one categorical feature, any other such column a feature of two levels. Each level is counted with
    one additional row, so that no level is impossible.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(NaiveBayes().build("classification", seed=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    card: ClassVar[Card] = Card(
        id="naive-bayes",
        name="naive Bayes",
        family="model",
        summary="Multiplies, for each class, a normal density per number and a frequency per categorical feature.",
        reference="Hand, Yu (2001) Idiot's Bayes: not so stupid after all?, 10.1111/j.1751-5823.2001.tb00465.x.",
        tasks=(CLASSIFICATION,),
        cost="O(d n)",
    )

    var_smoothing: float = number(1e-9, "Share of the largest column variance added to each variance.", at_least=0)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the classifier; nothing in it is random."""
        return LazyEstimator(partial(_classifier, self.var_smoothing), task)


def _classifier(var_smoothing: float, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.naive_bayes import GaussianNB

    numbers, levels = GaussianNB(var_smoothing=var_smoothing), level_columns(X)
    return MixedNaiveBayes(numbers, levels) if levels else numbers


class MixedNaiveBayes:
    """Naive Bayes on a matrix of numbers, modelled by `numbers`, and `levels`, as from `level_columns`."""

    def __init__(self, numbers: Any, levels: list[slice]) -> None:
        self.numbers = numbers
        self.levels = levels

    def fit(self, X: np.ndarray, y: np.ndarray) -> MixedNaiveBayes:
        """Count levels and fit the densities."""
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        self.log_prior_ = np.log(counts / counts.sum())
        self.is_number_ = np.ones(X.shape[1], dtype=bool)
        member = (codes[:, None] == np.arange(len(counts))).astype(float)
        self.log_frequencies_ = []
        for columns in self.levels:
            self.is_number_[columns] = False
            occurrences = member.T @ _indicators(X[:, columns]) + 1.0
            self.log_frequencies_.append(np.log(occurrences / occurrences.sum(axis=1, keepdims=True)))
        if self.is_number_.any():
            self.numbers.fit(X[:, self.is_number_], y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable class of each row."""
        return self.classes_[np.argmax(self._joint(X), axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return class probabilities, with columns in the order of `classes_`."""
        joint = self._joint(X)
        likely = np.exp(joint - joint.max(axis=1, keepdims=True))
        return likely / likely.sum(axis=1, keepdims=True)

    def _joint(self, X: np.ndarray) -> np.ndarray:
        """Return the joint log probability of class and features, up to a constant per row; (n, classes)."""
        numbers = X[:, self.is_number_]
        joint = self.numbers.predict_joint_log_proba(numbers) if numbers.shape[1] else self.log_prior_
        for columns, log_frequencies in zip(self.levels, self.log_frequencies_, strict=True):
            joint = joint + _indicators(X[:, columns]) @ log_frequencies.T
        return joint


def _indicators(columns: np.ndarray) -> np.ndarray:
    """Return one indicator per level; a single column is the second of two levels."""
    return np.hstack([1.0 - columns, columns]) if columns.shape[1] == 1 else columns


def level_columns(X: np.ndarray) -> list[slice]:
    """Return the zero-one columns of training rows, (n, d): runs with exactly one 1 in each row, others singly.

    >>> level_columns(np.array([[1, 0, 0, 1, 0.5], [0, 1, 0, 1, 0.2], [0, 0, 1, 0, 0.1]]))
    [slice(0, 3, None), slice(3, 4, None)]
    """
    holds_levels = ((X == 0) | (X == 1)).all(axis=0)
    found, start = [], 0
    while start < X.shape[1]:
        stop = _end_of_run(X, holds_levels, start)
        found += [slice(start, stop)] if holds_levels[start] else []
        start = stop
    return found


def _end_of_run(X: np.ndarray, holds_levels: np.ndarray, start: int) -> int:
    """Return the end of the run that starts at a column; the next column if there is no run."""
    seen = np.zeros(len(X))
    for stop in range(start + 1, X.shape[1] + 1):
        if not holds_levels[stop - 1]:
            break
        seen += X[:, stop - 1]
        if seen.max() != 1:  # two levels in one row, or a first level that does not occur
            break
        if seen.min() == 1:
            return stop
    return start + 1
