"""Logistic and ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..core.cards import CLASSIFICATION, ORDERED, REGRESSION, Card
from ..core.parameters import integer, number
from .base import Model


@dataclass
class Logistic(Model):
    """L2-penalised (multinomial) logistic regression on standardised columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(Logistic().build("classification", seed=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    card: ClassVar[Card] = Card(
        id="logistic",
        name="logistic regression",
        family="model",
        summary="A linear model of the log-odds with an L2 penalty, on standardised columns.",
        reference="Cox (1958) The regression analysis of binary sequences, 10.1111/j.2517-6161.1958.tb00292.x.",
        tasks=(CLASSIFICATION, ORDERED),
        cost="O(d n) per iteration",
    )

    C: float = number(1.0, "Inverse of the strength of the penalty.", above=0)
    max_iter: int = integer(1000, "Largest number of iterations of the solver.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the pipeline; its solver (L-BFGS) uses no random numbers."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), LogisticRegression(C=self.C, max_iter=self.max_iter))


@dataclass
class Ridge(Model):
    """L2-penalised linear regression on standardised columns.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bool(Ridge().build("regression", seed=0).fit(X, y).score(X, y) > 0.5)
    True
    """

    card: ClassVar[Card] = Card(
        id="ridge",
        name="ridge regression",
        family="model",
        summary="A linear model of a number with an L2 penalty, on standardised columns.",
        reference="Hoerl, Kennard (1970) Ridge regression, 10.1080/00401706.1970.10488634.",
        tasks=(REGRESSION,),
        cost="O(d n min(d, n))",
    )

    alpha: float = number(1.0, "Strength of the penalty.", at_least=0)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the pipeline; nothing in it is random."""
        from sklearn.linear_model import Ridge as Regression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), Regression(alpha=self.alpha))
