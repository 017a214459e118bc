"""The true Markov blanket of simulated data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.errors import DataError, did_you_mean
from ...core.parameters import anything
from ...search.steps import MEMBER, Step
from ..base import Method, Problem


@dataclass
class TrueBlanket(Method):
    """Keep the features that are known to form the blanket; the workflow fills them in for simulated data."""

    card: ClassVar[Card] = Card(
        id="true-blanket",
        name="true Markov blanket",
        family="reference",
        summary="Keeps the known Markov blanket: what a perfect search would return. Simulated data only.",
        reference="none",
        guarantee="exact Markov blanket",
        cost="no tests",
    )
    default_test: ClassVar[str | None] = None

    blanket: Mapping[str, str] | Sequence[str] = anything(
        (), "Names of the blanket's features, or names with their roles.", kind="names"
    )

    def grow(self, problem: Problem) -> list[Step]:
        """Admit the known blanket, in table order."""
        roles = self.blanket if isinstance(self.blanket, Mapping) else dict.fromkeys(self.blanket, MEMBER)
        for name in roles:
            if name not in problem.features:
                raise DataError(f"true-blanket: no feature {name!r}. {did_you_mean(name, problem.features)}")
        return [Step(feature, importance=1.0, role=roles[feature]) for feature in problem.features if feature in roles]

    def shrink(self, problem: Problem, candidates: list[Step]) -> list[Step]:
        """Remove nothing."""
        return candidates
