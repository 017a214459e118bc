"""Forward searches for parents and children: features enter one by one, tested given all subsets of the members."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..ci.base import BoundTest
from .level_wise import eliminate, marginally_dependent
from .neighbours import Neighbours, askable_sets, strength_of
from .strength import is_dependent, separates


def grow_neighbours(
    test: BoundTest,
    target: str,
    columns: Sequence[str],
    alpha: float,
    max_k: int | None,
    *,
    by_weakest: bool,
    interleave: bool,
) -> Neighbours:
    """Admit the strongest column that no subset of the members separates from the target, until none is left.

    When a column enters, all waiting columns are tested given the subsets that contain it, together for each subset;
    subsets without it were tried before.

    With `by_weakest` the strongest column is the one whose weakest test so far is strongest (max-min), else the one
    with the strongest marginal dependence. With `interleave` the members that others separate are removed after each
    admission, else only at the end. The members are a superset of the parents and children, with exact tests, faithful
    data and no limit on conditioning sets.
    """
    found = Neighbours()
    weakest = marginally_dependent(test, target, columns, alpha, found)
    rank = {column: strength_of(tests.result) for column, tests in weakest.items()}
    waiting, members = list(weakest), []
    while waiting:
        newest = max(waiting, key=rank.__getitem__)  # the first one on ties
        waiting.remove(newest)
        earlier = list(members)
        members.append(newest)
        for given, asked in askable_sets(test, target, waiting, lambda: earlier, max_k, including=[newest]):  # noqa: B023
            for column, result in zip(asked, test.test_many(asked, target, given=given), strict=True):
                if separates(test, result, alpha):
                    waiting.remove(column)
                    found.separating_sets[column] = given
                elif is_dependent(test, result, alpha):
                    weakest[column].see(result, given)
                    if by_weakest:
                        rank[column] = strength_of(weakest[column].result)
        if interleave:
            eliminate(test, target, members, alpha, max_k, weakest, found, including=[newest])
    if not interleave:
        eliminate(test, target, members, alpha, max_k, weakest, found)
    found.members = [weakest[member].step(member) for member in members]
    return found


#: By the max-min heuristic, with elimination at the end, or after each admission.
max_min_neighbours = partial(grow_neighbours, by_weakest=True, interleave=False)
interleaved_max_min_neighbours = partial(grow_neighbours, by_weakest=True, interleave=True)
#: By marginal dependence, with elimination after each admission, or at the end.
interleaved_neighbours = partial(grow_neighbours, by_weakest=False, interleave=True)
semi_interleaved_neighbours = partial(grow_neighbours, by_weakest=False, interleave=False)
