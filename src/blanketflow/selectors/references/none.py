"""No feature: what can be predicted without looking at any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.steps import Step
from ..base import Method, Problem


@dataclass
class NoFeatures(Method):
    """Keep no feature. Every model then predicts the majority class with the shares of the classes, or the mean.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> bf.NoFeatures().fit(*load_iris(return_X_y=True)).selected_features_
    []
    """

    card: ClassVar[Card] = Card(
        id="none",
        name="no feature",
        family="reference",
        summary="Keeps no feature: what the majority class, or the mean, is right about by itself.",
        reference="none",
        cost="no tests",
    )
    draws_rows: ClassVar[bool] = False
    learns_from: ClassVar[str] = "tests"
    default_test: ClassVar[str | None] = None
    obeys_prior: ClassVar[bool] = False

    def grow(self, problem: Problem) -> list[Step]:
        """Admit nothing."""
        return []

    def shrink(self, problem: Problem, candidates: list[Step]) -> list[Step]:
        """Remove nothing."""
        return candidates
