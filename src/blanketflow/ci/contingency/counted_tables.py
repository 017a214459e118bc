"""The contingency tests on tables that were counted elsewhere: the same results, to the last bit, without rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import UnsupportedError
from ...core.results import CIResult, CIResults
from ..engines import Candidate, Chance, Counts, columns_of
from .contingency import ContingencyEngine

if TYPE_CHECKING:
    from .contingency import ContingencyTest


#: The columns of a table, by name.
Columns = tuple[str, ...]


def prepared(test: ContingencyTest, table: Any) -> CountedEngine:
    """Return the engine on a table without rows, which has the statistics that are known of them."""
    return CountedEngine(test, table.names, table.statistics)


class CountedEngine(ContingencyEngine):
    """Answers queries from `SufficientStatistics`, or from tables that are counted on demand.

    A test whose table was refused, since a cell is too small to be told or there are too many, is not reliable, and
    finds nothing.

    Attributes
    ----------
    refused : set of tuples of str
        The tables that were asked for and refused.
    """

    def __init__(self, test: ContingencyTest, names: Sequence[str], statistics: Counts) -> None:
        from ...kernels import counted_tables

        self._table_test, self._sum_of_terms = counted_tables.table_test, counted_tables.sum_of_terms
        self._names, self._statistics = names, statistics
        if statistics.cross_products is not None:
            raise UnsupportedError(
                f"{test.card.id} needs tables of counts, and cross products were added up. Set tables to relevance, "
                "pairs or triples in the agreement, or ci_test to fisher-z."
            )
        self.refused: set[tuple[str, ...]] = set()
        self._set_rules(test, statistics.n_rows)

    def evaluate_one(self, candidate: int, target: int, given: tuple[int, ...]) -> CIResult:
        """Test one candidate."""
        return self.evaluate([candidate], target, given)[0]

    def _tests(self, candidates: Sequence[Candidate], target: int, given: tuple[int, ...]) -> CIResults:
        results = self._empty_results(len(candidates))
        tables = self._tables(map(columns_of, candidates), (*given, target))
        most_levels = max((len(table) for table in tables if table is not None), default=1)
        n_combinations = self.n_cells(given)
        for i, table in enumerate(tables):
            if table is None:
                found = 0.0, 0.0, False, 0.0, 1.0
            else:
                n_y = table.shape[-1]
                cells = np.ascontiguousarray(table.reshape(len(table), -1))
                found = self._table_test(cells, n_y, self.n_rows, most_levels, n_combinations, *self._rules)
            arrays = results.statistic, results.dof, results.reliable, results.log_p, results.p_value
            for array, value in zip(arrays, found, strict=True):
                array[i] = value
        return results

    def _test_many_marginally(self, candidates: np.ndarray, target: int) -> CIResults:
        # A column that was refused counts as constant: no test of it is reliable.
        n_levels = np.array([self.n_levels(c) for c in (*candidates.tolist(), target)])
        n_levels[np.isinf(n_levels)] = 1.0
        n_x, n_y = n_levels[:-1], n_levels[-1]
        found = self._tests(candidates.tolist(), target, ())
        judged = self._judged(found.statistic, (n_x - 1.0) * (n_y - 1.0), self.test.min_samples_per_cell * n_x * n_y)
        judged.reliable &= found.reliable
        judged.p_value[:], judged.log_p[:] = found.p_value, found.log_p
        return judged

    def _g2(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        return self._tests(candidates.tolist(), target, given).statistic

    def information_and_chance(
        self, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, Chance]:
        """Return `information` and `chance`."""
        return self.information(candidates, target, given), self.chance(candidates, target, given)

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return what `information` is by chance; 0 where the table was refused."""
        tables = self._tables([(candidate,) for candidate in candidates.tolist()], (*given, target))
        return Chance.joined([Chance.none(1) if table is None else self._chance_in(table) for table in tables])

    def _chance_in(self, table: np.ndarray) -> Chance:
        """Return it from the table of X, Z and Y."""
        cells = table.reshape(len(table), -1, table.shape[-1])
        by_stratum = cells.sum(axis=2).T, cells.sum(axis=0)
        of_x, of_y = ((c[c > 0], np.cumsum([0, *np.count_nonzero(c, axis=1)])) for c in by_stratum)
        return self._chance_of(of_x, of_y)

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats; 0 where the table was refused."""
        tables = self._tables([(candidate,) for candidate in candidates.tolist()], given)
        terms = [None if table is None else self._sum_of_terms(table.ravel(), *self.fixed_point) for table in tables]
        of_all = self.n_rows * np.log(self.n_rows) * self.scale
        sums = np.array([of_all if one is None else one for one in terms], dtype=np.float64)
        return np.log(self.n_rows) - sums / self.scale / self.n_rows

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns as one variable, whose levels are the combinations that occur."""
        return self._tests(candidates, target, given)

    def n_levels(self, column: int) -> float:
        """Return how many levels of a column occur; infinitely many, since no test is reliable, if it was refused."""
        if column not in self._levels:
            table = self._tables([(column,)], ())[0]
            self._levels[column] = math.inf if table is None else float(len(table))
        return self._levels[column]

    def _tables(self, sets: Iterable[tuple[int, ...]], others: tuple[int, ...]) -> list[np.ndarray | None]:
        """Return the tables of sets of columns with some others: the levels that occur of each, those of a set joint.

        None where it was refused. Raises `TablesNotCounted` with all that are missing.
        """
        asked, found = [(members, tuple(self._names[at] for at in (*members, *others))) for members in sets], []
        for (members, names), table in zip(
            asked, self._statistics.counted_each([names for _, names in asked]), strict=True
        ):
            if table is None:
                self.refused.add(self._statistics.in_order(names))
            else:
                table = table.reshape(-1, *table.shape[len(members) :])
                for axis in range(table.ndim):
                    occurs = table.sum(axis=tuple(at for at in range(table.ndim) if at != axis)) > 0
                    table = table if occurs.all() else table.compress(occurs, axis=axis)
            found.append(table)
        return found
