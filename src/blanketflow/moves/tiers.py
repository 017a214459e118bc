"""Tiers of time: what was measured later cannot be a parent of what was measured earlier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .steps import CHILD, PARENT, PARENT_OR_CHILD

#: The tier of each column that has one, the earliest 0.
Tiers = Mapping[str, int]
#: Nothing is known of time.
NO_TIERS: Tiers = {}


def may_separate(given: Iterable[str], x: str, y: str, tiers: Tiers) -> bool:
    """Return whether a set has to be tried to separate two columns: not if one of it is later than both.

    The parents of one of two columns that are no neighbours separate them, and none of them is later.

    Examples
    --------
    >>> tiers = {"smoking": 0, "cancer": 1, "cough": 2}
    >>> may_separate(["cough"], "smoking", "cancer", tiers), may_separate(["cancer"], "smoking", "cough", tiers)
    (False, True)
    """
    if x not in tiers or y not in tiers:
        return True
    last = max(tiers[x], tiers[y])
    return all(tiers.get(z, last) <= last for z in given)


def may_be_child(child: str, parent: str, tiers: Tiers) -> bool:
    """Return whether a column can be the child of another: not if it is earlier."""
    return child not in tiers or parent not in tiers or tiers[child] >= tiers[parent]


def role_by_time(feature: str, role: str, target: str, tiers: Tiers) -> str:
    """Return the role of a feature: ``parent`` or ``child`` of a neighbour that is earlier or later than the target.

    Examples
    --------
    >>> role_by_time("smoking", "parent_or_child", "cancer", {"smoking": 0, "cancer": 1})
    'parent'
    """
    if role != PARENT_OR_CHILD or feature not in tiers or target not in tiers or tiers[feature] == tiers[target]:
        return role
    return PARENT if tiers[feature] < tiers[target] else CHILD
