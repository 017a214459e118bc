"""Representative sets: each parent or child of the target together with its own parents and children."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .neighbourhoods import Neighbourhoods
from .steps import MEMBER, Step, step
from .strength import strongest_first


def representative_sets(near: Neighbourhoods, target: str) -> Iterator[Step]:
    """Yield the features of all representative sets, group by group, the group of the strongest member first.

    A group contains a member of PC(T) and that member's own parents and children. No feature is in two groups: a member
    stays in its own group, and a feature that is a neighbour of several members is in the group of the member with the
    strongest marginal dependence on the target.

    Parameters
    ----------
    near : Neighbourhoods
        The parents and children of all columns, including the target.
    target : str
        The target.

    Yields
    ------
    Step
        One per feature. Its group is the member's name, and its importance the marginal dependence on the target. Its
        test is the one that admitted it: with the target for a member, with the member for the others.
    """
    members = {member.feature: member for member in near.parents_and_children(target)}
    if not members:
        return
    marginal = near.test.test_many(list(members), target)
    taken = {target, *members}
    for name in [list(members)[i] for i in strongest_first(marginal)]:
        others = [other for other in near.parents_and_children(name) if other.feature not in taken]
        taken.update(other.feature for other in others)
        for found in (members[name], *(replace(other, role=MEMBER) for other in others)):
            dependence = step(found.feature, near.test.test(found.feature, target)).importance
            yield replace(found, group=name, importance=dependence)
