"""The results of a bound CI test that it need not compute again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..core.results import CIResult, CIResults
from .engines import Candidate

#: The largest number of results in a cache, about 200 bytes each.
REMEMBERED = 2_000_000

#: Where a result is: the number of its query times 2 ** BITS, plus its position in the query's results. A number costs
#: the garbage collector nothing; an object for each result took a sixth of some searches' time.
BITS = 32
#: Target to candidate to where its result is.
Memory = dict[int, dict[Candidate, int]]


class ResultCache:
    """Results by conditioning set, target and candidate. It is emptied when it holds `REMEMBERED` results.

    Parameters
    ----------
    is_symmetric : bool
        Whether the result for X and Y is that for Y and X.
    """

    def __init__(self, is_symmetric: bool) -> None:
        self._is_symmetric = is_symmetric
        self._memory: dict[tuple[int, ...], Memory] = {}
        # Results that are not yet sorted in: results for all features at once are often never asked for again.
        self._unread: list[tuple[Sequence[Candidate] | np.ndarray, int, tuple[int, ...], CIResults]] = []
        self._n_results = 0
        # The results of each query, after those that were added one by one.
        self._queries: list[CIResults | list[CIResult]] = [[]]

    @property
    def is_empty(self) -> bool:
        """Whether there is no result in it."""
        return not self._memory and not self._unread

    def known(
        self, candidates: Iterable[Candidate], target: int, conditions: tuple[int, ...]
    ) -> dict[Candidate, CIResult]:
        """Return the results that are here, of either direction if the test is symmetric."""
        known: dict[Candidate, CIResult] = {}
        if self._unread:
            self._read_up()
        memory = self._memory.get(conditions)
        if memory:
            of_target = memory.get(target, {})
            for candidate in candidates:
                found = of_target.get(candidate)
                if found is None and self._is_symmetric and candidate in memory:
                    found = memory[candidate].get(target)
                if found is not None:
                    known[candidate] = self._queries[found >> BITS][found & (2**BITS - 1)]
        return known

    def add_one(self, candidate: Candidate, target: int, conditions: tuple[int, ...], result: CIResult) -> None:
        """Keep one result."""
        self._make_room(1)
        singles = self._queries[0]
        self._memory.setdefault(conditions, {}).setdefault(target, {})[candidate] = len(singles)
        singles.append(result)

    def add(
        self, candidates: Sequence[Candidate] | np.ndarray, target: int, conditions: tuple[int, ...], results: CIResults
    ) -> None:
        """Keep the results of a query."""
        self._make_room(len(candidates))
        self._unread.append((candidates, target, conditions, results))

    def clear(self) -> None:
        """Forget all results."""
        self._memory, self._unread, self._n_results, self._queries = {}, [], 0, [[]]

    def _make_room(self, n_results: int) -> None:
        if self._n_results + n_results > REMEMBERED:
            self.clear()
        self._n_results += n_results

    def _read_up(self) -> None:
        for candidates, target, conditions, results in self._unread:
            memory = self._memory.setdefault(conditions, {}).setdefault(target, {})
            candidates = candidates.tolist() if isinstance(candidates, np.ndarray) else candidates
            first = len(self._queries) << BITS
            memory.update(zip(candidates, range(first, first + len(candidates)), strict=True))
            self._queries.append(results)
        self._unread = []
