"""Parents and children of any column, the symmetry correction, and spouses, for divide-and-conquer methods."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, TypeVar

from ...ci.base import BoundTest
from ...ci.tests_made import Count, Tally
from ...core.numerics import comparable_number
from ...core.parameters import choice, integer, number
from ...moves.equivalent_information import equivalents
from ...moves.neighbours import FindNeighbours, Neighbours, WeakestTest, find_separating_set
from ...moves.steps import NO_TIERS, PARENT_OR_CHILD, SPOUSE, Step, Tiers, is_dependent, may_be_child, step
from ..base import Method, Problem

#: Which columns are neighbours: those found by both searches, by either search, or by the target's own search.
SYMMETRIES = ("and", "or", "none")
#: Shared card texts: costs of parents and children (PC), and of Markov blankets (MB).
PC_COST = (
    "d tests, then at most d 2^|PC| tests given up to max_k conditions; the same for each candidate with a symmetry "
    "correction"
)
MB_GUARANTEE = (
    'exact Markov blanket with symmetry "and", exact tests, faithful data and no limit on conditioning sets; none with '
    "another symmetry"
)
MB_COST = (
    "the search for parents and children of the target, of each of these, and of each of theirs; then one test for "
    "each pair of a candidate spouse and a child"
)


def neighbourhoods(
    problem: Problem, find: FindNeighbours, alpha: float, max_k: int | None, symmetry: str
) -> Neighbourhoods:
    """Return the neighbourhoods of a problem's columns, cached across stages and targets."""
    test = problem.test  # it now counts for this problem, also where another one's searches are shared
    known = {*problem.features, problem.target}
    columns = test.table.names if len(known) == len(test.table) else [n for n in test.table.names if n in known]
    tiers = tuple(problem.tiers.items())
    key = (neighbourhoods, find, alpha, max_k, symmetry, problem.included, tiers, tuple(columns))
    if key not in problem.shared:
        if problem.included or problem.tiers:
            find = partial(find, staying=problem.included, tiers=problem.tiers)
        problem.shared[key] = Neighbourhoods(test, columns, find, alpha, max_k, symmetry, problem.tiers)
    return problem.shared[key]


K, V = TypeVar("K", bound=Hashable), TypeVar("V")
#: By column, the result of its own search and its tests.
Found = dict[str, tuple[Neighbours, Count]]
#: A column's weakest test of another one, None if it was separated, and the set that separated it.
Link = tuple[WeakestTest | None, tuple[str, ...] | None]


