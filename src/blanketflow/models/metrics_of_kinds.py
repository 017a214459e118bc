"""Metrics of survival, counts, ordered classes, shares and positive numbers.

References of those of ordered classes: Cohen (1968), doi:10.1037/h0026256; Epstein (1969), Journal of Applied
Meteorology 8, 985-987.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..core.cards import COUNT, POSITIVE, SHARE
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


def _check_means(means: np.ndarray) -> None:
    if (means <= 0).any():
        raise Undefined("the model predicts a mean that is not above 0")


def _of_counts(y: np.ndarray, means: np.ndarray) -> np.ndarray:
    _check_means(means)
    return 2 * (_times_log_ratio(y, means) - y + means)


def _of_positive(y: np.ndarray, means: np.ndarray) -> np.ndarray:
    _check_means(means)
    ratio = y / means
    return 2 * (ratio - 1 - np.log(ratio))


def _of_shares(y: np.ndarray, means: np.ndarray) -> np.ndarray:
    if (means < 0).any() or (means > 1).any():
        raise Undefined("the model predicts shares outside 0 to 1")
    share = np.clip(means, SMALLEST_SHARE, 1 - SMALLEST_SHARE)
    return 2 * (_times_log_ratio(y, share) + _times_log_ratio(1 - y, 1 - share))


#: Deviance of each row from predicted means, (n,), by kind of target.
DEVIANCES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    COUNT: _of_counts,
    POSITIVE: _of_positive,
    SHARE: _of_shares,
}


def _mean_deviance(kind: str, p: Predictions) -> float:
    return float(np.mean(DEVIANCES[kind](p.y_true, p.y_pred)))


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
    return float(np.mean(ranked_probability_scores(np.searchsorted(p.classes, p.y_true), p.probabilities)))


def ranked_probability_scores(classes: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return the ranked probability score of each row, (n,), of class 0, 1, ... with probabilities (n, n_classes)."""
    up_to = np.cumsum(probabilities, axis=1)[:, :-1]
    return np.mean((up_to - (classes[:, None] <= np.arange(up_to.shape[1]))) ** 2, axis=1)


#: What computes each, by id.
OF_KINDS: dict[str, Callable[[Predictions], float]] = {
    "concordance": _concordance,
    "uno-concordance": _uno_concordance,
    "integrated-brier": _integrated_brier,
    "time-auc": _time_auc,
    "poisson-deviance": partial(_mean_deviance, COUNT),
    "gamma-deviance": partial(_mean_deviance, POSITIVE),
    "share-deviance": partial(_mean_deviance, SHARE),
    "quadratic-kappa": _quadratic_kappa,
    "ranked-probability-score": _ranked_probability_score,
}
