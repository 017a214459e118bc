"""Test-wise deletion: each test on the rows that are complete for its columns (`missing: pairwise`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.errors import DataError
from ...core.results import CIResults
from ...core.table import Table
from ..contingency.chance import Chance
from ..engines import Candidate, columns_of, constant_results
from ..unbound import UnboundTest

#: With fewer complete rows there is nothing to test.
FEWEST_ROWS = 2


class PairwiseEngine:
    """Answers each query by the test's own engine, on the rows where no column of the query is missing.

    The result for a candidate is that of the test bound to these rows and columns alone: bins and levels are those of
    the rows at hand, and `n` counts them. Candidates that are complete in the same rows share an engine.
    """

    def __init__(self, test: UnboundTest, table: Table, seed: int, target: int | None) -> None:
        if target is not None and table[target].n_missing():
            raise DataError(f"the target {table[target].name!r} has missing cells. Drop those rows first.")
        self.test, self.table, self.seed, self.target = test, table, seed, target
        self._observed = {at: ~c.missing() for at, c in enumerate(table.columns) if c.n_missing()}
        complete = [at for at in range(len(table)) if at not in self._observed]
        self._of_complete = self._prepared(complete, None) if complete else None

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate on the rows that are complete for it, the target and the conditioning set."""
        return self._tests("evaluate", list(map(int, candidates)), target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns on the rows that are complete for all of them."""
        return self._tests("evaluate_sets", candidates, target, given)

    def _tests(self, name: str, candidates: Sequence[Candidate], target: int, given: tuple[int, ...]) -> CIResults:
        found, order = [], []
        for at, engine, place, n_rows in self._groups(candidates, (target, *given)):
            order += at
            if engine is None:
                nothing = constant_results(len(at), n_rows)
                nothing.reliable[:] = False
                found.append(nothing)
            else:
                asked = [_placed(candidates[i], place) for i in at]
                found.append(getattr(engine, name)(asked, place[target], tuple(place[z] for z in given)))
        return CIResults.joined(found).take(np.argsort(order))

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return I(X;Y|Z) of each candidate in nats, on its complete rows; 0 where there are none."""
        found = np.zeros(len(candidates))
        for at, engine, place, _ in self._groups(candidates.tolist(), (target, *given)):
            if engine is not None:
                asked, conditions = np.array([place[candidates[i]] for i in at]), tuple(place[z] for z in given)
                found[at] = information_of(self.test, engine, asked, place[target], conditions)
        return found

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return what `information` is by chance, on the complete rows of each candidate."""
        found = Chance.none(len(candidates))
        for at, engine, place, _ in self._groups(candidates.tolist(), (target, *given)):
            if engine is not None:
                asked, conditions = np.array([place[candidates[i]] for i in at]), tuple(place[z] for z in given)
                found.mean[at], found.deviation[at] = chance_of(engine, asked, place[target], conditions)
        return found

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats, on its complete rows; 0 where there are none."""
        found = np.zeros(len(candidates))
        for at, engine, place, _ in self._groups(candidates.tolist(), given):
            if engine is not None:
                asked = np.array([place[candidates[i]] for i in at])
                found[at] = engine.entropy(asked, tuple(place[z] for z in given))
        return found

    def n_complete(self, columns: Iterable[int]) -> int:
        """Return how many rows are complete for some columns."""
        rows = self._complete(columns)
        return self.table.n_rows if rows is None else int(np.count_nonzero(rows))

    def samples_per_cell(self, columns: Sequence[int]) -> float:
        """Return the complete rows per cell of the joint table of some columns; infinite without cells."""
        _, engine, place, n_rows = next(self._groups([tuple(columns)], ()))
        count = getattr(engine, "n_cells", None)
        return math.inf if count is None else n_rows / count([place[column] for column in columns])

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        """Return how many complete rows a test needs to be reliable; None if that is not known."""
        _, engine, place, _ = next(self._groups([x], (target, *given)))
        needed = getattr(engine, "rows_needed", None)
        return None if needed is None else needed(_placed(x, place), place[target], tuple(place[z] for z in given))

    def _groups(
        self, candidates: Sequence[Candidate], others: tuple[int, ...]
    ) -> Iterator[tuple[list[int], Any, dict[int, int], int]]:
        """Yield which candidates have the same complete rows, their engine, where its columns are, and its rows.

        The engine is None where there are too few rows.
        """
        groups: dict[bytes | None, list[int]] = {}
        patterns: dict[bytes | None, np.ndarray | None] = {}
        for i, candidate in enumerate(candidates):
            rows = self._complete((*columns_of(candidate), *others))
            key = None if rows is None else np.packbits(rows).tobytes()
            groups.setdefault(key, []).append(i)
            patterns[key] = rows
        for key, at in groups.items():
            rows = patterns[key]
            if rows is None:
                complete = [column for column in range(len(self.table)) if column not in self._observed]
                yield at, self._of_complete, dict(zip(complete, range(len(complete)), strict=True)), self.table.n_rows
                continue
            kept = np.flatnonzero(rows)
            explained = () if self.target is None else (self.target,)  # which supervised binning looks at
            columns = sorted({*(c for i in at for c in columns_of(candidates[i])), *others, *explained})
            place = dict(zip(columns, range(len(columns)), strict=True))
            yield at, self._prepared(columns, kept) if len(kept) >= FEWEST_ROWS else None, place, len(kept)

    def _complete(self, columns: Iterable[int]) -> np.ndarray | None:
        """Return the mask of the rows that are complete for some columns, (n,); None if all are."""
        masks = [self._observed[column] for column in columns if column in self._observed]
        return np.logical_and.reduce(masks) if masks else None

    def _prepared(self, columns: list[int], rows: np.ndarray | None) -> Any:
        table = self.table.select(columns)
        target = None if self.target is None else columns.index(self.target)
        return self.test.prepare(table if rows is None else table.take(rows), self.seed, target)


def information_of(
    test: UnboundTest, engine: Any, candidates: np.ndarray, target: int, given: tuple[int, ...]
) -> np.ndarray:
    """Return I(X;Y|Z) in nats by an engine that measures it, or from the results of its tests."""
    if hasattr(engine, "information"):
        return engine.information(candidates, target, given)
    return test.mutual_information(engine.evaluate(candidates.tolist(), target, given))


def chance_of(engine: Any, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
    """Return what I(X;Y|Z) is by chance, by an engine that knows it; else it is the same for all columns."""
    return engine.chance(candidates, target, given) if hasattr(engine, "chance") else Chance.none(len(candidates))


def _placed(candidate: Candidate, place: dict[int, int]) -> Candidate:
    return tuple(place[column] for column in candidate) if isinstance(candidate, tuple) else place[candidate]
