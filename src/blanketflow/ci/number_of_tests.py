"""How many of a search's tests were made, and how many were not because there are too few rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from .engines import Candidate


@dataclass
class Count:
    """Tests that a search asked for.

    Attributes
    ----------
    n_made, n_not_made : int
        Tests whose results count, and tests for which there are too few rows.
    first : (candidate, others) or None
        The columns of the first of the smallest tests that were not made; None if all were made.
    """

    n_made: int = 0
    n_not_made: int = 0
    first: tuple[Candidate, tuple[int, ...]] | None = None

    @property
    def n_asked(self) -> int:
        """All tests."""
        return self.n_made + self.n_not_made

    def add(self, n_made: int, n_not_made: int, first: tuple[Candidate, tuple[int, ...]] | None) -> None:
        """Count more tests, with the first of the smallest of them that were not made."""
        self.n_made += n_made
        self.n_not_made += n_not_made
        if first is not None and (self.first is None or len(first[1]) < len(self.first[1])):
            self.first = first


@dataclass
class Tally:
    """The tests of one column given others that a search asked for; marginal tests are not counted.

    Attributes
    ----------
    all : Count
        Every test.
    last_round : Count or None
        The tests given what a forward search had admitted when it ended, since none of them admitted more; None for
        other searches.
    n_admitted : int
        How many columns that were.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.count(5, [7, 9], (2, 3))
    >>> tally.all.n_made, tally.all.n_not_made, tally.all.first
    (5, 2, (7, (2, 3)))
    """

    all: Count = field(default_factory=Count)
    last_round: Count | None = None
    n_admitted: int = 0
    _others: tuple[int, ...] = ()
    _given_these: Count = field(default_factory=Count)
    _included: set[Hashable] = field(default_factory=set)

    def include(self, search: Hashable, count: Count) -> None:
        """Count the tests of a search, once, whoever it was made for."""
        if search not in self._included:
            self._included.add(search)
            self.all.add(count.n_made, count.n_not_made, count.first)

    def see(self, candidates: Sequence[Candidate], reliable: Sequence[bool], others: tuple[int, ...]) -> None:
        """Count tests of some candidates, of which the reliable ones were made, against the others of each test."""
        not_made = [] if all(reliable) else [c for c, is_made in zip(candidates, reliable, strict=True) if not is_made]
        self.count(len(candidates) - len(not_made), not_made, others)

    def count(self, n_made: int, not_made: Sequence[Candidate], others: tuple[int, ...]) -> None:
        """Count tests: how many were made, and the candidates that were not tested against the others of the test."""
        if len(others) == 1:
            return
        if others != self._others:
            self._others, self._given_these = others, Count()
        for count in (self.all, self._given_these):
            count.add(n_made, len(not_made), (not_made[0], others) if not_made else None)

    def leave_out(self, n: int, candidate: Candidate, others: tuple[int, ...]) -> None:
        """Count tests given several sets that were not made, and the columns of the first of them."""
        if len(others) > 1:
            self.all.add(0, n, (candidate, others))

    def end_round(self, n_admitted: int) -> None:
        """Note that the latest tests, given `n_admitted` columns, admitted nothing, which ends a forward search."""
        self.last_round, self.n_admitted = self._given_these if n_admitted else Count(), n_admitted
