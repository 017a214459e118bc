"""The first look of every search for parents and children: which columns depend on the target given nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .neighbours import Neighbours, WeakestTest
from .strength import is_dependent, separates


def marginally_dependent(
    test: BoundTest, target: str, columns: Sequence[str], alpha: float, found: Neighbours
) -> dict[str, WeakestTest]:
    """Return the columns that depend on the target given nothing, in table order, with those tests.

    The independent ones are noted in `found` as separated by the empty set.
    """
    weakest: dict[str, WeakestTest] = {}
    for column, result in zip(columns, test.test_many(columns, target), strict=True):
        if is_dependent(test, result, alpha):
            weakest[column] = WeakestTest(result)
        elif separates(test, result, alpha):
            found.separating_sets[column] = ()
    return weakest
