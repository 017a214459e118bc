"""Parents and children of any column, corrected for symmetry, and spouses; each column is searched once."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .neighbours import FindNeighbours, Neighbours
from .steps import PARENT_OR_CHILD, SPOUSE, Step, step
from .strength import is_dependent

#: Which columns are neighbours: those found by both searches, by either search, or by the target's own search.
SYMMETRIES = ("and", "or", "none")


class Neighbourhoods:
    """The neighbourhood of every column, found by one kind of search.

    Parameters
    ----------
    test : BoundTest
        The bound CI test.
    columns : sequence of str
        All columns, including the target, in table order.
    find : FindNeighbours
        The search for one column's parents and children.
    alpha : float
        Significance level.
    max_k : int or None
        Largest conditioning set of the search; the test for a spouse adds one.
    symmetry : {"and", "or", "none"}
        X and T are neighbours if each one's search finds the other, if either does, or if T's own search finds X.
        With ``or`` every column is searched.
    """

    def __init__(
        self,
        test: BoundTest,
        columns: Sequence[str],
        find: FindNeighbours,
        alpha: float,
        max_k: int | None,
        symmetry: str = "and",
    ) -> None:
        self.test, self.columns, self.find = test, list(columns), find
        self.alpha, self.max_k, self.symmetry = alpha, max_k, symmetry
        self._found: dict[str, Neighbours] = {}

    def found(self, column: str) -> Neighbours:
        """Return the result of a column's own search."""
        if column not in self._found:
            others = [other for other in self.columns if other != column]
            self._found[column] = self.find(self.test, column, others, self.alpha, self.max_k)
        return self._found[column]

    def parents_and_children(self, column: str) -> list[Step]:
        """Return a column's parents and children after the symmetry correction, in the order of their admission."""
        members = self.found(column).members
        if self.symmetry == "none":
            return members
        if self.symmetry == "and":
            return [member for member in members if column in self.found(member.feature).names]
        held = {member.feature for member in members}
        others = (other for other in self.columns if other != column and other not in held)
        return members + [member for other in others for member in self._seen_from(other, column)]

    def lost_by_symmetry(self, column: str) -> list[Step]:
        """Return the removal of each member that its own search separated from the column."""
        kept = {member.feature for member in self.parents_and_children(column)}
        removals = []
        for member in self.found(column).members:
            if member.feature not in kept:
                given = self.found(member.feature).separating_sets.get(column, ())
                result = self.test.test(column, member.feature, given=given)  # the direction that decided
                removals.append(step(member.feature, result, given, kept=False, role=PARENT_OR_CHILD))
        return removals

    def separating_set(self, column: str, other: str) -> tuple[str, ...] | None:
        """Return the set that separated two columns in the first one's search, else in the other's; else None."""
        given = self.found(column).separating_sets.get(other)
        return self.found(other).separating_sets.get(column) if given is None else given

    def spouses(self, column: str) -> list[Step]:
        """Return the other parents of the column's children.

        Y, a neighbour of a neighbour X, is a spouse if it is not a neighbour itself, X is not in the set that separates
        Y from the column, and adding X to that set makes them dependent. Costs at most one test per pair of Y and X.
        """
        neighbours = [member.feature for member in self.parents_and_children(column)]
        spouses: dict[str, Step] = {}
        for child in neighbours:
            for member in self.parents_and_children(child):
                other = member.feature
                if other == column or other in neighbours or other in spouses:
                    continue
                given = self.separating_set(column, other)
                if given is None or child in given:
                    continue
                result = self.test.test(other, column, given=(*given, child))
                if is_dependent(self.test, result, self.alpha):
                    spouses[other] = step(other, result, (*given, child), role=SPOUSE)
        return list(spouses.values())

    def _seen_from(self, other: str, column: str) -> list[Step]:
        """Return the other column's admission of this one as this one's admission of the other."""
        own = [member for member in self.found(other).members if member.feature == column]
        return [
            Step(other, member.statistic, member.p_value, member.importance, member.given, PARENT_OR_CHILD)
            for member in own
        ]
