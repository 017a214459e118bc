"""Ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..core.cards import REGRESSION, Card
from ..core.parameters import number
from .base import Model


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
