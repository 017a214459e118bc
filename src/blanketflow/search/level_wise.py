"""The level-wise search for parents and children, which starts from all dependent columns, and its two moves."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .neighbours import Neighbours, WeakestTest, askable_sets
from .steps import PARENT_OR_CHILD, step
from .strength import is_dependent, separates


def level_wise_neighbours(
    test: BoundTest, target: str, columns: Sequence[str], alpha: float, max_k: int | None
) -> Neighbours:
    """Remove columns that others separate from the target, level by level of the size of the conditioning set.

    The members are a superset of the parents and children, with exact tests, faithful data and no limit on conditioning
    sets.
    """
    found = Neighbours()
    weakest = marginally_dependent(test, target, columns, alpha, found)
    members = list(weakest)
    eliminate(test, target, members, alpha, max_k, weakest, found)
    found.members = [weakest[member].step(member) for member in members]
    return found


def marginally_dependent(
    test: BoundTest, target: str, columns: Sequence[str], alpha: float, found: Neighbours
) -> dict[str, WeakestTest]:
    """Return the columns that depend marginally on the target, in table order, with these tests.

    The independent columns are recorded in `found` as separated by the empty set. Costs one test per column.
    """
    weakest: dict[str, WeakestTest] = {}
    for column, result in zip(columns, test.test_many(columns, target), strict=True):
        if is_dependent(test, result, alpha):
            weakest[column] = WeakestTest(result)
        elif separates(test, result, alpha):
            found.separating_sets[column] = ()
    return weakest


def eliminate(
    test: BoundTest,
    target: str,
    members: list[str],
    alpha: float,
    max_k: int | None,
    weakest: dict[str, WeakestTest],
    found: Neighbours,
    including: Sequence[str] = (),
) -> None:
    """Remove members that others separate from the target, level by level of the size of the conditioning set.

    The sets of a level are drawn from the members at the start of the level, so that the order of the members does not
    matter. All remaining members are tested together given one set. Members that small sets separate are removed before
    large sets are drawn.

    `members` is changed in place; tests and removals are recorded in `weakest` and `found`. The members `including` are
    in every conditioning set, because sets without them were tried before; they are not tested themselves.
    """

    def standing() -> list[str]:
        return [member for member in members if member not in including]

    for given, asked in askable_sets(test, target, members, standing, max_k, including):
        for member, result in zip(asked, test.test_many(asked, target, given=given), strict=True):
            if separates(test, result, alpha):
                members.remove(member)
                found.separating_sets[member] = given
                found.removals.append(step(member, result, given, kept=False, role=PARENT_OR_CHILD))
            elif is_dependent(test, result, alpha):
                weakest[member].see(result, given)
