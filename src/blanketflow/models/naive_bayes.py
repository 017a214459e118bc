"""Gaussian naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..core.cards import CLASSIFICATION, Card
from ..core.parameters import number
from .base import Model


@dataclass
class NaiveBayes(Model):
    """Gaussian naive Bayes: every column normal and independent of the others within a class."""

    card: ClassVar[Card] = Card(
        id="naive-bayes",
        name="Gaussian naive Bayes",
        family="model",
        summary="Multiplies one normal density a column and class.",
        reference="Hand, Yu (2001) Idiot's Bayes: not so stupid after all?, 10.1111/j.1751-5823.2001.tb00465.x.",
        tasks=(CLASSIFICATION,),
        cost="O(d n)",
    )

    var_smoothing: float = number(1e-9, "Share of the largest column variance added to each variance.", at_least=0)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the classifier; nothing in it is random."""
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB(var_smoothing=self.var_smoothing)
