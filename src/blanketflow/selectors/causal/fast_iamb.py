"""Fast incremental association Markov blanket (Fast-IAMB)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import number
from ...search.forward import strongest_dependent
from ...search.steps import Step
from ..base import Problem
from .gs import CORRECTION_GUARANTEE, GS
from .inter_iamb import grow_and_shrink_alternately


@dataclass
class FastIAMB(GS):
    """Admit several features per round, in decreasing dependence, while there are enough rows per cell; then remove.

    A round tests all features given the members and admits the dependent ones, as long as the table of target, members
    and newcomer has `samples_per_cell` rows per cell on average. Tests without cells admit all dependent features at
    once. The search ends with a round that admits none.

    Notes
    -----
    On finite samples, admissions and removals can contradict each other for ever. When a set occurs again, the search
    stops with status ``unreliable``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.FastIAMB(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="fast-iamb",
        name="fast IAMB",
        family="causal",
        summary="IAMB that admits several features per round while rows last, with a backward pass after each round.",
        reference="Yaramakala, Margaritis (2005) Speculative Markov blanket discovery for optimal feature selection, "
        "ICDM, 809-812, doi:10.1109/ICDM.2005.134.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="d tests per round, and at most |S|^2 in the backward pass after it",
    )

    samples_per_cell: float = number(5.0, "Average number of rows per cell that an admission needs.", at_least=0)

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit a round of features and remove false positives, alternately."""
        return grow_and_shrink_alternately(problem, lambda members: self._round(problem, members), self.alpha)

    def _round(self, problem: Problem, members: list[str]) -> Iterator[Step]:
        """Give the admissions of one round."""
        test, target = problem.test, problem.target
        given = list(members)
        for admission in strongest_dependent(test, target, problem.features, members, self.alpha, self.max_k):
            is_too_large = self.max_k is not None and len(given) > self.max_k
            if is_too_large or test.samples_per_cell(admission.feature, target, given) < self.samples_per_cell:
                return
            yield admission
            given.append(admission.feature)
