"""Models that methods fit to the target, and the importances of features in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL, CLASSIFICATION, REGRESSION
from ..core.column import TargetColumn
from ..core.errors import DataError, ParameterError
from ..core.rows import balanced_parts
from ..core.seeds import derive_rng, seed_32
from ..core.table import Column, Table
from ..models.encode import Design, design, moderate, moderated


def task_of(target: Column) -> str:
    """Return the task of a target, its kind if that is a further one."""
    if isinstance(target, TargetColumn):
        return target.target_kind
    return CLASSIFICATION if target.kind == CATEGORICAL else REGRESSION


def matrix_of(table: Table, names: Sequence[str]) -> np.ndarray:
    """Return the columns that models read for some features, (n, m); none for no feature."""
    from ..models.encode import design, moderate

    return design(moderate(table.select(names))).matrix if names else np.empty((table.n_rows, 0))


def estimator_for(model: Any, target: Column, seed: int, X: np.ndarray, *trains: Sequence[int] | np.ndarray) -> Any:
    """Return an unfitted scikit-learn estimator for a target: categorical classifies, numeric regresses.

    Without columns in X, or if some training rows (`trains`, one per fit) teach nothing, such as a single class, it
    predicts the prior or the mean, since many classifiers fail there. Raises `UnsupportedError` if the model does not
    support the task.
    """
    from ..models import build_estimator, build_prior
    from ..models.responses import response, teaches

    task = task_of(target)
    estimator = build_estimator(model, task, seed)
    y = response(target, task) if isinstance(target, TargetColumn) else target.numbers()
    if X.shape[1] and (task == REGRESSION or all(teaches(y[train], task) for train in trains)):
        return estimator
    return build_prior(task)


#: Cells of permuted copies per prediction: 32 MB.
MOST_CELLS = 2**22


@dataclass
class Importances:
    """Importances of features in a model of a target.

    The source ``model`` uses the importances of the fitted model, ``permutation`` the loss of accuracy or R2 on
    held-out rows when a feature is permuted, averaged over `n_splits` parts, ``auto`` ``model`` where available.
    Features of several adjacent columns (`column_counts`) are permuted and summed as one. All random numbers come from
    the seed, so equal targets get equal importances.
    """

    features: Table
    model: Any
    source: str
    n_splits: int
    seed: int
    groups: np.ndarray | None = None
    column_counts: Sequence[int] | None = None

    def __post_init__(self) -> None:
        self.features = moderate(self.features)

    def of(self, target: Column) -> np.ndarray:
        """Return the importances for a target, (number of features,).

        Raises `ParameterError` if the source is ``model`` and the model has neither ``feature_importances_`` nor
        ``coef_``, and `DataError` for too few rows to hold some out, or importances that are not finite.
        """
        found = None if self.source == "permutation" else self._said_by_the_model(target)
        if found is None and self.source == "model":
            raise ParameterError(
                f"model {self.model!r} has neither feature_importances_ nor coef_ for its columns. "
                "Choose importance: permutation."
            )
        found = self._lost_by_permuting(target) if found is None else found
        if not np.isfinite(found).all():
            raise DataError(f"the importances of model {self.model!r} are not finite. Choose another model.")
        return found

    @cached_property
    def _design(self) -> Design:
        columns = design(self.features)
        return columns if self.column_counts is None else columns.joined(self.column_counts)

    def _said_by_the_model(self, target: Column) -> np.ndarray | None:
        X, blocks = self._design.matrix, self._design.blocks
        estimator = estimator_for(self.model, target, seed_32(self.seed, "model"), X, np.arange(len(X)))
        weights = own_weights(estimator.fit(X, moderated(target)))
        if weights is None or len(weights) != X.shape[1]:
            return None
        return np.add.reduceat(weights, [block.start for block in blocks])

    def _lost_by_permuting(self, target: Column) -> np.ndarray:
        X, y, n_parts = self._design.matrix, moderated(target), min(self.n_splits, self.features.n_rows // 2)
        if n_parts < 2:
            raise DataError(f"permuting rows held out needs at least 4 rows, but there are {len(X)}.")
        parts = balanced_parts(y, n_parts, derive_rng(self.seed, "parts"), self.groups)
        score = _accuracies if task_of(target) == CLASSIFICATION else _r2s
        lost = np.zeros((parts.max() + 1, len(self._design.blocks)))
        for part in range(len(lost)):
            train, held_out = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
            model = estimator_for(self.model, target, seed_32(self.seed, "model"), X, train).fit(X[train], y[train])
            order = derive_rng(self.seed, "permutation", part).permutation(len(held_out))
            whole = score(y[held_out], model.predict(X[held_out])[np.newaxis])
            lost[part] = whole - score(y[held_out], self._permuted_predictions(model, X[held_out], order))
        return lost.mean(axis=0)

    def _permuted_predictions(self, model: Any, X: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Return predictions with one feature permuted, a row per feature: several times faster than scikit-learn."""
        blocks, n = self._design.blocks, len(X)
        at_once, found = max(1, MOST_CELLS // max(X.size, 1)), []
        for start in range(0, len(blocks), at_once):
            some = blocks[start : start + at_once]
            copies = np.tile(X, (len(some), 1, 1))
            for copy, block in zip(copies, some, strict=True):
                copy[:, block] = X[order, block]
            found.append(model.predict(copies.reshape(len(some) * n, -1)).reshape(len(some), n))
        return np.concatenate(found)


def _accuracies(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (predicted == y).mean(axis=1)


def _r2s(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    from sklearn.metrics import r2_score

    return r2_score(np.tile(y[:, np.newaxis], len(predicted)), predicted.T, multioutput="raw_values")


def own_weights(fitted: Any) -> np.ndarray | None:
    """Return a model's importances, or absolute coefficients summed over classes, (m,); None if it has none.

    >>> from sklearn.linear_model import LinearRegression
    >>> own_weights(LinearRegression().fit([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0.0, 2.0, -3.0])).round(6)
    array([2., 3.])
    """
    from sklearn.pipeline import Pipeline

    from ..models.base import LazyEstimator

    while isinstance(fitted, LazyEstimator | Pipeline):
        fitted = fitted[-1] if isinstance(fitted, Pipeline) else fitted.estimator_
    weights = getattr(fitted, "feature_importances_", None)
    if weights is None:
        coefficients = getattr(fitted, "coef_", None)
        if coefficients is None:
            return None
        weights = np.abs(np.atleast_2d(coefficients)).sum(axis=0)
    return np.asarray(weights, dtype=np.float64)
