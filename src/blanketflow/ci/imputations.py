"""Multiple imputation: each test on several imputed copies of the rows, pooled (`imputations: 5`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.design import is_complex
from ..core.results import CIResults
from ..core.table import Table
from .chance import Chance
from .engines import Candidate, columns_of
from .imputed_copies import imputed_copies
from .pairwise import chance_of, information_of

if TYPE_CHECKING:
    from .base import CITest

#: Returns the result of each test from those on the copies, and on all of them as one table.
Pool = Callable[[Sequence[CIResults], CIResults | None], CIResults]


class PooledEngine:
    """Asks the test's engines on m imputed copies of a table, and pools what they answer.

    Queries about complete columns alone are answered by one engine, since the copies are equal there. Results of rows
    with a design, such as clusters, are pooled by their p-values, which do not follow from their statistics. An engine
    that tests two sets of columns has `evaluate_pair` here, too.
    """

    def __init__(self, test: CITest, table: Table, seed: int, target: int | None, n_copies: int) -> None:
        self.test, self.n_rows, self.seed, self.target = test, table.n_rows, seed, target
        self._incomplete = {at for at, column in enumerate(table.columns) if column.n_missing()}
        self._by_design = is_complex(table.design)
        self.copies = imputed_copies(table, n_copies, seed, target)
        self.engines: list[Any] = list(map(self._prepared, self.copies))
        if hasattr(self.engines[0], "evaluate_pair"):
            self.evaluate_pair = self._evaluate_pair

    def _prepared(self, table: Table) -> Any:
        return self.test.prepare(table, self.seed, self.target)

    @cached_property
    def stacked(self) -> Any:
        """The engine on the rows of all copies together."""
        columns = [
            replace(column, values=np.concatenate([copy.columns[at].cells() for copy in self.copies]))
            for at, column in enumerate(self.copies[0].columns)
        ]
        return self._prepared(Table(columns))

    def evaluate(self, candidates: Sequence[int] | np.ndarray, target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate on every copy, and pool."""
        return self._tests("evaluate", list(map(int, candidates)), target, given, self._pool(self.test.pooled))

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns on every copy, and pool."""
        return self._tests("evaluate_sets", candidates, target, given, self.test.pooled_sets)

    def _evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        if self._incomplete.isdisjoint((*x, *y, *given)):
            return self.engines[0].evaluate_pair(x, y, given)
        return self.test.pooled_sets([engine.evaluate_pair(x, y, given) for engine in self.engines], None)

    def _pool(self, plain: Pool) -> Pool:
        return (lambda copies, _: self.test.pooled_by_design(copies)) if self._by_design else plain

    def _tests(
        self, name: str, candidates: Sequence[Any], target: int, given: tuple[int, ...], pool: Pool
    ) -> CIResults:
        def ask(engine: Any, asked: list[Any]) -> CIResults:
            return getattr(engine, name)(asked, target, given)

        differ = np.array([not self._incomplete.isdisjoint((*columns_of(c), target, *given)) for c in candidates])
        order = np.argsort(differ, kind="stable")
        n_equal, parts = len(candidates) - int(differ.sum()), []
        if n_equal:
            parts.append(ask(self.engines[0], [candidates[i] for i in order[:n_equal]]))
        if n_equal < len(candidates):
            asked = [candidates[i] for i in order[n_equal:]]
            stacked = ask(self.stacked, asked) if self.test.stacks_copies and not self._by_design else None
            parts.append(pool([ask(engine, asked) for engine in self.engines], stacked))
        return CIResults.joined(parts).take(np.argsort(order))

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return the mean I(X;Y|Z) of each candidate over the copies, in nats."""
        return np.mean([information_of(self.test, one, candidates, target, given) for one in self.engines], axis=0)

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return the mean of what `information` is by chance over the copies."""
        return Chance(*np.mean([chance_of(one, candidates, target, given) for one in self.engines], axis=0))

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return the mean H(X, Z) of each candidate over the copies, in nats."""
        return np.mean([one.entropy(candidates, given) for one in self.engines], axis=0)

    def samples_per_cell(self, columns: Sequence[int]) -> float:
        """Return the rows per cell of the joint table of some columns; infinite without cells."""
        count = getattr(self.engines[0], "n_cells", None)
        return np.inf if count is None else self.n_rows / count(columns)

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        """Return how many rows a test needs to be reliable; None if that is not known."""
        needed = getattr(self.engines[0], "rows_needed", None)
        return None if needed is None else needed(x, target, given)