@dataclass
class ParentsAndChildren(Method):
    """Base class of methods that return parents and children: a subclass adds a card and `find`.

    Grow searches from the target; shrink searches from each candidate and applies the symmetry correction.
    """

    find: ClassVar[FindNeighbours]
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(3, "Largest conditioning set; null for no limit.", at_least=0, nullable=True)
    symmetry: str = choice(
        "and",
        "Symmetry check: keep features whose own search finds the target too (and), features found from either side "
        "(or), or do not check (none).",
        SYMMETRIES,
    )

    def neighbourhoods(self, problem: Problem) -> Neighbourhoods:
        """Return the neighbourhoods found by this method."""
        return neighbourhoods(problem, type(self).find, self.alpha, self.max_k, self.symmetry)

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Search for the target's parents and children; removals come first, then the members."""
        found = self.neighbourhoods(problem).found(problem.target)
        return [*found.removals, *found.members]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Remove candidates whose own search does not find the target."""
        near = self.neighbourhoods(problem)
        yield from near.lost_by_symmetry(problem.target)
        yield from near.parents_and_children(problem.target)


class Neighbourhoods:
    """The neighbours of every column, found by the search function `find`.

    `columns` are all columns in table order, with the target. `max_k` limits conditioning sets; the test of a spouse
    has one more variable. With symmetry ``and``, X and T are neighbours if each search finds the other; with ``or`` if
    either does, which searches from every column; with ``none`` if T's search finds X.

    If several columns have the same information about T, T's search keeps one, X, and removes the others given X. X's
    own search could then remove T given the others, so it is repeated without them; see `around`. The repeated search
    only has to find T: sets without the excluded columns still separate, other columns are separated by single ones,
    and larger sets are tested for T only. `whole` has the neighbourhoods of all columns.
    """

    def __init__(
        self,
        test: BoundTest,
        columns: Sequence[str],
        find: FindNeighbours,
        alpha: float,
        max_k: int | None,
        symmetry: str = "and",
        tiers: Tiers = NO_TIERS,
        whole: Neighbourhoods | None = None,
    ) -> None:
        self.test, self.columns, self.find, self.whole = test, list(columns), find, whole
        self.alpha, self.max_k, self.symmetry, self.tiers = alpha, max_k, symmetry, tiers
        self.known: Found = {}
        self._separated: dict[tuple[str, str, frozenset[str]], tuple[frozenset[str], Count]] = {}
        self._links: dict[tuple[str, str], tuple[Link, Count]] = {}
        self._without: dict[frozenset[str], Neighbourhoods] = {}

    def know(self, found: Found) -> None:
        """Store results of columns' own searches."""
        self.known = found | self.known

    def found(self, column: str) -> Neighbours:
        """Return the result of the search from a column; its tests count for the caller."""
        before = self.whole.found(column) if self.whole else Neighbours()
        return self._once(self.known, column, lambda: self._search(column, before))

    def _search(self, column: str, before: Neighbours) -> Neighbours:
        columns, separated = set(self.columns), before.separating_sets.items()
        known = {other: given for other, given in separated if columns.issuperset((other, *given))}
        asked = [o for o in self.columns if o != column and (o not in known or o in before.staying)]
        max_k = 1 if self.whole and self.max_k != 0 else self.max_k
        found = self.find(self.test, column, asked, self.alpha, max_k)
        found.separating_sets = known | found.separating_sets
        return found

    def _looked_for(self, column: str, other: str) -> Link:
        """Return the weakest test of another column in the search from a column, or the set that separated it."""
        found = self.found(column)
        weakest = found.weakest.get(other)
        if not self.whole or weakest is None or other in found.staying:
            return weakest, found.separating_sets.get(other)

        def search() -> Link:
            tests, others = copy(weakest), [member for member in found.weakest if member != other]
            known = {"weakest": tests, "separating_sets": found.separating_sets}
            separated = find_separating_set(self.test, column, other, others, self.alpha, self.max_k, **known)
            return (None, separated[1]) if separated else (tests, None)

        return self._once(self._links, (column, other), search)

    def _once(self, known: dict[K, tuple[V, Count]], key: K, search: Callable[[], V]) -> V:
        """Return a cached result; its tests count for the caller."""
        tally = self.test.tally
        if key not in known:
            self.test.tally = Tally()
            try:
                known[key] = search(), self.test.tally.all
            finally:
                self.test.tally = tally
        found, count = known[key]
        tally.include((self, key), count)
        return found

    def parents_and_children(self, column: str) -> list[Step]:
        """Return a column's parents and children after the symmetry correction, in order of admission."""
        return [tests[0] for other in self._possible(column) if (tests := self._admissions(column, other))]

    def with_weakest_tests(self, column: str) -> list[Step]:
        """Return a column's parents and children, each with its largest p-value over the searches that found it."""
        return [_weakest(tests) for other in self._possible(column) if (tests := self._admissions(column, other))]

    def _possible(self, column: str) -> list[str]:
        members = self.found(column).weakest
        others = self.columns if self.symmetry == "or" else ()
        return [*members, *(other for other in others if other != column and other not in members)]

    def _admissions(self, column: str, other: str) -> list[Step]:
        """Return the tests that make two columns neighbours; empty if they are not."""
        tests, _ = self._looked_for(column, other)
        own = [] if tests is None else [tests.step(other)]
        if self.symmetry == "none" or bool(own) == (self.symmetry == "or"):
            return own
        tests, _ = self.around(other, column)._looked_for(other, column)
        return [] if tests is None else [*own, tests.step(other)]

    def lost_by_symmetry(self, column: str) -> list[Step]:
        """Return the removals of members whose own search separated them from the column."""
        kept = {member.feature for member in self.parents_and_children(column)}
        removals = []
        for member in self.found(column).members:
            if member.feature not in kept:
                given = self.around(member.feature, column)._looked_for(member.feature, column)[1] or ()
                result = self.test.test(column, member.feature, given=given)  # the direction that decided
                removals.append(step(member.feature, result, given, kept=False, role=PARENT_OR_CHILD))
        return removals

    def around(self, member: str, column: str) -> Neighbourhoods:
        """Return the neighbourhoods for the search from a member.

        They are the same, unless the member's search separates the column by columns that were removed given the
        member. Then the member's stand-ins are excluded from the table, repeatedly.
        """
        near, left_out, found = self, frozenset[str](), self.found(column)
        while (given := near._looked_for(member, column)[1]) is not None:
            removed, staying, members = found.separating_sets, found.staying, list(found.weakest)
            search = partial(
                equivalents, self.test, member, column, given, removed, self.alpha, staying, left_out, members
            )
            same = self._once(self._separated, (member, column, left_out), search)
            if not same:
                break
            left_out |= same
            near = self._without_columns(left_out)
        return near

    def _without_columns(self, left_out: frozenset[str]) -> Neighbourhoods:
        if self.whole:
            return self.whole._without_columns(left_out.union(set(self.whole.columns).difference(self.columns)))
        if left_out not in self._without:
            columns = [name for name in self.columns if name not in left_out]
            self._without[left_out] = Neighbourhoods(
                self.test, columns, self.find, self.alpha, self.max_k, self.symmetry, self.tiers, self
            )
        return self._without[left_out]

    def separating_set(self, column: str, other: str) -> tuple[str, ...] | None:
        """Return the set that separated two columns in either search, or None."""
        given = self.found(column).separating_sets.get(other)
        return self.found(other).separating_sets.get(column) if given is None else given

    def spouses(self, column: str) -> list[Step]:
        """Return the other parents of the column's children.

        A neighbour Y of a neighbour X is a spouse if Y is no neighbour, X is not in the set that separates Y from the
        column, and adding X to that set makes them dependent. Costs at most one test per pair of Y and X, and then the
        searches that check whether Y and X are neighbours.
        """
        neighbours = [member.feature for member in self.parents_and_children(column)]
        near, spouses = frozenset(neighbours), dict[str, Step]()
        for child in (x for x in neighbours if may_be_child(x, column, self.tiers)):
            around = self.around(child, column)
            for other in around._possible(child):
                if other == column or other in near or other in spouses:
                    continue
                given = self.separating_set(column, other)
                if given is None or child in given or not may_be_child(child, other, self.tiers):
                    continue
                result = self.test.test(other, column, given=(*given, child))
                if is_dependent(self.test, result, self.alpha) and around._admissions(child, other):
                    spouses[other] = step(other, result, (*given, child), role=SPOUSE)
        return list(spouses.values())

    def spouses_with_weakest_tests(self, column: str) -> list[Step]:
        """Return a column's spouses, each with the largest p-value of its test and both links to the child."""
        near, weakest = {member.feature: member for member in self.with_weakest_tests(column)}, []
        for spouse in self.spouses(column):
            child = spouse.given[-1]
            links = self.around(child, column)._admissions(child, spouse.feature)
            weakest.append(replace(_weakest([spouse, near[child], *links]), feature=spouse.feature, role=SPOUSE))
        return weakest


def _weakest(tests: Iterable[Step]) -> Step:
    return min(tests, key=lambda s: comparable_number(s.importance))
