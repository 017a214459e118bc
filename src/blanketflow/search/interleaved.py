"""The interleaved search for parents and children: newcomers by their marginal dependence, each tested at once."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .elimination import eliminate
from .marginal import marginally_dependent
from .neighbours import Neighbours, conditioning_sets, find_separating_set, strength_of


def interleaved_neighbours(
    test: BoundTest, target: str, columns: Sequence[str], alpha: float, max_k: int | None, *, eliminate_all: bool = True
) -> Neighbours:
    """Admit each column, strongest first, that no subset of the members separates from the target.

    Parameters
    ----------
    eliminate_all : bool
        Whether an admission makes all members be tested again, given subsets that hold the newcomer; if not, members
        are tested once, at the end (semi-interleaved).

    Returns
    -------
    Neighbours
        A superset of the parents and children, with exact tests, faithful data and no limit on conditioning sets.
    """
    found = Neighbours()
    weakest = marginally_dependent(test, target, columns, alpha, found)
    members: list[str] = []
    for newcomer in sorted(weakest, key=lambda column: strength_of(weakest[column].result), reverse=True):
        sets = conditioning_sets(members, max_k)
        next(sets)  # given nothing it is dependent
        separated = find_separating_set(test, target, newcomer, sets, alpha, weakest[newcomer])
        if separated:
            found.separating_sets[newcomer] = separated[1]
            continue
        members.append(newcomer)
        if eliminate_all:
            eliminate(test, target, members, alpha, max_k, weakest, found, including=[newcomer])
    if not eliminate_all:
        eliminate(test, target, members, alpha, max_k, weakest, found)
    found.members = [weakest[member].step(member) for member in members]
    return found


def semi_interleaved_neighbours(
    test: BoundTest, target: str, columns: Sequence[str], alpha: float, max_k: int | None
) -> Neighbours:
    """As `interleaved_neighbours`, with one pass over the members at the end."""
    return interleaved_neighbours(test, target, columns, alpha, max_k, eliminate_all=False)
