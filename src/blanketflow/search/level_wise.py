"""The level-wise search for parents and children: all dependent columns start, then conditioning sets grow by one."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .elimination import eliminate
from .marginal import marginally_dependent
from .neighbours import Neighbours


def level_wise_neighbours(
    test: BoundTest, target: str, columns: Sequence[str], alpha: float, max_k: int | None
) -> Neighbours:
    """Remove columns that some others separate from the target, level by level of the number of others.

    Returns
    -------
    Neighbours
        A superset of the parents and children, with exact tests, faithful data and no limit on conditioning sets.
    """
    found = Neighbours()
    weakest = marginally_dependent(test, target, columns, alpha, found)
    members = list(weakest)
    eliminate(test, target, members, alpha, max_k, weakest, found)
    found.members = [weakest[member].step(member) for member in members]
    return found
