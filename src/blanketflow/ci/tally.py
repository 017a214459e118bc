"""How many of a search's tests were made, and how many were not because there are too few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .engines import Candidate


@dataclass
class Tally:
    """The tests of one column given others that a search asked for; marginal tests are not counted.

    Attributes
    ----------
    n_made, n_not_made : int
        Tests whose results count, and tests for which there are too few rows.
    first : tuple of int
        The columns of the first of the smallest tests that were not made; empty if all were made.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.count(5, [7, 9], (2, 3))
    >>> tally.n_made, tally.n_not_made, tally.first
    (5, 2, (7, 2, 3))
    """

    n_made: int = 0
    n_not_made: int = 0
    first: tuple[int, ...] = ()

    def see(self, candidates: Sequence[Candidate], reliable: Sequence[bool], others: tuple[int, ...]) -> None:
        """Count tests of some candidates, of which the reliable ones were made, against the others of each test."""
        not_made = [] if all(reliable) else [c for c, is_made in zip(candidates, reliable, strict=True) if not is_made]
        self.count(len(candidates) - len(not_made), not_made, others)

    def count(self, n_made: int, not_made: Sequence[Candidate], others: tuple[int, ...]) -> None:
        """Count tests: how many were made, and the candidates that were not tested against the others of the test."""
        if len(others) == 1:
            return
        self.n_made += n_made
        if not_made:
            self.n_not_made += len(not_made)
            if not self.first or len(others) + 1 < len(self.first):
                first = not_made[0]
                self.first = (*(first if isinstance(first, tuple) else (first,)), *others)
