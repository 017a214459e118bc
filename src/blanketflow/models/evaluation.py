"""Evaluation of one split: models are fitted on the selected features of the training rows, and scored."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import astuple
from functools import partial
from typing import Any

import numpy as np

from ..core.cards import CLASSIFICATION
from ..core.errors import DataError
from ..core.isolation import in_child, reason_of
from ..core.registry import is_foreign
from ..core.seeds import seed_32
from ..core.table import Column, Table
from . import build_prior, get_model
from .base import Model, predicted, probabilities
from .encode import design, moderate
from .metrics import Predictions, Score, resolve_metrics, score

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
) -> list[dict[str, Any]]:
    """Fit each model on the training rows and score it on the test rows.

    `train` and `test` have the selected features, imputed; models see them in the order of names. Targets are
    categorical for classification, numeric for regression. Without features, or with a single training class, models
    predict the prior or the mean. Models that do not support the task are skipped. Seeds derive from `seed_identity`
    and the model's name. Raises `DataError` without test rows, or for different columns.

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
    train, test = train.in_order_of_names(), test.in_order_of_names()
    names = resolve_metrics(metrics, task)
    # If one model is not ours, all run in processes of their own: a child process cannot use threads that another
    # model has started here.
    apart = any(is_foreign(model) for model in models)

    def tried(model: Model | None, name: str, apart: bool) -> tuple[dict[str, tuple[str, Score]], float]:
        """Return each metric's status and value for a model or the prior, and the seconds."""
        started = time.perf_counter()
        try:
            own = partial(_predict, model, train, train_y, test, test_y, task, seed_32(*seed_identity, name), n_jobs)
            predictions = Predictions(*in_child(lambda: astuple(own()))) if apart else own()
            seconds = time.perf_counter() - started
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


def _predict(
    model: Model | None, train: Table, train_y: Column, test: Table, test_y: Column, task: str, seed: int, n_jobs: int
) -> Predictions:
    """Return the predictions of a fitted model, or of the prior without features or with a single class."""
    is_classification = task == CLASSIFICATION
    y_train, y_test = (np.asarray(column.values) for column in (train_y, test_y))
    if model is None or len(train) == 0 or (is_classification and len(np.unique(y_train)) == 1):
        estimator = build_prior(task)
        X_train, X_test = np.zeros((len(y_train), 1)), np.zeros((len(y_test), 1))
    else:
        estimator = model.build(task, seed, n_jobs)
        X_train, X_test = (design(moderate(part, fitted_on=train)).matrix for part in (train, test))
    estimator.fit(X_train, y_train)
    taught = np.unique(y_train) if is_classification else None
    y_pred = predicted(estimator, X_test, taught)
    if taught is None or not hasattr(estimator, "predict_proba"):
        return Predictions(y_test, y_pred)
    return Predictions(y_test, y_pred, *probabilities(estimator, X_test, taught))
