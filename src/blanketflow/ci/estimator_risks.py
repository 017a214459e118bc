"""Risks of any scikit-learn estimator as the PPI test's model: one fit a repeat and set of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.seeds import seed_32
from ..core.table import Table
from ..models import build_estimator
from ..models.encode import design
from .repeats import Repeats

SMALLEST_PROBABILITY = 1e-15


class EstimatorRisks:
    """The models of the latest set of columns, one a repeat, and their risks.

    Attributes
    ----------
    n_fits : int
        Models fitted so far.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats, seed: int, model: Any) -> None:
        self.table, self.repeats, self.seed, self.model = table, repeats, seed, model
        self.n_fits = 0
        column = table[target]
        self._is_classification = column.is_discrete
        self._target = column.numbers().astype(np.int64) if column.is_discrete else column.numbers()
        self._members: tuple[int, ...] = ()
        self._fits: list[Any] = []

    def marginal(self, columns: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return risks and permuted risks of a model on each column alone, both of shape (m, B)."""
        pairs = [self.conditional(column, ()) for column in columns]
        return np.array([risks for risks, _ in pairs]), np.array([permuted for _, permuted in pairs])

    def conditional(self, column: int, given: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return risks and permuted risks of models on `column` and `given` together, both of shape (B,)."""
        members = tuple(sorted((column, *given)))
        if members != self._members:
            self._fit(members)
        block = self._design.blocks[members.index(column)]
        permuted = np.empty(len(self._fits))
        for b, fitted in enumerate(self._fits):
            X = self._design.matrix[self.repeats.test_rows[b]]
            X[:, block] = self._design.matrix[self.repeats.permuted_rows[b], block]
            permuted[b] = self._risk(fitted, b, X)
        return self._risks.copy(), permuted

    def _fit(self, members: tuple[int, ...]) -> None:
        self._design = design(self.table.select(members))
        self._members, self._fits = members, []
        for b, is_train in enumerate(self.repeats.is_train):
            y = self._target[is_train]
            fitted = None  # a training part of one class leaves nothing to learn
            if not self._is_classification or len(np.unique(y)) > 1:
                task = "classification" if self._is_classification else "regression"
                estimator = build_estimator(self.model, task, seed_32(self.seed, "repeat", b, "model"))
                if self._is_classification and not hasattr(estimator, "predict_proba"):
                    from sklearn.calibration import CalibratedClassifierCV

                    estimator = CalibratedClassifierCV(estimator, ensemble=False)  # log-loss needs probabilities
                fitted = estimator.fit(self._design.matrix[is_train], y)
                self.n_fits += 1
            self._fits.append(fitted)
        tests = (self._design.matrix[rows] for rows in self.repeats.test_rows)
        self._risks = np.array([self._risk(f, b, X) for b, (f, X) in enumerate(zip(self._fits, tests, strict=True))])

    def _risk(self, fitted: Any, b: int, X: np.ndarray) -> float:
        y = self._target[self.repeats.test_rows[b]]
        if not self._is_classification:
            return float(np.mean((np.asarray(fitted.predict(X)) - y) ** 2))
        probability = np.zeros(len(y))  # a class that the training part lacks has probability 0
        if fitted is None:
            only = self._target[self.repeats.is_train[b]][0]
            probability[y == only] = 1.0
        else:
            predicted = fitted.predict_proba(X)
            for k, label in enumerate(fitted.classes_):
                probability[y == label] = predicted[y == label, k]
        return float(np.mean(-np.log(np.clip(probability, SMALLEST_PROBABILITY, 1.0))))
