"""The record of a bound CI test: cached results, and numbers of tests made and skipped for lack of rows."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..core.results import CIResult, CIResults
from .engines import Candidate

#: The largest number of results in a cache, about 200 bytes each.
REMEMBERED = 2_000_000

#: Target to candidate to the place of its result: objects per result cost a sixth of some searches' time in garbage
#: collection.
Memory = dict[int, dict[Candidate, int]]
_NOTHING: dict[Candidate, int] = {}


class ResultCache:
    """Results by conditioning set, target and candidate; emptied at `REMEMBERED` results.

    A place is an index: 0, 1, ... for results of queries, -1, -2, ... for single results, valid until results are
    added. With `is_symmetric`, results are shared between (X, Y) and (Y, X).
    """

    def __init__(self, is_symmetric: bool) -> None:
        self._is_symmetric = is_symmetric
        self.clear()

    @property
    def n_made(self) -> int:
        """Number of tests made for the cached results."""
        return self._n_results - self._n_given

    def keys(self) -> np.ndarray:
        """Return sorted 64-bit keys of the tests with cached results, equal in all processes; some may occur twice."""
        for conditions in [*self._unread]:
            self._given(conditions)
        asked: list[Candidate] = []
        groups: list[int] = []  # for each set and target: hash of the set, target, number of candidates
        for conditions, by_target in self._memory.items():
            of_set = hash((conditions,))
            for target, places in by_target.items():
                asked += places
                groups += of_set, target, len(places)
        of_sets, targets, sizes = np.array(groups, np.int64).reshape(-1, 3).T
        candidates = np.fromiter(map(hash, asked), np.int64, len(asked))
        given, targets = of_sets.repeat(sizes), targets.repeat(sizes)
        if self._is_symmetric:
            candidates, targets = np.minimum(candidates, targets), np.maximum(candidates, targets)
        return np.sort(_mixed(_mixed(given.view(np.uint64) + candidates.view(np.uint64)) + targets.view(np.uint64)))

    @property
    def is_empty(self) -> bool:
        """Whether the cache is empty."""
        return not self._n_results

    def place(self, candidate: Candidate, target: int, conditions: tuple[int, ...]) -> int | None:
        """Return the place of a result, in either direction if the test is symmetric; None if not cached."""
        memory = self._given(conditions)
        if memory is None:
            return None
        found = memory.get(target, _NOTHING).get(candidate)
        if found is None and self._is_symmetric:
            found = memory.get(candidate, _NOTHING).get(target)
        return found

    def places(self, candidates: Sequence[Candidate], target: int, conditions: tuple[int, ...]) -> list[int | None]:
        """Return the place of each candidate's result."""
        memory = self._given(conditions)
        if memory is None:
            return [None] * len(candidates)
        found = [*map(memory.get(target, _NOTHING).get, candidates)]
        if self._is_symmetric and None in found:
            for i, candidate in enumerate(candidates):
                if found[i] is None and candidate in memory:
                    found[i] = memory[candidate].get(target)
        return found

    def result(self, place: int) -> CIResult:
        """Return one result."""
        if place < 0:
            return self._singles[-1 - place]
        *numbers, n, reliable = self._together(place)[place].tolist()
        return CIResult(*numbers, int(n), bool(reliable))

    def results(self, places: Sequence[int]) -> CIResults:
        """Return some results."""
        if min(places, default=0) < 0:
            return CIResults.from_rows(map(self.result, places))
        fields = self._together(max(places, default=-1)).take(places, axis=0) if places else np.empty((0, 6))
        *numbers, n, reliable = np.ascontiguousarray(fields.T)
        return CIResults(*numbers, n.astype(np.int64), reliable.astype(bool))

    def add_one(self, candidate: Candidate, target: int, conditions: tuple[int, ...], result: CIResult) -> None:
        """Cache one result."""
        self._make_room(1)
        self._singles.append(result)
        self._memory.setdefault(conditions, {}).setdefault(target, {})[candidate] = -len(self._singles)

    def add(
        self,
        candidates: Sequence[Candidate] | np.ndarray,
        target: int,
        conditions: tuple[int, ...],
        results: CIResults,
        is_given: bool = False,
    ) -> None:
        """Cache the results of a query; those that are given cost no tests here."""
        self._make_room(len(candidates))
        self._n_given += is_given * len(candidates)
        self._unread.setdefault(conditions, []).append((candidates, target, self._n_in_queries))
        self._n_in_queries += len(candidates)
        self._apart.append(results)

    def clear(self) -> None:
        """Remove all results."""
        self._memory: dict[tuple[int, ...], Memory] = {}
        # Queries not in `_memory` yet: nothing else is asked given most sets.
        self._unread: dict[tuple[int, ...], list[tuple[Sequence[Candidate] | np.ndarray, int, int]]] = {}
        self._n_results = self._n_given = self._n_in_queries = self._n_together = 0
        # Fields of results, a row each; results of queries not yet among them; those added one by one.
        self._fields = np.empty((0, 6))
        self._apart: list[CIResults] = []
        self._singles: list[CIResult] = []

    def _make_room(self, n_results: int) -> None:
        if self._n_results + n_results > REMEMBERED:
            self.clear()
        self._n_results += n_results

    def _given(self, conditions: tuple[int, ...]) -> Memory | None:
        """Return the places of the results given a set; None if there are none."""
        if self._unread and (queries := self._unread.pop(conditions, None)):
            by_target = self._memory.setdefault(conditions, {})
            for candidates, target, first in queries:
                candidates = candidates.tolist() if isinstance(candidates, np.ndarray) else candidates
                places = zip(candidates, range(first, first + len(candidates)), strict=True)
                by_target.setdefault(target, {}).update(places)
        return self._memory.get(conditions)

    def _together(self, place: int) -> np.ndarray:
        """Return the fields of query results by place, at least up to a place."""
        if place >= self._n_together:
            if self._n_in_queries > len(self._fields):  # in place where the system can, so that little is copied
                self._fields.resize((self._n_in_queries + self._n_in_queries // 4, 6), refcheck=False)
            first = self._n_together
            for results in self._apart:
                rows = self._fields[first : first + len(results)].T
                for row, values in zip(rows, results.arrays, strict=True):
                    row[:] = values
                first += len(results)
            self._n_together, self._apart = first, []
        return self._fields


def n_different(keys: Sequence[np.ndarray]) -> int:
    """Return the number of different keys in sorted arrays.

    >>> n_different([np.array([1, 3, 3]), np.array([1, 2])])
    3
    """
    in_order = np.sort(np.concatenate(keys), kind="stable")  # merges; numpy's own `unique` takes ten times as long
    return min(1, len(in_order)) + int(np.count_nonzero(in_order[1:] != in_order[:-1]))


def _mixed(keys: np.ndarray) -> np.ndarray:
    """Return 64-bit numbers that differ in many bits where those given differ in few, and only there."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    return keys ^ (keys >> np.uint64(31))


def in_order(
    candidates: Sequence[Candidate],
    places: Sequence[int | None],
    known: CIResults,
    unknown: Sequence[Candidate],
    fresh: CIResults,
) -> CIResults:
    """Return the results of candidates, merging `known` places with fresh results."""
    if len(unknown) == len(candidates):
        return fresh.locked()
    at, next_known = {c: i for i, c in enumerate(unknown, len(known))}, iter(range(len(known)))
    order = [at[c] if place is None else next(next_known) for c, place in zip(candidates, places, strict=True)]
    return CIResults.joined([known, fresh]).take(np.array(order))


@dataclass
class Count:
    """Numbers of tests `n_made` and `n_not_made`; `first` is (candidate, others) of the smallest skipped test."""

    n_made: int = 0
    n_not_made: int = 0
    first: tuple[Candidate, tuple[int, ...]] | None = None

    @property
    def n_asked(self) -> int:
        """Number of all tests."""
        return self.n_made + self.n_not_made

    def add(self, n_made: int, n_not_made: int, first: tuple[Candidate, tuple[int, ...]] | None) -> None:
        """Add tests, with the first of the smallest skipped ones."""
        self.n_made += n_made
        self.n_not_made += n_not_made
        if first is not None and (self.first is None or len(first[1]) < len(self.first[1])):
            self.first = first


@dataclass
class Tally:
    """Counts of the conditional tests of a search: `all`, and those of the `last_round`.

    `last_round` counts the tests given the `n_admitted` columns at which a forward search ended; None for other
    searches.

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
        """Add the tests of a search, once even if several share it."""
        if search not in self._included:
            self._included.add(search)
            self.all.add(count.n_made, count.n_not_made, count.first)

    def see(self, candidates: Sequence[Candidate], reliable: Sequence[bool], others: tuple[int, ...]) -> None:
        """Count tests of candidates against the others of each test; reliable ones count as made."""
        not_made = [] if all(reliable) else [c for c, is_made in zip(candidates, reliable, strict=True) if not is_made]
        self.count(len(candidates) - len(not_made), not_made, others)

    def count(self, n_made: int, not_made: Sequence[Candidate], others: tuple[int, ...]) -> None:
        """Count tests: the number made, and the candidates that were skipped."""
        if len(others) == 1:
            return
        if others != self._others:
            self._others, self._given_these = others, Count()
        for count in (self.all, self._given_these):
            count.add(n_made, len(not_made), (not_made[0], others) if not_made else None)

    def leave_out(self, n: int, candidate: Candidate, others: tuple[int, ...]) -> None:
        """Count skipped tests given several sets, with the columns of the first."""
        if len(others) > 1:
            self.all.add(0, n, (candidate, others))

    def end_round(self, n_admitted: int) -> None:
        """Record that the latest tests, given `n_admitted` columns, admitted nothing, which ends a forward search."""
        self.last_round, self.n_admitted = self._given_these if n_admitted else Count(), n_admitted
