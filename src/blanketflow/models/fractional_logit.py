"""Fractional logit regression of shares with a ridge penalty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import SHARE, Card
from ..core.parameters import integer, number
from .base import LazyEstimator, Model


@dataclass
class FractionalLogit(Model):
    """L2-penalised regression of the log-odds of a share's mean, on standardised columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0)[:, None]
    >>> fitted = FractionalLogit().build("share", seed=0).fit(X, np.array([0.0, 0.1, 0.3, 0.4, 0.9, 1.0]))
    >>> bool(np.all(np.diff(fitted.predict(X)) > 0))
    True
    """

    card: ClassVar[Card] = Card(
        id="fractional-logit",
        name="fractional logit regression",
        family="model",
        summary="A linear model of the log-odds of a share's mean with an L2 penalty, on standardised columns.",
        reference="Papke, Wooldridge (1996) Econometric methods for fractional response variables, "
        "Journal of Applied Econometrics 11, 619-632.",
        tasks=(SHARE,),
        cost="O(d n) per iteration",
    )

    alpha: float = number(1.0, "Strength of the penalty.", at_least=0)
    max_iter: int = integer(1000, "Largest number of iterations of the solver.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator; its solver (L-BFGS) uses no random numbers."""
        return LazyEstimator(partial(_fractional, self.alpha, self.max_iter), task)


def _fractional(alpha: float, max_iter: int, X: np.ndarray, y: np.ndarray) -> FractionalRegression:
    return FractionalRegression(alpha, max_iter)


class FractionalRegression:
    """Logistic regression in which a row of share y counts as a 1 with weight y and a 0 with weight 1 - y."""

    def __init__(self, alpha: float, max_iter: int) -> None:
        self.alpha = alpha
        self.max_iter = max_iter

    def fit(self, X: np.ndarray, y: np.ndarray) -> FractionalRegression:
        """Fit the coefficients."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        self.scaler_ = StandardScaler().fit(X)
        rows = np.tile(np.arange(len(y)), 2)
        labels, weights = np.repeat([1, 0], len(y)), np.concatenate([y, 1.0 - y])
        kept = weights > 0
        regression = LogisticRegression(C=1 / self.alpha if self.alpha else np.inf, max_iter=self.max_iter, tol=1e-8)
        regression.fit(self.scaler_.transform(X)[rows[kept]], labels[kept], sample_weight=weights[kept])
        self.regression_, self.coef_ = regression, regression.coef_[0]
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the mean share of each row."""
        return self.regression_.predict_proba(self.scaler_.transform(X))[:, 1]
