"""Evaluation of one split: models are fitted on the selected features of the training rows, and scored."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core.cards import ORDERED, SURVIVAL
from ..core.errors import DataError
from ..core.isolation import in_child, reason_of
from ..core.registry import is_foreign
from ..core.seeds import seed_32
from ..core.table import Column, Table
from . import build_prior, get_model
from .base import CLASSES, Model, class_probabilities, predicted, probabilities, risk_scores, survival_probabilities
from .encode import design, moderate
from .metrics import resolve_metrics, score
from .predictions import Predictions, Score
from .responses import counts_of, exposure_of, n_ordered, response, teaches
from .survival_scores import brier_times

logger = logging.getLogger(__name__)


def evaluate_split(
    train: Table,
    train_y: Column,
    test: Table,
    test_y: Column,
    models: Sequence[str],
    metrics: str | Sequence[str],
    task: str,
    seed_identity: tuple[str | int, ...],
    n_jobs: int = 1,
    kept: dict[str, Predictions] | None = None,
) -> list[dict[str, Any]]:
    """Fit each model on the training rows and score it on the test rows.

    `train` and `test` have the selected features, imputed; models see them in the order of names. Targets are
    categorical for classification, numeric for regression, and a `TargetColumn` for the other tasks. Without features,
    or if the training rows teach nothing (a single class, no event, no count above 0), models predict the prior: class
    shares, mean, rate or the Kaplan-Meier curve. Models that do not support the task are skipped. Seeds derive from
    `seed_identity` and the model's name. `kept` receives the predictions of each model that did not fail. Raises
    `DataError` without test rows, or for different columns.

    Returns
    -------
    list of dict
        Rows with ``model, metric, value, prior, n_features, seconds, status, reason``. `prior` is the value of the
        prior or mean on the same rows, None if undefined; `seconds` is fit and prediction. `status` is ``ok``,
        ``undefined`` (no value on these rows) or ``error`` (the model failed), the last two with `value` None and a
        `reason`.
    """
    if len(test_y.values) == 0:
        raise DataError(f"there are no test rows of {test_y.name!r} to evaluate on. Evaluate splits cv-1, cv-2, ...")
    if [(c.name, c.levels) for c in train.columns] != [(c.name, c.levels) for c in test.columns]:
        raise DataError("training and test rows differ in columns or levels. Take both from one table.")
    data = _Split.of(train, train_y, test, test_y, task)
    names = resolve_metrics(metrics, task)
    # If one model is not ours, all run in processes of their own: a child process cannot use threads that another
    # model has started here.
    apart = any(is_foreign(model) for model in models)

    def tried(model: Model | None, name: str, apart: bool) -> tuple[dict[str, tuple[str, Score]], float]:
        """Return each metric's status and value for a model or the prior, and the seconds."""
        started = time.perf_counter()
        try:
            own = partial(_predict, model, data, task, seed_32(*seed_identity, name), n_jobs)
            predictions = data.predictions(*(in_child(own) if apart else own()))
            seconds = time.perf_counter() - started
            if kept is not None and model is not None:
                kept[name] = predictions
            return {metric: ("undefined", score(metric, predictions)) for metric in names}, seconds
        except MemoryError:  # not the model's fault: the job may be repeated with more memory
            raise
        except Exception as error:  # one model's failure must not cost the others their results
            seconds = time.perf_counter() - started
            logger.warning("model %r failed in the evaluation of %r", name, seed_identity, exc_info=True)
            return {metric: ("error", Score(None, reason_of(error))) for metric in names}, seconds

    priors, _ = tried(None, "prior", apart=False)
    rows = []
    for asked in models:
        model = get_model(asked)
        if task not in model.card.tasks:
            continue
        scores, seconds = tried(model, asked, apart)
        for name, (status, outcome) in scores.items():
            rows.append(
                {
                    "model": asked,
                    "metric": name,
                    "value": outcome.value,
                    "prior": priors[name][1].value,
                    "n_features": len(train),
                    "seconds": seconds,
                    "status": status if outcome.value is None else "ok",
                    "reason": outcome.reason,
                }
            )
    return rows


def not_scored(
    models: Sequence[str], metrics: str | Sequence[str], task: str, status: str, reason: str
) -> list[dict[str, Any]]:
    """Return the rows of `evaluate_split` for a split without a blanket, with the reason."""
    failed = {"value": None, "prior": None, "n_features": 0, "seconds": 0.0, "status": status, "reason": reason}
    return [
        {"model": model, "metric": metric, **failed}
        for model in models
        if task in get_model(model).card.tasks
        for metric in resolve_metrics(metrics, task)
    ]


@dataclass(frozen=True)
class _Split:
    """The rows of a split; `y_train` and `y_test` are the targets as from `response`."""

    train: Table
    test: Table
    y_train: np.ndarray
    y_test: np.ndarray
    #: Codes of ordered classes, which need not all have rows; None for other targets.
    order: np.ndarray | None
    #: Times of survival probabilities, None for other targets.
    times: np.ndarray | None

    @classmethod
    def of(cls, train: Table, train_y: Column, test: Table, test_y: Column, task: str) -> _Split:
        """Return the split with its targets as the task needs them."""
        y_train, y_test = response(train_y, task), response(test_y, task)
        order = np.arange(n_ordered(train_y, test_y)) if task == ORDERED else None
        times = brier_times(y_test) if task == SURVIVAL else None
        return cls(train.in_order_of_names(), test.in_order_of_names(), y_train, y_test, order, times)

    def predictions(self, predicted: np.ndarray, *others: Any) -> Predictions:
        """Return the answer of `_predict` with the truth."""
        y_test = self.y_test if self.times is not None else counts_of(self.y_test)
        taught = None if self.times is None else self.y_train
        return Predictions(y_test, predicted, *others, times=self.times, taught=taught)


def _predict(
    model: Model | None, data: _Split, task: str, seed: int, n_jobs: int
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None, np.ndarray | str | None]:
    """Return predictions, class probabilities, classes and survival probabilities (or why none) of a fitted model.

    The prior answers without features, and where the training rows teach nothing, such as a single class.
    """
    y_train, y_test = data.y_train, data.y_test
    if model is None or len(data.train) == 0 or not teaches(y_train, task):
        estimator = build_prior(task)
        X_train, X_test = np.zeros((len(y_train), 1)), np.zeros((len(y_test), 1))
    else:
        estimator = model.build(task, seed, n_jobs)
        X_train, X_test = (design(moderate(part, fitted_on=data.train)).matrix for part in (data.train, data.test))
    estimator.fit(X_train, y_train)
    if data.times is not None:
        return risk_scores(estimator, X_test), None, None, survival_probabilities(estimator, X_test, data.times)
    if task not in CLASSES:
        return predicted(estimator, X_test) * exposure_of(y_test), None, None, None
    taught = np.unique(y_train)
    y_pred = predicted(estimator, X_test, taught)
    if not hasattr(estimator, "predict_proba"):
        return y_pred, None, None, None
    if data.order is not None:
        return y_pred, class_probabilities(estimator, X_test, data.order), data.order, None
    return y_pred, *probabilities(estimator, X_test, taught), None
