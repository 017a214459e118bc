"""The contingency tests on a table in a mapped file: tables are counted from packed codes, with the same results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...core.results import CIResults
from ...core.sufficient_statistics import Columns
from ..engines import Candidate
from .binning import Coder
from .chance import Chance
from .contingency import ContingencyEngine
from .counted_tables import CountedEngine
from .packed_codes import MOST_CODES, PackedCodes, PackedTables

if TYPE_CHECKING:
    from ...core.table import Table
    from .contingency import ContingencyTest


class PackedTable(PackedTables):
    """The codes of a table's columns, packed in a mapped file when they are first asked for."""

    def __init__(self, coder: Coder) -> None:
        names = coder.table.names
        super().__init__(names, PackedCodes(coder.table.n_rows, len(names), in_file=True))
        self._code: Callable[[int], tuple[np.ndarray, int]] = coder.codes

    def n_levels(self, column: int) -> int:
        """Return how many levels of a column, by its position, occur."""
        if not self._packed.n_levels[column]:
            codes, n_levels = self._code(column)
            if n_levels > MOST_CODES:
                return n_levels
            self._packed.add((column, n_levels))
            self._packed.put(column, 0, codes)
        return int(self._packed.n_levels[column])

    def counted_each(self, sets: Sequence[Columns]) -> list[np.ndarray | None]:
        """Return the tables of columns; None for all where a column has too many levels, or one has too many cells."""
        if any(self.n_levels(self._place[name]) > MOST_CODES for name in {name for one in sets for name in one}):
            return [None] * len(sets)
        return super().counted_each(sets)


class PackedTableEngine(CountedEngine):
    """Answers queries from packed codes, which take a quarter of a byte a cell for four levels.

    Queries about tables of more than 2^25 cells are answered from the lists of rows.
    """

    def __init__(self, test: ContingencyTest, table: Table, target: int | None) -> None:
        self._rows_of = test, table, target
        self._packed_table = PackedTable(Coder(table, test.bins, test.binning, target))
        super().__init__(test, table.names, self._packed_table)

    @cached_property
    def _on_rows(self) -> ContingencyEngine:
        return ContingencyEngine(*self._rows_of)

    def n_levels(self, column: int) -> float:
        """Return how many levels of a column occur."""
        return float(self._packed_table.n_levels(column))

    def _tests(self, candidates: Sequence[Candidate], target: int, given: tuple[int, ...]) -> CIResults:
        found = super()._tests(candidates, target, given)
        if not self._refused_one():
            return found
        sets = [one for one in candidates if isinstance(one, tuple)]
        return (
            self._on_rows.evaluate_sets(sets, target, given)
            if sets
            else self._on_rows._tests([int(one) for one in candidates], target, given)
        )

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return what `information` is by chance."""
        found = super().chance(candidates, target, given)
        return self._on_rows.chance(candidates, target, given) if self._refused_one() else found

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats."""
        found = super().entropy(candidates, given)
        return self._on_rows.entropy(candidates, given) if self._refused_one() else found

    def _refused_one(self) -> bool:
        """Return whether a table was not counted since the last call."""
        refused, self.refused = bool(self.refused), set()
        return refused
