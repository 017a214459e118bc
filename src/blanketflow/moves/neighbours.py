"""The result of a search for one column's parents and children, and the search for a separating set."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from types import MappingProxyType

from ..ci.base import BoundTest
from ..core.numerics import BITS
from ..core.results import CIResult, CIResults
from .equivalent_information import leans_on
from .sets_with_rows import sets_with_rows
from .steps import PARENT_OR_CHILD, Step, step
from .strength import is_dependent, separates, strength_of
from .tiers import NO_TIERS, Tiers, may_separate


@dataclass
class Neighbours:
    """The parents and children of one column according to its own search, and the sets that separate the others.

    `weakest` has each member's weakest test, in order of admission; before a symmetry correction they may include
    descendants. `separating_sets` has for each other column a set given which it was independent, and `removals` the
    removals of admitted columns, in order. Columns that are `staying` are separated, too, but never removed.
    """

    weakest: dict[str, WeakestTest] = field(default_factory=dict)
    separating_sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    removals: list[Step] = field(default_factory=list)
    staying: Collection[str] = ()

    @cached_property
    def members(self) -> list[Step]:
        """The admissions of the members, when the search has ended."""
        return [tests.step(member) for member, tests in self.weakest.items()]


#: A search takes (test, target, other columns in table order, alpha, max_k).
FindNeighbours = Callable[[BoundTest, str, Sequence[str], float, int | None], Neighbours]


def askable_sets(
    test: BoundTest,
    target: str,
    asked: Collection[str],
    members: Callable[[], Sequence[str]],
    max_k: int | None,
    including: Sequence[str] = (),
    tiers: Tiers = NO_TIERS,
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield conditioning sets, each with the columns for whose tests there are enough rows.

    Sets are ordered by size, then by the order of the members. If no column can be tested given any set of a size, none
    can be tested given larger sets, and the search ends.

    A column that is removed from `asked` during the search is not tested any more. `members` returns the members from
    which the sets of the next size are drawn; the columns `including` are in every set too. A column is not tested
    given sets that `tiers` rule out.

    Examples
    --------
    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> rows = np.random.default_rng(0).integers(0, 2, (50, 4))  # tables of 8 cells, of 16 they would need 80 rows
    >>> bound = get_ci_test("g2").bind(rows)
    >>> list(askable_sets(bound, "x0", ["x1"], lambda: ["x2", "x3"], None))
    [((), ['x1']), (('x2',), ['x1']), (('x3',), ['x1'])]
    """
    size = 0
    while max_k is None or size + len(including) <= max_k:
        level, is_over = list(members()) if size else [], True
        sets = combinations(level, size) if tiers else sets_with_rows(test, target, asked, level, size, including)
        for chosen in sets:
            given = (*chosen, *including)
            possible = [column for column in asked if column not in given]
            if tiers:
                possible = [column for column in possible if may_separate(given, column, target, tiers)]
            columns = test.answerable(possible, target, given)
            if columns:
                is_over = False
                yield given, columns
        if is_over:
            return
        size += 1


#: A number below another one times this, both negative, is also below it where both are rounded to be compared.
CLEARLY_LESS = 1.0 + 2.0 ** (2 - BITS)


class WeakestTest:
    """The weakest dependence among one feature's tests, and its conditioning set."""

    def __init__(
        self, result: CIResult, given: Sequence[str] = (), strength: tuple[float, float] | None = None
    ) -> None:
        self.result, self.given = result, tuple(given)
        self.strength = strength_of(result) if strength is None else strength

    def is_clearly_weaker(self, log_p: float) -> bool:
        """Return whether it is weaker than a dependence of this p-value, however both are rounded."""
        return log_p < self.result.log_p * CLEARLY_LESS

    def see(self, result: CIResult, given: Sequence[str]) -> None:
        """Take a further result into account."""
        if self.is_clearly_weaker(result.log_p):
            return  # as most are: no need to round
        strength = strength_of(result)
        if strength < self.strength:
            self.result, self.given, self.strength = result, tuple(given), strength

    def step(self, feature: str, role: str = PARENT_OR_CHILD) -> Step:
        """Return the admission of a feature with this test."""
        return step(feature, self.result, self.given, role=role)


def telling_results(
    columns: Sequence[str], results: CIResults, weakest: Mapping[str, WeakestTest], alpha: float
) -> Iterator[tuple[str, CIResult]]:
    """Yield the results that may change something: most are dependences clearly stronger than a column's weakest."""
    limit = math.log(alpha)
    for i, (column, log_p) in enumerate(zip(columns, results.log_p.tolist(), strict=True)):
        if log_p > limit or not weakest[column].is_clearly_weaker(log_p):
            yield column, results[i]


def find_separating_set(
    test: BoundTest,
    target: str,
    feature: str,
    others: Sequence[str],
    alpha: float,
    max_k: int | None,
    including: Sequence[str] = (),
    weakest: WeakestTest | None = None,
    separating_sets: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> tuple[CIResult, tuple[str, ...]] | None:
    """Return the first set given which a feature is independent of the target, with that test; None if there is none.

    Sets are drawn from `others`; the columns `including` are in every set too. `weakest` is updated by every test that
    finds dependence. Sets with a column that was removed thanks to the feature, by its set among the `separating_sets`,
    do not count.
    """
    for given, _ in askable_sets(test, target, [feature], lambda: others, max_k, including):
        result = test.test(feature, target, given=given)
        if separates(test, result, alpha):
            if not leans_on(given, feature, separating_sets):
                return result, given
            continue
        if weakest is not None and is_dependent(test, result, alpha):
            weakest.see(result, given)
    return None
