"""A set of columns that are tested each given all the others, and that leave one by one: backward elimination."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..core.results import CIResult

if TYPE_CHECKING:
    from .base import BoundTest


class BackwardElimination:
    """Tests of the members of a set, each given all other members.

    Where the test's engine keeps what it knows of the set (its `backward_elimination`), neither conditioning sets nor
    results are remembered, and thousands of members cost what has to be computed anew.

    Parameters
    ----------
    bound : BoundTest
        The test; it counts, and spends its allowance.
    members : iterable of str or int
        The set, by name or position.
    target : str or int
        A column that is no member.
    """

    def __init__(self, bound: BoundTest, members: Iterable[str | int], target: str | int) -> None:
        self._bound, self._target = bound, bound.table.position(target)
        self._members = dict.fromkeys(map(bound.table.position, members))
        start = getattr(bound.engine, "backward_elimination", None)
        self._engine = start(sorted(self._members), self._target) if start else None

    def test(self, x: str | int) -> CIResult:
        """Test a member given all the others."""
        position = self._bound.table.position(x)
        if self._engine is None:
            return self._bound.test(position, self._target, [other for other in self._members if other != position])
        self._bound.spend(1)
        return self._engine.test(position)

    def drop(self, x: str | int) -> None:
        """Take a member away."""
        position = self._bound.table.position(x)
        del self._members[position]
        if self._engine is not None:
            self._engine.drop(position)
