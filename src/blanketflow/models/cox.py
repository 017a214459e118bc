"""Cox regression with a ridge penalty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import SURVIVAL, Card
from ..core.parameters import integer, number
from .base import LazyEstimator, Model
from .penalised import PenalisedColumns, maximum
from .risk_sets import ProportionalHazards, RiskSets


@dataclass
class Cox(Model):
    """L2-penalised Cox regression on standardised columns, with Efron's treatment of ties, late entry and strata.

    With strata, each has a baseline hazard of its own in the fit. Predicted survival is that of all strata together.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(12.0)[:, None]
    >>> y = np.array([(True, 20.0 - x) for x in X[:, 0]], dtype=[("event", bool), ("time", float)])
    >>> risk = Cox().build("survival", seed=0).fit(X, y).predict(X)
    >>> bool(risk[11] > risk[0])  # the last has its event first
    True
    """

    card: ClassVar[Card] = Card(
        id="cox",
        name="Cox regression",
        family="model",
        summary="A linear model of the log-hazard with an L2 penalty, on standardised columns.",
        reference="Cox (1972) Regression models and life-tables, 10.1111/j.2517-6161.1972.tb00899.x.",
        tasks=(SURVIVAL,),
        cost="O(d n min(d, n)) per iteration",
    )

    alpha: float = number(1.0, "Strength of the penalty.", at_least=0)
    max_iter: int = integer(100, "Largest number of Newton steps.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator; nothing in it is random."""
        return LazyEstimator(partial(_cox, self.alpha, self.max_iter), task)


def _cox(alpha: float, max_iter: int, X: np.ndarray, y: np.ndarray) -> CoxRegression:
    return CoxRegression(alpha, max_iter)


class CoxRegression:
    """Maximises the log partial likelihood less ``alpha / 2`` of the sum of squared coefficients.

    After `fit`, `coef_` belongs to standardised columns. Risk scores are log hazard ratios against the mean row.
    """

    def __init__(self, alpha: float, max_iter: int) -> None:
        self.alpha = alpha
        self.max_iter = max_iter

    def fit(self, X: np.ndarray, y: np.ndarray) -> CoxRegression:
        """Fit the coefficients and the baseline hazard."""
        columns, sets = PenalisedColumns(X), RiskSets(y)
        start = np.zeros(columns.rows.shape[1])
        found = maximum(lambda at: sets.likelihood(columns.rows, at).less(self.alpha, at), start, self.max_iter)
        self.scaler_, self.coef_ = columns.scaler, columns.of_columns(found)
        self.hazards_ = ProportionalHazards(y, self.predict(X))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the risk score of each row: the higher, the earlier the event."""
        return self.scaler_.transform(X) @ self.coef_

    def predict_survival(self, X: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return the probability of no event up to each of some times, (n, len(times))."""
        return self.hazards_.survival(self.predict(X), times)
