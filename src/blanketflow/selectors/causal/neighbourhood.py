"""What methods that divide and conquer share: parents and children by some search, symmetry, and then spouses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...core.parameters import choice, integer, number
from ...search.neighbourhoods import SYMMETRIES, Neighbourhoods
from ...search.neighbours import FindNeighbours
from ...search.steps import Step
from ..base import Method, Problem


def neighbourhoods(
    problem: Problem, find: FindNeighbours, alpha: float, max_k: int | None, symmetry: str
) -> Neighbourhoods:
    """Return the neighbourhoods of a problem's columns by one search; kept for the stages and targets that share."""
    key = (neighbourhoods, find, alpha, max_k, symmetry)
    if key not in problem.shared:
        problem.shared[key] = Neighbourhoods(problem.test, problem.test.table.names, find, alpha, max_k, symmetry)
    return problem.shared[key]


@dataclass
class ParentsAndChildren(Method):
    """Base of the methods that return parents and children: a subclass adds a card and `find`.

    Grow is the target's own search; shrink searches from each candidate and corrects for symmetry.
    """

    find: ClassVar[FindNeighbours]

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(3, "Largest conditioning set; null for no limit.", at_least=0, nullable=True)
    symmetry: str = choice(
        "and",
        "Symmetry check: keep features whose own search finds the target too (and), features found from either side "
        "(or), or do not check (none).",
        SYMMETRIES,
    )

    def neighbourhoods(self, problem: Problem) -> Neighbourhoods:
        """Return the neighbourhoods that this method's search finds."""
        return neighbourhoods(problem, type(self).find, self.alpha, self.max_k, self.symmetry)

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Search for the target's parents and children; removals come first, then who stayed."""
        found = self.neighbourhoods(problem).found(problem.target)
        return [*found.removals, *found.members]

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Remove candidates whose own search does not hold the target."""
        near = self.neighbourhoods(problem)
        yield from near.lost_by_symmetry(problem.target)
        yield from near.parents_and_children(problem.target)


@dataclass
class NeighboursAndSpouses(ParentsAndChildren):
    """Base of the methods that return the Markov blanket: parents and children, then the children's other parents."""

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Correct for symmetry, then add spouses."""
        yield from super().shrink(problem, candidates)
        yield from self.neighbourhoods(problem).spouses(problem.target)
