"""Markov blankets by parents, children and spouses, with a correction for many tests: of each one's largest p-value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...ci.multiple_testing import NONE
from ...search.steps import Step
from ..base import Problem
from .corrected_neighbours import CorrectedParentsAndChildren
from .neighbourhood import MB_GUARANTEE, Neighbourhoods

#: What the cards of these methods say alike.
CORRECTED_MB_GUARANTEE = (
    MB_GUARANTEE
    + "; with correction no false discovery rate is proved: which child makes a feature a spouse, and given "
    "which set, is chosen on the same rows"
)


@dataclass
class NeighboursAndSpouses(CorrectedParentsAndChildren):
    """Base of the methods that return the Markov blanket: parents and children, then the children's other parents.

    With a correction the p-value of a parent or child is the largest of its tests in both searches. That of a spouse is
    the largest of three: of its own test, of the child's link to the target, and of its own link to the child. A spouse
    is false if any of the three is. With p-values of one feature each, all features are one family.
    """

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Correct for symmetry, then add spouses, then remove what a correction does not reject."""
        yield from super().shrink(problem, candidates)
        if self.correction == NONE:
            yield from self.neighbourhoods(problem).spouses(problem.target)

    def proves_one_search(self) -> bool:
        """Whether what is proved holds for one search only: nothing is."""
        return False

    def members(self, near: Neighbourhoods, target: str) -> list[Step]:
        """Return parents, children and spouses, each with its largest p-value."""
        return [*super().members(near, target), *near.spouses_with_weakest_tests(target)]
