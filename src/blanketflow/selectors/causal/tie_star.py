"""Target information equivalence (TIE*): all Markov boundaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...search.backward import remove_until_stable
from ...search.exclusions import Exclusions, tells_nothing_more
from ...search.forward import admit_strongest
from ...search.forward_neighbours import semi_interleaved_neighbours
from ...search.steps import Answer, Step, standing
from ..base import Method, Problem, members
from .predictive_equivalence import predicts_as_well

TOO_MANY = "there may be more than {} Markov boundaries (max_blankets). Raise it."
TOO_FEW_ROWS = (
    "there may be more Markov boundaries: the rows were too few to compare {} of the candidates with the first. Take "
    "criterion: prediction, or a test that needs fewer rows."
)


@dataclass
class TIEStar(Method):
    """Find a Markov boundary, then others by leaving out features of those found, until no choice of them is left.

    The base method runs on all features, then without each smallest set G of features that meets every boundary found
    and holds no set that failed. What it returns there is accepted if the target is independent of the first boundary
    given it (``criterion: independence``), or if a model predicts as well from it (``prediction``); else G failed. The
    first boundary is the answer, all of them are in `blankets_`. Where there are too few rows to tell, a set is not
    accepted, and `reason_` says so.

    Notes
    -----
    A symmetry correction would delete both of two duplicates, so the base methods have none. ``si-hiton-pc`` finds no
    spouses: use it where the target has none.

    Examples
    --------
    Two copies of the same signal are two Markov boundaries:

    >>> import numpy as np, pandas as pd, blanketflow as bf
    >>> y = np.arange(200) % 2
    >>> X = pd.DataFrame({"a": y ^ (np.arange(200) % 7 == 0), "noise": np.arange(200) % 3})
    >>> X["copy"] = X["a"]
    >>> bf.TIEStar().fit(X.astype(str), y).blankets_
    [['a'], ['copy']]
    """

    card: ClassVar[Card] = Card(
        id="tie-star",
        name="target information equivalence (TIE*)",
        family="causal",
        summary="All Markov boundaries, by searching again without features of those found.",
        reference="Statnikov, Lytkin, Lemeire, Aliferis (2013) Algorithms for discovery of multiple Markov "
        "boundaries, JMLR 14, 499-566.",
        guarantee="all Markov boundaries and no others with exact tests, where the base method finds one in every part "
        "of the features that holds one, criterion independence and no limit on their number",
        cost="one run of the base method per Markov boundary, and one per set that failed",
    )
    anytime: ClassVar[bool] = True

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    base: str = choice("iamb", "Base method; without a symmetry correction.", ("iamb", "si-hiton-pc"))
    max_k: int | None = integer(
        None, "Largest conditioning set of the base method; null for no limit.", at_least=0, nullable=True
    )
    criterion: str = choice(
        "independence", "When a set counts as a Markov boundary.", ("independence", "prediction")
    )  # fmt: skip
    max_blankets: int | None = integer(
        100, "Largest number of Markov boundaries; null for no limit.", at_least=1, nullable=True
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Grow the first Markov boundary on all features."""
        return self._grow_on(problem, problem.features)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Shrink the first Markov boundary; then look for the others."""
        decisions = []
        for decision in self._shrink_to(problem, candidates):
            decisions.append(decision)
            yield decision
        first = tuple(step.feature for step in members(decisions))
        problem.answers.append(Answer(first))
        exclusions, n_undecided = Exclusions(first), 0
        while (left_out := exclusions.next()) is not None:
            if len(problem.answers) == self.max_blankets:
                problem.say("unreliable", TOO_MANY.format(self.max_blankets))
                break
            kept = [feature for feature in problem.features if feature not in left_out]
            again = list(self._shrink_to(problem, standing(self._grow_on(problem, kept))))
            candidate = tuple(step.feature for step in members(again))
            is_boundary = self._is_boundary(problem, candidate, first)
            if is_boundary:
                problem.answers.append(Answer(candidate))
                exclusions.found.append(candidate)
            else:
                exclusions.failed.append(left_out)
                n_undecided += is_boundary is None
        if n_undecided:
            problem.say("unreliable", TOO_FEW_ROWS.format(n_undecided))

    def _grow_on(self, problem: Problem, features: list[str]) -> Iterable[Step]:
        if self.base == "iamb":
            return admit_strongest(problem.test, problem.target, features, self.alpha, self.max_k)
        found = semi_interleaved_neighbours(problem.test, problem.target, features, self.alpha, self.max_k)
        return [*found.removals, *found.members]

    def _shrink_to(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        if self.base == "si-hiton-pc" or not candidates:
            return candidates
        names = [candidate.feature for candidate in candidates]
        return remove_until_stable(problem.test, problem.target, names, self.alpha)

    def _is_boundary(self, problem: Problem, candidate: tuple[str, ...], first: tuple[str, ...]) -> bool | None:
        if self.criterion == "prediction":
            return predicts_as_well(problem, candidate, first, self.alpha)
        return tells_nothing_more(problem.test, problem.target, first, candidate, self.alpha)
