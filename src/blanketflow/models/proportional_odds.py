"""Proportional-odds regression of ordered classes with a ridge penalty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import ORDERED, Card
from ..core.parameters import integer, number
from .base import LazyEstimator, Model
from .penalised import PenalisedColumns, Point, maximum


@dataclass
class ProportionalOdds(Model):
    """L2-penalised proportional-odds regression on standardised columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0)[:, None]
    >>> fitted = ProportionalOdds().build("ordered", seed=0).fit(X, np.repeat([0, 1, 2], 4))
    >>> fitted.predict(np.array([[0.0], [11.0]])).tolist()
    [0, 2]
    """

    card: ClassVar[Card] = Card(
        id="proportional-odds",
        name="proportional-odds regression",
        family="model",
        summary="A linear model of the log-odds of lying above each threshold between ordered classes, with an L2 "
        "penalty, on standardised columns.",
        reference="McCullagh (1980) Regression models for ordinal data, 10.1111/j.2517-6161.1980.tb01109.x.",
        tasks=(ORDERED,),
        cost="O(d n min(d, n)) per iteration",
    )

    alpha: float = number(1.0, "Strength of the penalty.", at_least=0)
    max_iter: int = integer(100, "Largest number of Newton steps.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator; nothing in it is random."""
        return LazyEstimator(partial(_proportional_odds, self.alpha, self.max_iter), task)


def _proportional_odds(alpha: float, max_iter: int, X: np.ndarray, y: np.ndarray) -> ProportionalOddsRegression:
    return ProportionalOddsRegression(alpha, max_iter)


class ProportionalOddsRegression:
    """Maximises the log likelihood less ``alpha / 2`` of the sum of squared coefficients.

    The log-odds of a class up to the k-th are ``thresholds_[k] - x @ coef_``, with x standardised. Thresholds bear no
    penalty. Classes without training rows have probability 0.
    """

    def __init__(self, alpha: float, max_iter: int) -> None:
        self.alpha = alpha
        self.max_iter = max_iter

    def fit(self, X: np.ndarray, y: np.ndarray) -> ProportionalOddsRegression:
        """Fit thresholds and coefficients."""
        from scipy.special import logit

        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        columns, n_thresholds = PenalisedColumns(X), len(self.classes_) - 1
        start = np.zeros(n_thresholds + columns.rows.shape[1])
        start[:n_thresholds] = logit(np.cumsum(counts)[:-1] / len(codes))
        likelihood = LogLikelihood(columns.rows, codes, n_thresholds)
        penalty = np.where(np.arange(len(start)) < n_thresholds, 0.0, self.alpha)
        found = maximum(lambda at: likelihood(at).less(penalty, at), start, self.max_iter)
        self.scaler_ = columns.scaler
        self.thresholds_, self.coef_ = found[:n_thresholds], columns.of_columns(found[n_thresholds:])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return class probabilities, with columns in the order of `classes_`."""
        from scipy.special import expit

        scores = self.scaler_.transform(X) @ self.coef_
        up_to = expit(self.thresholds_[None, :] - scores[:, None])
        return np.diff(up_to, axis=1, prepend=0.0, append=1.0)


class LogLikelihood:
    """The log likelihood of classes 0 .. `n_thresholds`, (n,), given rows, (n, d), as a function.

    Its parameters are the thresholds and then the coefficients, as in `ProportionalOddsRegression`.
    """

    def __init__(self, rows: np.ndarray, codes: np.ndarray, n_thresholds: int) -> None:
        # Each row lies between an upper and a lower threshold; classes at the ends have one of them.
        self._upper, self._lower = (
            np.hstack([codes[:, None] == at + np.arange(n_thresholds), -rows]).astype(float) for at in (0, 1)
        )
        self._ends = codes == n_thresholds, codes == 0

    def __call__(self, parameters: np.ndarray) -> Point:
        """Return value, gradient and curvature."""
        upper, lower = self._upper, self._lower
        value, first, second = self._terms(parameters)
        gradient = upper.T @ first[0] + lower.T @ first[1]
        curvature = upper.T @ (second[0][:, None] * upper) + lower.T @ (second[1][:, None] * lower)
        mixed = upper.T @ (second[2][:, None] * lower)
        return Point(value, gradient, curvature + mixed + mixed.T)

    def of_rows(self, parameters: np.ndarray) -> np.ndarray:
        """Return the gradient of each row, (n, n_thresholds + d)."""
        _, (by_upper, by_lower), _ = self._terms(parameters)
        return by_upper[:, None] * self._upper + by_lower[:, None] * self._lower

    def _terms(self, parameters: np.ndarray) -> tuple[float, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        above = np.where(self._ends[0], np.inf, self._upper @ parameters)
        below = np.where(self._ends[1], -np.inf, self._lower @ parameters)
        return _log_probability(above, below)


def _log_probability(
    above: np.ndarray, below: np.ndarray
) -> tuple[float, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Return the log likelihood of rows between two logits, its gradient by both, and minus its second derivatives.

    The probability is ``expit(above) expit(-below) (1 - exp(below - above))``, of which each factor is exact.
    """
    from scipy.special import expit, log_expit

    gap = above - below
    if not (gap > 0).all():
        nothing = np.zeros_like(gap)
        return -np.inf, (nothing, nothing), (nothing, nothing, nothing)
    odds = 1.0 / np.expm1(gap)
    value = float(np.sum(log_expit(above) + log_expit(-below) + np.log(-np.expm1(-gap))))
    turn = odds * (1.0 + odds)
    second = expit(above) * expit(-above) + turn, expit(below) * expit(-below) + turn, -turn
    return value, (expit(-above) + odds, -expit(below) - odds), second
