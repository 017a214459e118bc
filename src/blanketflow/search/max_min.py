"""The max-min search for parents and children: admit whatever is least separable from the target by those admitted."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .elimination import eliminate
from .marginal import marginally_dependent
from .neighbours import Neighbours, conditioning_sets, strength_of
from .strength import is_dependent, separates


def max_min_neighbours(
    test: BoundTest, target: str, columns: Sequence[str], alpha: float, max_k: int | None, *, interleave: bool = False
) -> Neighbours:
    """Admit the column whose weakest dependence given any subset of those admitted is strongest; then eliminate.

    Only subsets that hold the newest member are new, and all candidates are tested given each of them at once.

    Parameters
    ----------
    interleave : bool
        Whether members that others separate leave after each admission, or only at the end.

    Returns
    -------
    Neighbours
        A superset of the parents and children, with exact tests, faithful data and no limit on conditioning sets.
    """
    found = Neighbours()
    weakest = marginally_dependent(test, target, columns, alpha, found)
    open_ = list(weakest)
    members: list[str] = []
    while open_:
        newest = max(open_, key=lambda column: strength_of(weakest[column].result))  # the first one on ties
        open_.remove(newest)
        earlier = list(members)
        members.append(newest)
        for given in conditioning_sets(earlier, max_k, including=[newest]):
            if not open_:
                break
            for column, result in zip(list(open_), test.test_many(open_, target, given=given), strict=True):
                if separates(test, result, alpha):
                    open_.remove(column)
                    found.separating_sets[column] = given
                elif is_dependent(test, result, alpha):
                    weakest[column].see(result, given)
        if interleave:
            eliminate(test, target, members, alpha, max_k, weakest, found, including=[newest])
    if not interleave:
        eliminate(test, target, members, alpha, max_k, weakest, found)
    found.members = [weakest[member].step(member) for member in members]
    return found


def interleaved_max_min_neighbours(
    test: BoundTest, target: str, columns: Sequence[str], alpha: float, max_k: int | None
) -> Neighbours:
    """As `max_min_neighbours`, with elimination after each admission."""
    return max_min_neighbours(test, target, columns, alpha, max_k, interleave=True)
