"""The model that a method learns the target with, also where there is nothing to learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL, CLASSIFICATION, REGRESSION
from ..core.table import Column, Table


def task_of(target: Column) -> str:
    """Return the task that a problem's target stands for."""
    return CLASSIFICATION if target.kind == CATEGORICAL else REGRESSION


def matrix_of(table: Table, names: Sequence[str]) -> np.ndarray:
    """Return the columns that models read for some features, shape (n, m); none for no feature."""
    from ..models.encode import design, moderate

    return design(moderate(table.select(names))).matrix if names else np.empty((table.n_rows, 0))


def estimator_for(model: Any, target: Column, seed: int, X: np.ndarray, *trains: Sequence[int] | np.ndarray) -> Any:
    """Return an unfitted scikit-learn estimator of a target, categorical for classification and numeric for regression.

    Without columns in X, or with a single class among some training rows (`trains`, once for each fit), it predicts the
    prior or the mean: nothing better is possible there, and many classifiers refuse it. The seed is below 2**32. Raises
    `UnsupportedError` if the model does not do the target's task.
    """
    from ..models import build_estimator, build_prior

    task = task_of(target)
    estimator = build_estimator(model, task, seed)
    y = target.numbers()
    if X.shape[1] and (task == REGRESSION or all(np.ptp(y[train]) for train in trains)):
        return estimator
    return build_prior(task)
