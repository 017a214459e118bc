"""Searches for the parents and children of one column: the columns that no subset of others separates from it.

The level-wise search starts from all dependent columns and removes some. The forward searches admit columns one by one,
tested given all subsets of the members. Columns `staying` are admitted and never removed, so that they can separate
others in every search; separated ones are not among the members found. Sets excluded by `tiers` are skipped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import compress, repeat

import numpy as np

from ..ci.base import BoundTest
from .equivalent_information import leans_on
from .neighbours import Neighbours, RoomGivenOne, WeakestTest, askable_sets, telling_results
from .steps import NO_TIERS, PARENT_OR_CHILD, Tiers, decisions, is_dependent, separates, step, strengths_of


def level_wise_neighbours(
    test: BoundTest,
    target: str,
    columns: Sequence[str],
    alpha: float,
    max_k: int | None,
    *,
    staying: Collection[str] = (),
    tiers: Tiers = NO_TIERS,
) -> Neighbours:
    """Remove columns that others separate from the target, by increasing size of the conditioning set.

    With exact tests, faithful data and unlimited conditioning sets, the members are a superset of the parents and
    children.
    """
    found = Neighbours(staying=staying)
    weakest = marginally_dependent(test, target, columns, alpha, found, staying)
    members = dict.fromkeys(weakest)
    eliminate(test, target, members, alpha, max_k, weakest, found, staying=staying, tiers=tiers)
    found.weakest = _not_separated(members, weakest, found)
    return found


def _not_separated(
    members: Iterable[str], weakest: Mapping[str, WeakestTest], found: Neighbours
) -> dict[str, WeakestTest]:
    return {member: weakest[member] for member in members if member not in found.separating_sets}


def marginally_dependent(
    test: BoundTest,
    target: str,
    columns: Sequence[str],
    alpha: float,
    found: Neighbours,
    staying: Collection[str] = (),
) -> dict[str, WeakestTest]:
    """Return the marginally dependent columns and those staying, with their tests; others are recorded in `found`."""
    results = test.test_many(columns, target)
    is_kept, is_separated = decisions(test, results, alpha)
    found.separating_sets.update(dict.fromkeys(compress(columns, is_separated.tolist()), ()))
    if staying:
        is_kept = is_kept | np.array([column in staying for column in columns], dtype=bool)
    kept, names = results.take(is_kept), compress(columns, is_kept.tolist())
    tests = map(WeakestTest, kept, repeat(()), strengths_of(kept))
    return dict(zip(names, tests, strict=True))


def eliminate(
    test: BoundTest,
    target: str,
    members: dict[str, None],
    alpha: float,
    max_k: int | None,
    weakest: dict[str, WeakestTest],
    found: Neighbours,
    including: Sequence[str] = (),
    staying: Collection[str] = (),
    tiers: Tiers = NO_TIERS,
) -> None:
    """Remove members that others separate from the target, by increasing size of the conditioning set.

    Sets of a level are drawn from the members at its start, so their order does not matter, except for columns with the
    same information: one removed within the level does not remove those that it leans on. `members` are changed in
    place; tests and removals are recorded in `weakest` and `found`. Members `including` are not tested and are in every
    set, because sets without them were tried before.
    """

    def standing() -> list[str]:
        return [member for member in members if member not in including]

    for given, asked in askable_sets(test, target, members, standing, max_k, including, tiers):
        results = test.test_many(asked, target, given=given)
        for member, result in telling_results(asked, results, weakest, alpha):
            if separates(test, result, alpha):
                if leans_on(given, member, found.separating_sets, staying):
                    continue
                if member not in staying:
                    del members[member]
                    found.removals.append(step(member, result, given, kept=False, role=PARENT_OR_CHILD))
                found.separating_sets.setdefault(member, given)
            elif is_dependent(test, result, alpha):
                weakest[member].see(result, given)


def grow_neighbours(
    test: BoundTest,
    target: str,
    columns: Sequence[str],
    alpha: float,
    max_k: int | None,
    *,
    by_weakest: bool,
    interleave: bool,
    staying: Collection[str] = (),
    tiers: Tiers = NO_TIERS,
) -> Neighbours:
    """Admit the strongest column that no subset of the members separates from the target, until none is left.

    After an admission all waiting columns are tested given the subsets with the new member. The strongest column has
    the strongest weakest test so far with `by_weakest` (max-min), else the strongest marginal dependence. Separated
    members are removed after each admission with `interleave`, else at the end. The members are a superset of the
    parents and children, as in `level_wise_neighbours`.
    """
    found = Neighbours(staying=staying)
    weakest = marginally_dependent(test, target, columns, alpha, found, staying)
    rank = {column: tests.strength for column, tests in weakest.items()}
    waiting, members = dict.fromkeys(weakest), dict[str, None]()
    room = RoomGivenOne(test, target, [] if tiers or max_k == 0 else list(weakest))
    in_order = partial(sorted, key=rank.__getitem__, reverse=True)  # the first one first on ties
    by_rank = deque(in_order(waiting))
    if room.leaves_out_each(by_rank, n_rounds=1 + interleave):
        waiting, members = {}, dict.fromkeys(by_rank)
    while waiting:
        if not by_rank:
            by_rank = deque(in_order(waiting))
        newest = by_rank.popleft()
        if newest not in waiting:
            continue
        del waiting[newest]
        members[newest] = None
        sets = askable_sets(test, target, waiting, lambda: list(members)[:-1], max_k, [newest], tiers)
        for given, asked in () if room.leaves_out_all(waiting, newest) else sets:
            results = test.test_many(asked, target, given=given)
            for column, result in telling_results(asked, results, weakest, alpha):
                if separates(test, result, alpha):
                    if column not in staying:
                        del waiting[column]
                    found.separating_sets.setdefault(column, given)
                elif is_dependent(test, result, alpha):
                    weakest[column].see(result, given)
                    if by_weakest:
                        rank[column] = weakest[column].strength
                        by_rank.clear()
        if interleave and not room.leaves_out_all(members, newest):
            eliminate(test, target, members, alpha, max_k, weakest, found, [newest], staying, tiers)
    if not interleave:
        eliminate(test, target, members, alpha, max_k, weakest, found, staying=staying, tiers=tiers)
    found.weakest = _not_separated(members, weakest, found)
    return found


#: By the max-min heuristic, with elimination at the end, or after each admission.
max_min_neighbours = partial(grow_neighbours, by_weakest=True, interleave=False)
interleaved_max_min_neighbours = partial(grow_neighbours, by_weakest=True, interleave=True)
#: By marginal dependence, with elimination after each admission, or at the end.
interleaved_neighbours = partial(grow_neighbours, by_weakest=False, interleave=True)
semi_interleaved_neighbours = partial(grow_neighbours, by_weakest=False, interleave=False)
