"""Poisson regression of counts and gamma regression of positive numbers, with a ridge penalty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import COUNT, POSITIVE, Card
from ..core.parameters import integer, number
from .base import LazyEstimator, Model
from .responses import exposure_of

#: Largest entry of the gradient of the mean loss at which the solver stops.
TOLERANCE = 1e-8


@dataclass
class Poisson(Model):
    """L2-penalised Poisson regression of counts, or of counts per exposure, on standardised columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0)[:, None]
    >>> fitted = Poisson().build("count", seed=0).fit(X, np.array([0.0, 1, 0, 2, 3, 4, 6, 9]))
    >>> bool(np.all(np.diff(fitted.predict(X)) > 0))
    True
    """

    card: ClassVar[Card] = Card(
        id="poisson",
        name="Poisson regression",
        family="model",
        summary="A linear model of the log-rate of a count with an L2 penalty, on standardised columns.",
        reference="Nelder, Wedderburn (1972) Generalized linear models, 10.2307/2344614.",
        tasks=(COUNT,),
        cost="O(d n) per iteration",
    )

    alpha: float = number(1.0, "Strength of the penalty.", at_least=0)
    max_iter: int = integer(1000, "Largest number of iterations of the solver.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator; its solver (L-BFGS) uses no random numbers."""
        return LazyEstimator(partial(_regression, "PoissonRegressor", self.alpha, self.max_iter), task)


@dataclass
class Gamma(Model):
    """L2-penalised gamma regression of positive numbers with a log link, on standardised columns.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0)[:, None]
    >>> fitted = Gamma().build("positive", seed=0).fit(X, 2.0 ** X[:, 0])
    >>> bool(fitted.predict(X[-1:])[0] > 50)
    True
    """

    card: ClassVar[Card] = Card(
        id="gamma",
        name="gamma regression",
        family="model",
        summary="A linear model of the logarithm of the mean of a positive number with an L2 penalty, on standardised "
        "columns.",
        reference="Nelder, Wedderburn (1972) Generalized linear models, 10.2307/2344614.",
        tasks=(POSITIVE,),
        cost="O(d n) per iteration",
    )

    alpha: float = number(1.0, "Strength of the penalty.", at_least=0)
    max_iter: int = integer(1000, "Largest number of iterations of the solver.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator; its solver (L-BFGS) uses no random numbers."""
        return LazyEstimator(partial(_regression, "GammaRegressor", self.alpha, self.max_iter), task)


def _regression(family: str, alpha: float, max_iter: int, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn import linear_model
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    # scikit-learn penalises the mean loss, the other models here its sum.
    own = getattr(linear_model, family)(alpha=alpha / exposure_of(y).sum(), max_iter=max_iter, tol=TOLERANCE)
    return make_pipeline(StandardScaler(), own)
