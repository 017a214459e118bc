"""The conditioning sets given which a test may have enough rows; the others are counted, not looked at."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

import numpy as np

from ..ci.base import BoundTest


def sets_with_rows(
    test: BoundTest, target: str, asked: Collection[str], level: Sequence[str], size: int, including: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Yield the subsets of some columns of a size, in order, given which a test of a column may be answerable.

    Where all tests given a set have too few rows for the levels of its columns, these tests are counted as not made,
    sets that begin alike together. Of 1,000 columns there are half a million pairs, and few rows are enough for few.

    Parameters
    ----------
    test : BoundTest
        The test.
    target : str
        The other column of each test.
    asked : collection of str
        The columns that are tested. Some may be removed between two sets; columns of a set are not tested given it.
    level : sequence of str
        The columns of which the subsets are made.
    size : int
        The size of the subsets, without the columns `including`, which are in every conditioning set.
    including : sequence of str
        Other columns than those of the level.

    Examples
    --------
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
    """Whether there are enough rows for any test of some columns given one of them, by their levels.

    Of thousands of columns and few rows, a search finds at each of many admissions that there are not. The `columns`
    are those that are tested with the target given each other; none if nothing is to be left out.
    """

    def __init__(self, test: BoundTest, target: str, columns: Sequence[str]) -> None:
        self._test, self._target, rows = test, target, test.enough_rows
        self._widths = dict(zip(columns, rows.levels(columns), strict=True)) if rows is not None else {}
        self._room = math.inf if rows is None or not columns else rows.room((target,)) / min(self._widths.values())

    def leaves_out_all(self, asked: Collection[str], given: str) -> bool:
        """Return whether no test given a column has enough rows; these are counted as not made."""
        if self._widths.get(given, 0.0) <= self._room:
            return False
        n = len(asked) - (given in asked)
        if n:
            _leave_out(self._test, n, (next(column for column in asked if column != given), self._target, given))
        return True

    def leaves_out_each(self, order: Sequence[str], *, n_rounds: int) -> bool:
        """Return whether no test given any one of the columns has enough rows, so that all are admitted in this order.

        Then the tests of these admissions are counted as not made: a round has one of each two columns.
        """
        if min(self._widths.values(), default=0) <= self._room:
            return False
        n = n_rounds * math.comb(len(order), 2)
        if n:
            tested = next(column for column in self._widths if column != order[0])
            _leave_out(self._test, n, (tested, self._target, order[0]))
        return True


def _leave_out(test: BoundTest, n: int, first: Sequence[str]) -> None:
    """Count tests as not made, of which the first is of these columns."""
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
