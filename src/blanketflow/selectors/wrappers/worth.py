"""What sets of features are worth: the cross-validated score of a model of them, less a price for each feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...core.cards import CLASSIFICATION
from ...core.errors import DataError, UnsupportedError
from ...core.seeds import seed_32
from ...search.steps import Step
from ..base import Problem
from ..learning import estimator_for, matrix_of, task_of

#: The largest number of cells of a matrix of the features that are looked at together, 32 MB.
CELLS = 2**22


@dataclass
class Worth:
    """What sets of features are worth: a model's mean score over parts of the rows, less `tolerance` for each feature.

    `scoring` is a scikit-learn scorer or its name; ``auto`` is accuracy for classes and R2 for numbers.
    """

    problem: Problem
    model: Any
    scoring: Any
    n_splits: int
    tolerance: float
    _scores: dict[frozenset[str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._target, n_rows = self.problem.table[self.problem.target], self.problem.table.n_rows
        # r2 and its like have no value on a single row.
        n_parts = min(self.n_splits, n_rows // 2)
        if n_parts < 2:
            raise DataError(f"stepwise needs at least 4 rows to hold some out, but there are {n_rows}.")
        self._seed, self._task = seed_32(self.problem.seed, "stepwise"), task_of(self._target)
        values = self._target.numbers()
        parts = self.problem.parts(values, n_parts, "stepwise")
        self._splits = [
            (np.flatnonzero(parts != part), np.flatnonzero(parts == part)) for part in range(parts.max() + 1)
        ]
        can_learn = self._task != CLASSIFICATION or all(np.ptp(values[train]) for train, _ in self._splits)
        self._by_predictions = self.scoring == "auto" and can_learn

    def of(self, names: list[str]) -> float:
        """Return what a set is worth; rounded, so that float noise does not decide ties."""
        return round(self.score(names) - self.tolerance * len(names), 12)

    def score(self, names: list[str]) -> float:
        """Return the mean score of a model of some features over the parts."""
        self.find([names])
        return self._scores[frozenset(names)]

    def step(self, feature: str, others: list[str], kept: bool = True) -> Step:
        """Return the step that admits a feature to some others, or removes it; the statistic is the score reached."""
        score, without = self.score([*others, feature]), self.score(others)
        return Step(feature, score if kept else without, importance=score - without, given=tuple(others), kept=kept)

    def find(self, sets: Sequence[list[str]]) -> None:
        """Score sets that have no score yet; what they have in common, a model may do once for all."""
        unknown = [names for names in sets if frozenset(names) not in self._scores]
        most = max(1, CELLS // (self.problem.table.n_rows * self._widest))
        for some in (unknown[start : start + most] for start in range(0, len(unknown), most)):
            together = self._by_predictions and all(some)
            scores = self._from_predictions(some) if together else map(self._cross_validated, some)
            self._scores.update(zip(map(frozenset, some), scores, strict=True))

    @cached_property
    def _widest(self) -> int:
        """The most columns of a matrix that a feature may become."""
        n_levels = max((len(column.levels) for column in self.problem.table.one_of_each()), default=0)
        return max(1, n_levels) * max(self.problem.column_counts)

    def _from_predictions(self, sets: list[list[str]]) -> list[float]:
        """Return the accuracy or R2 of models of each set."""
        from ...models import get_model
        from ...models.encode import moderated

        matrix, chosen = self._columns(sets)
        model, y, scores = get_model(self.model), moderated(self._target), np.empty((len(sets), len(self._splits)))
        for part, (train, test) in enumerate(self._splits):
            known = matrix[train], y[train]
            found = model.predict_by_sets(self._task, self._seed, known, matrix[test], chosen, self.problem.check_time)
            for n, names in enumerate(sets):
                with _failure(f"a model of {names}"):
                    scores[n, part] = self._score(y[test], next(found))
        for names, of_parts in zip(sets, scores, strict=True):
            _check_finite(of_parts, f"the score of a model of {names}")
        return scores.mean(axis=1).tolist()

    def _columns(self, sets: list[list[str]]) -> tuple[np.ndarray, list[list[int]]]:
        """Return a matrix for models, and its columns that stand for each set."""
        from ...models.encode import design, moderate

        problem, among = self.problem, {name for names in sets for name in names}
        in_order = [name for name in problem.features if name in among]  # on which some models depend
        encoded = design(moderate(problem.table.select(problem.columns(in_order))))
        blocks = encoded.joined([len(problem.columns([name])) for name in in_order]).blocks
        of_each = {name: range(block.start, block.stop) for name, block in zip(in_order, blocks, strict=True)}
        return encoded.matrix, [sorted(column for name in names for column in of_each[name]) for names in sets]

    def _score(self, y: np.ndarray, predicted: np.ndarray) -> float:
        """Return the accuracy, or R2: of constant numbers 1 if they are foretold and 0 if not, as scikit-learn does."""
        if self._task == CLASSIFICATION:
            return float(np.mean(predicted == y))
        loss, total = np.sum((predicted - y) ** 2), np.sum((y - y.mean()) ** 2)
        return float(1 - loss / total if total else loss == 0)

    def _cross_validated(self, names: list[str]) -> float:
        """Return the mean of any score."""
        from sklearn.model_selection import cross_val_score

        from ...models.encode import moderated

        problem, default = self.problem, "accuracy" if self._task == CLASSIFICATION else "r2"
        problem.check_time()
        X = matrix_of(problem.table, problem.columns([name for name in problem.features if name in names]))
        estimator = estimator_for(self.model, self._target, self._seed, X, *(train for train, _ in self._splits))
        scoring = default if self.scoring == "auto" else self.scoring
        # A model without columns still gets a matrix: scikit-learn refuses one without.
        X = X if names else np.zeros((problem.table.n_rows, 1))
        y, how = moderated(self._target), {"scoring": scoring, "cv": self._splits, "error_score": "raise"}
        with _failure(f"{scoring} of a model of {names}"):
            scores = cross_val_score(estimator, X, y, **how)
        _check_finite(scores, f"{scoring} of a model of {names}")
        return float(scores.mean())


@contextmanager
def _failure(what: str) -> Iterator[None]:
    """Raise an error of ours where a model or a scorer fails."""
    try:
        yield
    except UnsupportedError:
        raise
    except (ValueError, AttributeError) as error:
        raise DataError(f"stepwise: {what} failed: {error}. Choose another scoring or model.") from error


def _check_finite(scores: np.ndarray, what: str) -> None:
    if not np.isfinite(scores).all():
        raise DataError(f"stepwise: {what} is not finite on some parts. Choose another scoring or model.")
