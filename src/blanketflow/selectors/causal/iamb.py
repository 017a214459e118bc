"""Incremental association Markov blanket (IAMB)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.forward import admit_strongest
from ...search.steps import Step
from ..base import Problem
from .gs import GS


@dataclass
class IAMB(GS):
    """Admit the feature that depends most on the target given the admitted ones, until none does; then shrink.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bf.IAMB(ci_test="fisher-z").fit(X, y).selected_features_[:2]
    ['s5', 'bmi']
    """

    card: ClassVar[Card] = Card(
        id="iamb",
        name="incremental association Markov blanket (IAMB)",
        family="causal",
        summary="Admits the strongest dependence given the set so far, one at a time; then a backward pass.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets",
        cost="d tests per admission; at most |S|^2 tests in the backward pass",
    )

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Admit the strongest, one at a time."""
        yield from problem.admit_included()
        yield from admit_strongest(
            problem.test, problem.target, problem.features, self.alpha, self.max_k, start=problem.included
        )
