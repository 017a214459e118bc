"""How members of a set of parents and children leave it: each that a subset of the others separates from the target."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .neighbours import Neighbours, WeakestTest, askable_sets
from .steps import PARENT_OR_CHILD, step
from .strength import is_dependent, separates


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
    """Take members out, level by level of the number of others that separate them from the target.

    The sets of a level are drawn from those that stood when it began, so that the order of the members does not
    matter; all that still stand are tested given one set at once. Members that few others separate are gone before the
    large sets are drawn.

    Parameters
    ----------
    members : list of str
        Is changed in place; `weakest` and `found` are told of tests and removals.
    including : sequence of str
        Members that every set holds, because sets without them were tried before; they are not tested themselves.
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
