"""Risks of any scikit-learn estimator as the PPI test's model: one per repeat, refitted only if it would differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.seeds import seed_32
from ..core.table import Table
from ..models.encode import design, moderate
from .engines import Candidate, columns_of
from .learner import Learner
from .repeats import Repeats
from .significance import risk_differences


class _Fit(NamedTuple):
    estimator: Any
    features: frozenset[int]  # what it was fitted on
    used: frozenset[int]  # the features that it depends on, as far as its model can tell
    columns: np.ndarray  # the columns of its features in the design matrix
    risk: float


class EstimatorRisks:
    """One model per repeat on a set of columns, and its risk before and after some of them are permuted together.

    All features of a set share its models. Some models can tell that they depend only on U, a subset of the features C
    on which they were fitted. Such a model is the model of every set between U and C, and a feature outside U has a
    risk difference of exactly zero. So it is refitted only when a feature of U has been dropped. See
    `blanketflow.models.base.Model.certify`.

    `n_fits` counts the models fitted so far.
    """

    def __init__(self, table: Table, target: int, repeats: Repeats, seed: int, model: Any) -> None:
        self.table, self.repeats, self.seed = table, repeats, seed
        self.n_fits = 0
        self._learner = Learner(table[target], model, certified=True)
        self._encoded: tuple[int, ...] = ()
        self._members: frozenset[int] = frozenset()
        self._fits: list[_Fit | None] = [None] * len(repeats.is_train)

    def differences(self, columns: np.ndarray) -> np.ndarray:
        """Return permuted minus original risk of a model on each column alone, rounded to 1e-12, shape (m, B)."""
        pairs = [self.conditional(column, ()) for column in columns.tolist()]
        return risk_differences(np.array([risks for risks, _ in pairs]), np.array([permuted for _, permuted in pairs]))

    def conditional(self, x: Candidate, given: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return risks and permuted risks of models on `x` and `given` together, both of shape (B,)."""
        self.offer((*columns_of(x), *given))
        return self.of(x)

    def offer(self, columns: Iterable[int]) -> None:
        """Set the columns of the models."""
        self._members = frozenset(columns)
        self._encode(self._members)

    def drop(self, column: int) -> None:
        """Remove a column from the set."""
        self._members -= {column}

    def of(self, x: Candidate) -> tuple[np.ndarray, np.ndarray]:
        """Return risks of all repeats' models before and after columns of the set are permuted, both of shape (B,)."""
        self._fit(self._members)
        risks = np.array([fit.risk for fit in self._fits])
        permuted = risks.copy()
        for b, fit in enumerate(self._fits):
            if moved := [self._blocks[column] for column in columns_of(x) if column in fit.used]:
                permuted[b] = self._risk(fit.estimator, b, fit.columns, moved)
        return risks, permuted

    def _encode(self, members: frozenset[int]) -> None:
        """Keep the members' design matrix; a smaller set uses the one of the larger set."""
        if not members <= set(self._encoded):
            self._encoded = tuple(sorted(members))
            encoded = design(moderate(self.table.select(self._encoded)))
            self._matrix = encoded.matrix
            self._blocks = dict(zip(self._encoded, encoded.blocks, strict=True))
            self._fits = [None] * len(self._fits)

    def _fit(self, members: frozenset[int]) -> None:
        """Fit the models that are not valid for a set."""
        stale = [b for b, f in enumerate(self._fits) if f is None or not f.used <= members <= f.features]
        if not stale:
            return
        features = [feature for feature in self._encoded if feature in members]
        blocks = [np.arange(self._blocks[f].start, self._blocks[f].stop) for f in features]
        columns, owner = np.concatenate(blocks), np.repeat(features, [len(block) for block in blocks])
        matrix = self._matrix if len(features) == len(self._encoded) else np.take(self._matrix, columns, axis=1)
        for b in stale:
            seed = seed_32(self.seed, "repeat", self.repeats.first + b, "model")
            estimator = self._learner.fit(matrix, self.repeats.is_train[b], seed)
            used = self._learner.used_columns(estimator)
            depends_on = members if used is None else frozenset(owner[used].tolist())
            self._fits[b] = _Fit(estimator, members, depends_on, columns, self._risk(estimator, b, columns))
            self.n_fits += 1

    def _risk(self, estimator: Any, b: int, columns: np.ndarray, moved: Sequence[slice] = ()) -> float:
        """Return the mean loss of a repeat's test rows, with some blocks of the design matrix permuted alike."""
        rows = self.repeats.test_rows[b]
        X = self._matrix[rows]
        for block in moved:
            X[:, block] = self._matrix[self.repeats.permuted_rows[b], block]
        X = X if len(columns) == X.shape[1] else np.take(X, columns, axis=1)
        return float(np.mean(self._learner.losses(estimator, X, rows)))
