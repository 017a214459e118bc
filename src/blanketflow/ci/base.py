"""The interface of every CI test: configure, bind to a table once, then ask. Counting and caching happen here only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..core.cards import CATEGORICAL
from ..core.convert import as_table
from ..core.errors import DataError, ParameterError, UnsupportedError
from ..core.parameters import Configurable
from ..core.results import CIResult, CIResults
from ..core.table import Column, Table


class Engine(Protocol):
    """What a test prepares once a table: it answers queries by column position."""

    def evaluate(self, candidates: Sequence[int], target: int, given: Sequence[int]) -> CIResults:
        """Test each candidate against the target given the same conditioning set."""
        ...


@dataclass
class CITest(Configurable):
    """A configured CI test. A subclass adds a `card`, declared options and `prepare`."""

    @abstractmethod
    def prepare(self, table: Table, seed: int) -> Engine:
        """Return the engine that answers queries on this table."""

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the mutual information behind some results, in nats; only tests whose card lists that measure can."""
        raise UnsupportedError(f"{self.card.id} does not measure mutual information. Use g2 or fisher-z.")

    def supports(self, column: Column) -> str | None:
        """Return why this test cannot take a column, or None if it can."""
        limit = self.card.max_classes
        if column.kind in self.card.kinds or (column.kind == CATEGORICAL and limit and len(column.levels) <= limit):
            return None
        levels = f" with {len(column.levels)} levels" if column.levels else ""
        return f"column {column.name!r} is {column.kind}{levels}"

    def accepted(self) -> str:
        """Return in words which columns this test takes."""
        limit = self.card.max_classes
        return ", ".join([*self.card.kinds, *([f"categorical (up to {limit} levels)"] if limit else [])])

    def bind(self, X: Any, *, seed: int = 0) -> BoundTest:
        """Bind the test to a table.

        Parameters
        ----------
        X : Table, DataFrame, ndarray or scipy sparse matrix of shape (n, d)
            Without missing cells. Text, boolean and categorical columns are discrete.
        seed : int, default=0
            Where a resampling test takes its random numbers from.

        Raises
        ------
        UnsupportedError
            If the test cannot take a column; the message names it.
        DataError
            If cells are missing.
        ParameterError
            If an option is out of range.
        """
        self.check(f"CI test {self.card.id!r}")
        table = as_table(X)
        for column in table.columns:
            reason = self.supports(column)
            if reason:
                raise UnsupportedError(
                    f"{self.card.id} takes {self.accepted()} columns, but {reason}. "
                    "Drop or recode that column, or choose another test (blanketflow.list_ci_tests())."
                )
            if column.n_missing():
                raise DataError(
                    f"column {column.name!r} has {column.n_missing()} missing cells. Impute or drop them first."
                )
        return BoundTest(self, table, seed)


class BoundTest:
    """A test bound to one table: answers, counts and remembers.

    The memory lives and dies with this object, so it can never mix tests, options or tables. A pair is unordered in it
    only where the test's card says that the test is symmetric.

    Attributes
    ----------
    n_tests : int
        Tests computed so far; answers from memory do not count.
    """

    def __init__(self, test: CITest, table: Table, seed: int = 0) -> None:
        self.test_config = test
        self.card = test.card
        self.table = table
        self.unreliable = getattr(test, "unreliable", "use")
        self.n_tests = 0
        self._engine = test.prepare(table, seed)
        self._memory: dict[tuple[int, int, frozenset[int]], CIResult] = {}

    def test(self, x: str | int, y: str | int, given: Iterable[str | int] = ()) -> CIResult:
        """Test X independent of Y given a conditioning set.

        Parameters
        ----------
        x, y : str or int
            Columns, by name or position. Where the test is not symmetric, `y` is the target that is predicted.
        given : iterable of str or int
            The conditioning set.

        Returns
        -------
        CIResult
            Statistic, p-value, log p, degrees of freedom, rows, reliable.
        """
        return self.test_many([x], y, given)[0]

    def test_many(self, xs: Sequence[str | int], y: str | int, given: Iterable[str | int] = ()) -> CIResults:
        """Test many candidates against one target given one conditioning set.

        Returns
        -------
        CIResults
            Arrays in the order of `xs`.

        Raises
        ------
        ParameterError
            If a column occurs twice in one query.
        """
        target = self.table.position(y)
        conditions = tuple(sorted({self.table.position(z) for z in given}))
        candidates = [self.table.position(x) for x in xs]
        if target in conditions or target in candidates or not set(candidates).isdisjoint(conditions):
            raise ParameterError("a test needs X, Y and the conditioning set to be different columns.")
        keys = [self._key(x, target, conditions) for x in candidates]
        missing = list(dict.fromkeys(x for x, key in zip(candidates, keys, strict=True) if key not in self._memory))
        if missing:
            fresh = self._engine.evaluate(missing, target, conditions)
            self.n_tests += len(missing)
            self._memory.update(zip((self._key(x, target, conditions) for x in missing), fresh, strict=True))
        return CIResults.from_rows(self._memory[key] for key in keys)

    def _key(self, x: int, y: int, given: tuple[int, ...]) -> tuple[int, int, frozenset[int]]:
        return (min(x, y), max(x, y), frozenset(given)) if self.card.symmetric else (x, y, frozenset(given))


def constant_results(n_candidates: int, n_rows: int) -> CIResults:
    """Return the answer of a test that has nothing to compare: statistic 0, p = 1, no degrees of freedom."""
    zeros = np.zeros(n_candidates)
    return CIResults(
        zeros, zeros + 1.0, zeros.copy(), zeros.copy(), np.full(n_candidates, n_rows), np.ones(n_candidates, dtype=bool)
    )
