"""Parents and children of any column of a table, corrected for symmetry, and spouses; each column is searched once."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .neighbours import FindNeighbours, Neighbours
from .steps import PARENT_OR_CHILD, SPOUSE, Step, step
from .strength import is_dependent

#: Who is a neighbour: whom both searches hold, whom either holds, or whom the target's own search holds.
SYMMETRIES = ("and", "or", "none")


class Neighbourhoods:
    """What one kind of search says of the neighbourhood of every column.

    Parameters
    ----------
    test : BoundTest
        The bound CI test.
    columns : sequence of str
        All columns, the target among them, in table order.
    find : FindNeighbours
        The search for one column's parents and children.
    alpha : float
        Significance level.
    max_k : int or None
        Largest conditioning set of the search; the test for a spouse adds one.
    symmetry : {"and", "or", "none"}
        X and T are neighbours when each search holds the other, when either does, or when T's own search holds X.
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
        """Return what a column's own search finds."""
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
        """Return what separated another column in this one's search, else this one in the other's; None if nothing."""
        given = self.found(column).separating_sets.get(other)
        return self.found(other).separating_sets.get(column) if given is None else given

    def spouses(self, column: str) -> list[Step]:
        """Return the parents of common children, by what a child opens.

        Y, a neighbour of a neighbour X, is a spouse when it is none itself, X is not in the set that separates it from
        the column, and adding X to that set makes them dependent. One test for each such Y and X at most.
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
        """Return the other column's admission of this one, told as this one's of the other."""
        own = [member for member in self.found(other).members if member.feature == column]
        return [
            Step(other, member.statistic, member.p_value, member.importance, member.given, PARENT_OR_CHILD)
            for member in own
        ]
