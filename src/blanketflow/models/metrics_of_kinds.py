"""Metrics of survival, counts, ordered classes, shares and positive numbers.

References of those of ordered classes: Cohen (1968), doi:10.1037/h0026256; Epstein (1969), Journal of Applied
Meteorology 8, 985-987.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .predictions import Predictions, Undefined
from .survival_scores import concordance, integrated_brier, time_auc, uno_concordance

#: Predicted shares are kept this far from 0 and 1 in the deviance, as probabilities in the log-loss.
SMALLEST_SHARE = 1e-15


def _concordance(p: Predictions) -> float:
    return concordance(p.y_true, p.y_pred)


def _uno_concordance(p: Predictions) -> float:
    return uno_concordance(p.y_true, p.y_pred, _taught(p))


def _time_auc(p: Predictions) -> float:
    return time_auc(p.y_true, p.y_pred, _taught(p))


def _integrated_brier(p: Predictions) -> float:
    times = np.zeros(0) if p.times is None else p.times
    return integrated_brier(p.y_true, p.survival, times, _taught(p))


def _taught(p: Predictions) -> np.ndarray:
    if p.taught is None:
        raise Undefined("the censoring of the training rows is not known")
    return p.taught


def _means(p: Predictions) -> np.ndarray:
    if (p.y_pred <= 0).any():
        raise Undefined("the model predicts a mean that is not above 0")
    return p.y_pred


def _poisson_deviance(p: Predictions) -> float:
    means = _means(p)
    return 2 * np.mean(_times_log_ratio(p.y_true, means) - p.y_true + means)


def _gamma_deviance(p: Predictions) -> float:
    ratio = p.y_true / _means(p)
    return 2 * np.mean(ratio - 1 - np.log(ratio))


def _share_deviance(p: Predictions) -> float:
    if (p.y_pred < 0).any() or (p.y_pred > 1).any():
        raise Undefined("the model predicts shares outside 0 to 1")
    share = np.clip(p.y_pred, SMALLEST_SHARE, 1 - SMALLEST_SHARE)
    return 2 * np.mean(_times_log_ratio(p.y_true, share) + _times_log_ratio(1 - p.y_true, 1 - share))


def _times_log_ratio(values: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Return ``values log(values / means)``, 0 for values of 0."""
    return values * np.log(np.where(values > 0, values, means) / means)


def _quadratic_kappa(p: Predictions) -> float:
    by_chance = np.var(p.y_true) + np.var(p.y_pred) + (np.mean(p.y_true) - np.mean(p.y_pred)) ** 2
    if not by_chance:
        raise Undefined("truth and predictions hold one and the same class, so chance agreement is 1")
    return 2 * np.mean((p.y_true - np.mean(p.y_true)) * (p.y_pred - np.mean(p.y_pred))) / by_chance


def _ranked_probability_score(p: Predictions) -> float:
    if p.probabilities is None or p.classes is None:
        raise Undefined("the model gives no probabilities")
    up_to = np.cumsum(p.probabilities, axis=1)[:, :-1]
    return np.mean((up_to - (p.y_true[:, None] <= p.classes[:-1])) ** 2)


#: What computes each, by id.
OF_KINDS: dict[str, Callable[[Predictions], float]] = {
    "concordance": _concordance,
    "uno-concordance": _uno_concordance,
    "integrated-brier": _integrated_brier,
    "time-auc": _time_auc,
    "poisson-deviance": _poisson_deviance,
    "gamma-deviance": _gamma_deviance,
    "share-deviance": _share_deviance,
    "quadratic-kappa": _quadratic_kappa,
    "ranked-probability-score": _ranked_probability_score,
}
