"""Metrics of predictions, each with a direction, and a reason if undefined on some rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.errors import ConfigError, did_you_mean
from ..core.metrics import METRICS
from .metrics_of_kinds import OF_KINDS
from .predictions import Predictions, Score, Undefined

#: Smaller probabilities are replaced by this in the log-loss.
SMALLEST_PROBABILITY = 1e-15


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


#: What computes each of `METRICS`.
COMPUTED_BY: dict[str, Callable[[Predictions], float]] = {
    "accuracy": _accuracy,
    "error": _error,
    "balanced-accuracy": _balanced_accuracy,
    "kappa": _kappa,
    "roc-auc": _roc_auc,
    "log-loss": _log_loss,
    **OF_KINDS,
    "mse": _mse,
    "mae": _mae,
    "r2": _r2,
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
    return [name for name in names if task in METRICS[name].tasks]


def score(metric: str, predictions: Predictions) -> Score:
    """Return one metric's value, or None and the reason if it is undefined."""
    try:
        value = float(COMPUTED_BY[metric](predictions))
    except Undefined as why:
        return Score(None, str(why))
    return Score(value)
