"""Held-out losses of single rows for targets of further kinds, in the terms of the kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.cards import ORDERED, SURVIVAL
from ...core.column import TargetColumn
from ...models.base import class_probabilities, predicted, risk_scores
from ...models.metrics_of_kinds import DEVIANCES, ranked_probability_scores
from ...models.responses import counts_of, exposure_of, n_ordered, response
from ...models.survival_scores import concordance_losses

#: Held-out losses, (n,), of a fitted model: its estimator, rows X, (n, d), training responses, and true ones, (n,).
Losses = Callable[[Any, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def losses_of(target: TargetColumn) -> Losses:
    """Return the losses by which models of a target are judged, as a function; the mean is 1 less the score.

    Survival: 1 less the concordance. Ordered classes: ranked probability scores. Others: deviances. The last two are
    divided by their mean without features.
    """
    if target.target_kind == SURVIVAL:
        return _concordance
    y, task = response(target, target.target_kind), target.target_kind
    codes, counts, exposure = np.arange(n_ordered(target) if task == ORDERED else 0), counts_of(y), exposure_of(y)

    def of_predictions(truth: np.ndarray, said: np.ndarray) -> np.ndarray:
        return ranked_probability_scores(truth, said) if task == ORDERED else DEVIANCES[task](truth, said)

    if task == ORDERED:
        nothing = np.tile(np.mean(y[:, np.newaxis] == codes, axis=0), (len(y), 1))
    else:
        nothing = exposure * (counts.sum() / exposure.sum())
    unit = float(of_predictions(counts, nothing).mean()) or 1.0

    def of_model(estimator: Any, X: np.ndarray, taught: np.ndarray, truth: np.ndarray) -> np.ndarray:
        if task == ORDERED:
            return of_predictions(truth, class_probabilities(estimator, X, codes)) / unit
        return of_predictions(counts_of(truth), predicted(estimator, X) * exposure_of(truth)) / unit

    return of_model


def _concordance(estimator: Any, X: np.ndarray, taught: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return concordance_losses(truth, np.round(risk_scores(estimator, X), 12), taught)
