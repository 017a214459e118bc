"""What models are taught of a target of each kind, and what they are without features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.cards import CLASSIFICATION, COUNT, ORDERED, SHARE, SURVIVAL
from ..core.column import Column, TargetColumn
from .risk_sets import ENTRY, EVENT, STRATA, TIME, ProductLimit

COUNTED, EXPOSURE = "count", "exposure"


def response(target: Column, task: str) -> np.ndarray:
    """Return the `y` of estimators for a target, (n,).

    Class codes of classes and ordered classes; numbers of regression, shares, positive numbers and counts; for counts
    with exposure a structured array with the fields ``count`` and ``exposure``; for survival one with ``event``,
    ``time`` and, if any, ``entry`` and ``strata``, as in scikit-survival.

    >>> y = TargetColumn("days", "numeric", np.array([3.0]), (), "survival", {"event": np.array([1])})
    >>> response(y, "survival").tolist()
    [(True, 3.0)]
    """
    values = np.asarray(target.values)
    parts = target.parts if isinstance(target, TargetColumn) else {}
    if task == SURVIVAL:
        fields = {EVENT: (bool, parts[EVENT]), TIME: (float, values)}
        fields |= {ENTRY: (float, parts[ENTRY])} if ENTRY in parts else {}
        fields |= {STRATA: (np.int64, parts[STRATA])} if STRATA in parts else {}
    elif task == COUNT and EXPOSURE in parts:
        fields = {COUNTED: (float, values), EXPOSURE: (float, parts[EXPOSURE])}
    else:
        return values.astype(float) if task == COUNT else values
    y = np.empty(len(values), dtype=[(name, dtype) for name, (dtype, _) in fields.items()])
    for name, (_, cells) in fields.items():
        y[name] = cells
    return y


def exposure_of(y: np.ndarray) -> np.ndarray:
    """Return the exposure of each row of a response, 1 if it has none, (n,)."""
    return y[EXPOSURE] if y.dtype.names and EXPOSURE in y.dtype.names else np.ones(len(y))


def counts_of(y: np.ndarray) -> np.ndarray:
    """Return the counts of a response, (n,)."""
    return y[COUNTED] if y.dtype.names else y


def teaches(y: np.ndarray, task: str) -> bool:
    """Return whether a response varies as a model of the task needs it; otherwise only the prior can be predicted.

    >>> teaches(np.array([0.0, 0.0]), "count"), teaches(np.array([2.0, 2.0]), "positive")
    (False, True)
    """
    if task in (CLASSIFICATION, ORDERED):
        return len(np.unique(y)) > 1
    if task == SURVIVAL:
        return bool(y[EVENT].any())
    if task == COUNT:
        return bool(counts_of(y).any())
    return task != SHARE or 0 < float(np.mean(y)) < 1


def n_ordered(*targets: Column) -> int:
    """Return the number of classes of an ordered target, which need not all have rows."""
    return max(max(len(target.levels), int(target.numbers().max()) + 1) for target in targets)


class SurvivalPrior:
    """Predicts the Kaplan-Meier curve of the training rows, and one risk for all rows."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> SurvivalPrior:
        """Estimate the curve."""
        self.curve_ = ProductLimit(y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return a risk score of 0 for each row."""
        return np.zeros(len(X))

    def predict_survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return the curve at some times for each row, (n, len(times))."""
        return np.tile(self.curve_.at(times), (len(X), 1))


def fitted(estimator: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit an estimator to a response; one of scikit-learn to counts per exposure, with the exposure as weights of rows.

    Poisson regression of rates with these weights is that of counts with the logarithm of the exposure as offset.
    """
    if EXPOSURE not in (y.dtype.names or ()):
        return estimator.fit(X, y)
    exposure = exposure_of(y)
    steps = getattr(estimator, "steps", None)
    key = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
    return estimator.fit(X, counts_of(y) / exposure, **{key: exposure})
