"""Which tests of tables have enough rows to say anything, by the numbers of levels, before any is computed."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

from ..core.table import Table

#: A little more than the cells for which there are just enough rows, so that rounding does not decide.
SLACK = 1 + 1e-9


class EnoughRows:
    """How many levels the columns of a test may have, for as many rows per cell as the test needs.

    Parameters
    ----------
    engine : Engine
        What the test prepared, with `n_levels` of a column and `most_reliable_cells`.
    table : Table
        The table.
    strata : tuple of int
        The columns within which every test is made.
    """

    def __init__(self, engine: Any, table: Table, strata: tuple[int, ...]) -> None:
        self._n_levels, self._table = engine.n_levels, table
        self._seen, self._fewest = set[str](), math.inf
        self._most_cells = engine.most_reliable_cells * SLACK / math.prod(map(engine.n_levels, strata))

    def levels(self, columns: Collection[str]) -> list[float]:
        """Return the number of levels of each column."""
        return [*map(self._n_levels, self._table.places(columns))]

    def room(self, columns: Collection[str]) -> float:
        """Return how many levels may be left to the other columns of a test of some columns."""
        return self._most_cells / math.prod(self.levels(columns))

    def fewest(self, columns: Collection[str]) -> float:
        """Return at most as many levels as each of some columns has: the fewest of all columns asked about so far.

        So the columns that a search asks about again and again, always fewer of them, are read once, and no others.
        """
        if not self._seen.issuperset(columns):
            fresh = [column for column in columns if column not in self._seen]
            self._seen.update(fresh)
            self._fewest = min(self._fewest, *self.levels(fresh))
        return self._fewest
