"""Risks of any scikit-learn estimator as the PPI test's model: one fit a repeat and set of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.seeds import seed_32
from ..core.table import Table
from ..models.encode import design
from .learner import Learner
from .repeats import Repeats


class EstimatorRisks:
    """The models of the latest set of columns, one a repeat, and their risks."""

    def __init__(self, table: Table, target: int, repeats: Repeats, seed: int, model: Any) -> None:
        self.table, self.repeats, self.seed = table, repeats, seed
        self._learner = Learner(table[target], model)
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
        self._members = members
        self._fits = [
            self._learner.fit(self._design.matrix, is_train, seed_32(self.seed, "repeat", b, "model"))
            for b, is_train in enumerate(self.repeats.is_train)
        ]
        tests = (self._design.matrix[rows] for rows in self.repeats.test_rows)
        self._risks = np.array([self._risk(f, b, X) for b, (f, X) in enumerate(zip(self._fits, tests, strict=True))])

    def _risk(self, fitted: Any, b: int, X: np.ndarray) -> float:
        return float(np.mean(self._learner.losses(fitted, X, self.repeats.test_rows[b])))
