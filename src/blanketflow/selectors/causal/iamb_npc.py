"""IAMB whose backward phase is the PC algorithm (IAMB-nPC)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...search.backward import remove_by_subsets
from ...search.skeleton import find_skeleton
from ...search.steps import MEMBER, PARENT_OR_CHILD, SPOUSE, Step, step
from ..base import Method, Problem
from .iamb import IAMB


@dataclass
class IAMBnPC(Method):
    """Grow as IAMB does; then learn the skeleton of target and candidates, and read the blanket off it.

    Kept are the target's neighbours in the skeleton, and every feature two edges away whose middle feature did not
    separate it from the target, which makes the middle a common child.

    Notes
    -----
    ``variant: subset`` removes a candidate when any subset of the others separates it, which deletes spouses that are
    independent of the target given nothing. This variant guarantees nothing.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.IAMBnPC(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="iamb-npc",
        name="IAMB-nPC (repaired)",
        family="causal",
        summary="IAMB's growth; then the PC algorithm on target and candidates, and the blanket read off its skeleton.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets; "
        "none with variant subset",
        cost="d tests per admission; then the PC algorithm on |S| + 1 columns",
    )

    anytime: ClassVar[bool] = True

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(3, "Largest conditioning set when shrinking; null for no limit.", at_least=0,
                                nullable=True)  # fmt: skip
    variant: str = choice("pc", "Backward phase: the PC algorithm (pc), or subsets of the others (subset).",
                          ("pc", "subset"))  # fmt: skip

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit the strongest, one at a time; conditioning sets have no limit here."""
        return IAMB(alpha=self.alpha).grow(problem)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Read the blanket off the skeleton of target and candidates."""
        names = [candidate.feature for candidate in candidates]
        if self.variant == "subset":
            return remove_by_subsets(problem.test, problem.target, names, self.alpha, self.max_k)
        return self._read_off_skeleton(problem, names)

    def _read_off_skeleton(self, problem: Problem, names: list[str]) -> Iterator[Step]:
        test, target = problem.test, problem.target
        skeleton = find_skeleton(test, [*names, target], self.alpha, self.max_k)
        opened = skeleton.opened_by_colliders(target)
        for feature in names:
            given = skeleton.separating_sets.get(frozenset((target, feature)), ())
            role = PARENT_OR_CHILD
            if feature in opened:
                given, role = (*(z for z in given if z != opened[feature]), opened[feature]), SPOUSE
            kept = feature in opened or feature in skeleton.adjacent[target]
            result = test.test(feature, target, given=given)
            yield step(feature, result, given, kept=kept, role=role if kept else MEMBER)
