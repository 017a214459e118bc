"""Parents and children, and spouses, with a correction for many tests: of the largest p-value of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...ci.multiple_testing import CORRECTIONS, NONE, rejected
from ...ci.unbound import why_a_correction_admits_none
from ...core.parameters import choice
from ...moves.equivalent_information import leans_on
from ...moves.steps import PARENT_OR_CHILD, Step, step
from ...moves.strength import is_dependent
from ..base import Problem
from .neighbours_and_spouses import MB_GUARANTEE, Neighbourhoods, ParentsAndChildren

#: What the cards of these methods say alike.
PC_GUARANTEE = (
    'exact parents and children with symmetry "and", exact tests, faithful data and no limit on conditioning sets; a '
    'superset of them without the symmetry correction; with correction and symmetry "and", false discovery rate at '
    "most alpha in one search (by; bh if p-values are independent or positively dependent), if p-values are valid and "
    "a tested set separates every feature that is no parent or child, as on faithful data if no parent or child is "
    "missed, none is taken to say the same as another, and max_k does not bind; nothing is proved for finite samples, "
    "where some are missed"
)
CORRECTION_REFERENCE = (
    "Correction: Tsamardinos, Brown (2008) Bounding the false discovery rate in local Bayesian network learning, "
    "AAAI 23."
)
CORRECTED_MB_GUARANTEE = (
    MB_GUARANTEE
    + "; with correction no false discovery rate is proved: which child makes a feature a spouse, and given "
    "which set, is chosen on the same rows"
)


@dataclass
class CorrectedParentsAndChildren(ParentsAndChildren):
    """Base of the methods that return parents and children and can correct for many tests.

    A feature that is no parent or child is independent of the target given some set, so the p-value given that set is
    valid, and the largest p-value of the feature over all its tests is at least as large. These largest p-values, one a
    feature, are one family; features that a search removed have p > alpha, which no correction rejects.

    Notes
    -----
    The publication was not at hand: this follows what others write of it, and details may differ.
    """

    correction: str = choice(
        NONE,
        "How shrinking corrects the largest p-value of each member for as many tests as there are features: not at all "
        "(none, the papers), by the false discovery rate at alpha (bh, Benjamini and Hochberg; by, Benjamini and "
        "Yekutieli, under any dependence), or by alpha / d (bonferroni).",
        CORRECTIONS,
    )

    def proves_one_search(self) -> bool:
        """Whether what is proved holds for one search only: so it is with a correction."""
        return self.correction != NONE

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Remove candidates whose own search does not find the target, then what the correction does not reject."""
        if self.correction == NONE:
            yield from super().shrink(problem, candidates)
            return
        near = self.neighbourhoods(problem)
        yield from near.lost_by_symmetry(problem.target)
        members = self.members(near, problem.target)
        log_p = np.zeros(len(problem.features))
        log_p[: len(members)] = [-member.importance for member in members]
        is_rejected = rejected(log_p, self.alpha, self.correction)
        if not is_rejected.any():
            test = problem.test.test_config
            if why := why_a_correction_admits_none(test, log_p, self.alpha, self.correction):
                problem.say("unreliable", why)
        for i, member in enumerate(members):
            yield replace(member, kept=bool(is_rejected[i]))

    def members(self, near: Neighbourhoods, target: str) -> list[Step]:
        """Return what is corrected: parents and children, each with its largest p-value."""
        return near.with_weakest_tests(target)


@dataclass
class NeighboursAndSpouses(CorrectedParentsAndChildren):
    """Base of the methods that return the Markov blanket: parents and children, then the children's other parents.

    With a correction the p-value of a parent or child is the largest of its tests in both searches. That of a spouse is
    the largest of three: of its own test, of the child's link to the target, and of its own link to the child. A spouse
    is false if any of the three is. With p-values of one feature each, all features are one family.
    """

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Correct for symmetry, then add spouses, then remove what a correction does not reject."""
        decisions = list(super().shrink(problem, candidates))
        if self.correction == NONE:
            decisions += self.neighbourhoods(problem).spouses(problem.target)
        yield from decisions
        if self.correction == NONE:
            yield from self._restored(problem, decisions)

    def _restored(self, problem: Problem, decisions: Sequence[Step]) -> Iterator[Step]:
        """Take back what the check of symmetry removed thanks to itself, and on which the target depends all the same.

        A member's own search can separate the target by columns that the target's search removed thanks to members
        that are lost, too. What these columns say is then in no member of the answer any more. With exact tests the
        target depends on nothing given its blanket.
        """
        found = self.neighbourhoods(problem).found(problem.target)
        held = [decision.feature for decision in decisions if decision.kept]
        lost = {d.feature: d.given or () for d in decisions if not d.kept and d.feature in found.weakest}
        for member in [feature for feature in found.weakest if feature in lost and feature not in held]:
            if any(leans_on(lost[member], other, found.separating_sets, found.staying) for other in lost):
                result = problem.test.test(member, problem.target, given=held)
                if is_dependent(problem.test, result, self.alpha):
                    yield step(member, result, held, role=PARENT_OR_CHILD)
                    held = [*held, member]

    def proves_one_search(self) -> bool:
        """Whether what is proved holds for one search only: nothing is."""
        return False

    def members(self, near: Neighbourhoods, target: str) -> list[Step]:
        """Return parents, children and spouses, each with its largest p-value."""
        return [*super().members(near, target), *near.spouses_with_weakest_tests(target)]
