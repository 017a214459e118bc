"""Metrics of predictions, each with a direction, and a reason if undefined on some rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.cards import CLASSIFICATION, REGRESSION
from ..core.errors import ConfigError, did_you_mean

#: Smaller probabilities are replaced by this in the log-loss.
SMALLEST_PROBABILITY = 1e-15


@dataclass(frozen=True)
class Predictions:
    """Predictions for the test rows: `y_true` and `y_pred`, (n,), are class codes or numbers.

    `probabilities`, (n, n_classes), has a column for each of `classes`, the codes of the training classes; both are
    None for regression and for models without probabilities.
    """

    y_true: np.ndarray
    y_pred: np.ndarray
    probabilities: np.ndarray | None = None
    classes: np.ndarray | None = None

    def probability_of(self, label: int) -> np.ndarray:
        """Return each row's probability of a class, 0 for a class without training rows."""
        if self.probabilities is None or self.classes is None:
            raise Undefined("the model gives no probabilities")
        at = np.flatnonzero(np.asarray(self.classes) == label)
        return self.probabilities[:, at[0]] if len(at) else np.zeros(len(self.y_true))


class Undefined(Exception):
    """A metric is undefined on these rows; the message says why."""


class Score(NamedTuple):
    """A metric's value, or None and the reason."""

    value: float | None
    reason: str = ""


@dataclass(frozen=True)
class Metric:
    """A metric: `id` in configs, `label` in reports, and `of`, which returns the value or raises `Undefined`."""

    id: str
    task: str
    higher_is_better: bool
    label: str
    of: Callable[[Predictions], float]


def _accuracy(p: Predictions) -> float:
    return np.mean(p.y_true == p.y_pred)


def _error(p: Predictions) -> float:
    return np.mean(p.y_true != p.y_pred)


def _balanced_accuracy(p: Predictions) -> float:
    # scikit-learn's balanced_accuracy_score is this, plus a warning for predicted classes without test rows
    from sklearn.metrics import recall_score

    return recall_score(p.y_true, p.y_pred, labels=np.unique(p.y_true), average="macro")


def _kappa(p: Predictions) -> float:
    from sklearn.metrics import cohen_kappa_score

    if len(np.unique(np.concatenate([p.y_true, p.y_pred]))) == 1:
        raise Undefined("truth and predictions hold one and the same class, so chance agreement is 1")
    return cohen_kappa_score(p.y_true, p.y_pred)


def _roc_auc(p: Predictions) -> float:
    from sklearn.metrics import roc_auc_score

    present = np.unique(p.y_true)
    if len(present) < 2:
        raise Undefined("the test part holds a single class")
    known = np.union1d(present, [] if p.classes is None else p.classes)
    ranked = present[1:] if len(known) == 2 else present  # of two classes, the second is the positive one
    return np.mean([roc_auc_score(p.y_true == label, p.probability_of(label)) for label in ranked])


def _log_loss(p: Predictions) -> float:
    probability = np.zeros(len(p.y_true))
    for label in np.unique(p.y_true):
        rows = p.y_true == label
        probability[rows] = p.probability_of(label)[rows]
    return -np.mean(np.log(np.clip(probability, SMALLEST_PROBABILITY, 1.0)))


def _mse(p: Predictions) -> float:
    return np.mean((p.y_true - p.y_pred) ** 2)


def _mae(p: Predictions) -> float:
    return np.mean(np.abs(p.y_true - p.y_pred))


def _r2(p: Predictions) -> float:
    from sklearn.metrics import r2_score

    if len(np.unique(p.y_true)) < 2:
        raise Undefined("the target is constant in the test part")
    return r2_score(p.y_true, p.y_pred)


#: Every metric by id.
METRICS: dict[str, Metric] = {
    metric.id: metric
    for metric in (
        Metric("accuracy", CLASSIFICATION, True, "Accuracy", _accuracy),
        Metric("error", CLASSIFICATION, False, "Error rate", _error),
        Metric("balanced-accuracy", CLASSIFICATION, True, "Balanced accuracy", _balanced_accuracy),
        Metric("kappa", CLASSIFICATION, True, "Cohen's kappa", _kappa),
        Metric("roc-auc", CLASSIFICATION, True, "ROC AUC (one against the rest)", _roc_auc),
        Metric("log-loss", CLASSIFICATION, False, "Log-loss (nats)", _log_loss),
        Metric("mse", REGRESSION, False, "Mean squared error", _mse),
        Metric("mae", REGRESSION, False, "Mean absolute error", _mae),
        Metric("r2", REGRESSION, True, "R²", _r2),
    )
}


def resolve_metrics(asked: str | Sequence[str], task: str) -> list[str]:
    """Return the metrics of the task among those requested, ``"auto"`` for all; `ConfigError` for an unknown name.

    >>> resolve_metrics("auto", "regression"), resolve_metrics(["accuracy", "mse"], "regression")
    (['mse', 'mae', 'r2'], ['mse'])
    """
    names = list(METRICS) if asked == "auto" else [asked] if isinstance(asked, str) else list(dict.fromkeys(asked))
    for name in names:
        if name not in METRICS:
            raise ConfigError(f"unknown metric {name!r}. {did_you_mean(name, METRICS)}")
    return [name for name in names if METRICS[name].task == task]


def score(metric: str, predictions: Predictions) -> Score:
    """Return one metric's value, or None and the reason if it is undefined."""
    try:
        value = float(METRICS[metric].of(predictions))
    except Undefined as why:
        return Score(None, str(why))
    return Score(value)
