"""The base of engines that test columns, and sets of columns as one joint variable, in the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import ClassVar

from ..core.numerics import is_rounded_away
from ..core.results import CIResults
from ..core.table import Table
from .linear.regressions import with_exact_tests


class JointEngine(ABC):
    """An engine whose subclass tests sets of columns with a set of targets, by `each`.

    Attributes
    ----------
    tests_flags_exactly : bool
        Whether two flags with a small cell, given nothing, are tested by Fisher's exact test.
    """

    tests_flags_exactly: ClassVar[bool] = True

    def __init__(self, table: Table) -> None:
        self._table = table
        self._is_rounded: Callable[[int], bool] = cache(lambda column: is_rounded_away(table[column]))

    @abstractmethod
    def each(
        self, candidates: Sequence[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> CIResults:
        """Test each set of columns with the targets given others; what the targets need is computed once."""

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each column with the target."""
        found = self.each([(candidate,) for candidate in candidates], (target,), given)
        is_exact = self.tests_flags_exactly and not given
        return with_exact_tests(found, self._table, candidates, target) if is_exact else found

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns with the target."""
        return self.each(candidates, (target,), given)

    def evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Test two sets of columns."""
        return self.each([x], y, given)
