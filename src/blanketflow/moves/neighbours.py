"""Parents and children of one column, separating sets, and conditioning sets with enough rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from types import MappingProxyType

import numpy as np

from ..ci.base import BoundTest
from ..core.numerics import BITS
from ..core.results import CIResult, CIResults
from .equivalent_information import leans_on
from .steps import NO_TIERS, PARENT_OR_CHILD, Step, Tiers, is_dependent, may_separate, separates, step, strength_of


@dataclass
class Neighbours:
    """The parents and children found by one column's search, and the sets that separate the others.

    `weakest` has each member's weakest test, in order of admission; before a symmetry correction members may include
    descendants. `separating_sets` has a set for each separated column, and `removals` the removals of admitted columns,
    in order. Columns `staying` may be separated, but are never removed.
    """

    weakest: dict[str, WeakestTest] = field(default_factory=dict)
    separating_sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    removals: list[Step] = field(default_factory=list)
    staying: Collection[str] = ()

    @cached_property
    def members(self) -> list[Step]:
        """The admissions of the members after the search."""
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
    """Yield conditioning sets, each with the columns whose tests have enough rows, by size, then the members' order.

    The search ends if no column can be tested given any set of a size. A column removed from `asked` meanwhile is no
    longer tested. `members` returns the members from which the sets of the next size are drawn; the columns `including`
    are in every set. Sets that `tiers` exclude for a column are skipped.

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


#: A negative number below another one times this is also below it after both are rounded.
CLEARLY_LESS = 1.0 + 2.0 ** (2 - BITS)


class WeakestTest:
    """The weakest dependence among one feature's tests, and its conditioning set."""

    def __init__(
        self, result: CIResult, given: Sequence[str] = (), strength: tuple[float, float] | None = None
    ) -> None:
        self.result, self.given = result, tuple(given)
        self.strength = strength_of(result) if strength is None else strength

    def is_clearly_weaker(self, log_p: float) -> bool:
        """Return whether it is weaker than a dependence with this p-value, beyond rounding."""
        return log_p < self.result.log_p * CLEARLY_LESS

    def see(self, result: CIResult, given: Sequence[str]) -> None:
        """Update by a further result."""
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
    """Yield the results that may change something; most are dependences clearly stronger than a column's weakest."""
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

    Sets are drawn from `others`; the columns `including` are in every set. Tests that find dependence update `weakest`.
    Sets with a column whose removal depended on the feature, by `separating_sets`, are skipped.
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


def sets_with_rows(
    test: BoundTest, target: str, asked: Collection[str], level: Sequence[str], size: int, including: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Yield the subsets of `level` of a `size`, in order, given which a test of a column in `asked` may have enough
    rows.

    Sets have the columns `including` too. Tests without enough rows for the levels are counted as not made, for all
    sets with the same beginning at once: of 1,000 columns there are half a million pairs. `asked` may shrink between
    sets; columns of a set are not tested given it.

    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.integers(0, [2, 2, 2, 5, 5, 2], (80, 6))  # tables of 16 cells
    >>> bound = get_ci_test("g2").bind(rows)
    >>> list(sets_with_rows(bound, "x0", ["x1"], ["x2", "x3", "x4", "x5"], 2, []))
    [('x2', 'x5')]
    >>> bound.tally.all.n_not_made, bound.n_tests
    (5, 0)
    """
    rows = test.enough_rows
    if rows is None or not asked:
        yield from combinations(level, size)
        return
    room = rows.room((target, *including))
    if size == 0 and room < rows.fewest(asked):
        n_free = len(asked) - sum(column in asked for column in including)
        if n_free:
            first = next(column for column in asked if column not in including)
            _leave_out(test, n_free, (first, target, *including))
        return
    widths = rows.levels(level)
    if size == 0 or math.prod(sorted(widths)[len(widths) - size :]) * min(rows.levels(asked)) <= room:
        yield from combinations(level, size)
        return
    from ..kernels.subsets import advance

    chosen, n_asked, width_array = np.full(size, -1), -1, np.array(widths)
    while True:
        if len(asked) != n_asked:  # some were removed
            n_asked, is_asked = len(asked), set(asked)
            narrowest = min(rows.levels(asked), default=math.inf)
            counts = np.array([*(name in is_asked for name in level), False])
            n_asked_from = np.ascontiguousarray(counts[::-1].cumsum()[::-1])
            n_free = n_asked - len(is_asked.intersection(including))
        before, n_not_made = chosen.copy(), np.zeros(1)
        is_found = advance(chosen, width_array, n_asked_from, n_free, room / narrowest, n_not_made)
        if n_not_made[0]:
            first, given = _first_not_made(before, asked, level, including)
            _leave_out(test, int(n_not_made[0]), (first, target, *given))
        if not is_found:
            return
        yield tuple(level[at] for at in chosen)


class RoomGivenOne:
    """Whether there are enough rows, by the levels, for any test of `columns` with the target given one of them.

    With thousands of columns and few rows, most admissions find that there are not. No columns: nothing is left out.
    """

    def __init__(self, test: BoundTest, target: str, columns: Sequence[str]) -> None:
        self._test, self._target, rows = test, target, test.enough_rows
        self._widths = dict(zip(columns, rows.levels(columns), strict=True)) if rows is not None else {}
        self._room = math.inf if rows is None or not columns else rows.room((target,)) / min(self._widths.values())

    def leaves_out_all(self, asked: Collection[str], given: str) -> bool:
        """Return whether no test given a column has enough rows; then these are counted as not made."""
        if self._widths.get(given, 0.0) <= self._room:
            return False
        n = len(asked) - (given in asked)
        if n:
            _leave_out(self._test, n, (next(column for column in asked if column != given), self._target, given))
        return True

    def leaves_out_each(self, order: Sequence[str], *, n_rounds: int) -> bool:
        """Return whether no test given one column has enough rows; then one per pair and round counts as not made."""
        if min(self._widths.values(), default=0) <= self._room:
            return False
        n = n_rounds * math.comb(len(order), 2)
        if n:
            tested = next(column for column in self._widths if column != order[0])
            _leave_out(self._test, n, (tested, self._target, order[0]))
        return True


def _leave_out(test: BoundTest, n: int, first: Sequence[str]) -> None:
    """Count tests as not made, the first of which has these columns."""
    tested, *others = test.table.places(first)
    test.tally.leave_out(n, tested, (*others, *test.strata))
    test.spend(0)  # checks the time limit, since searching on takes time too


def _first_not_made(
    before: np.ndarray, asked: Collection[str], level: Sequence[str], including: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the first column that would be tested given a set after `before`, and that set."""
    chosen, size = before.tolist(), len(before)
    while True:
        at = next(k for k in reversed(range(size)) if chosen[k] < len(level) - size + k) if chosen[0] >= 0 else 0
        chosen[at:] = range(chosen[at] + 1, chosen[at] + 1 + size - at)
        given = (*(level[k] for k in chosen), *including)
        free = next((column for column in asked if column not in given), None)
        if free is not None:
            return free, given
