"""The correlations of a table's columns, computed when first needed and kept while there is room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.table import Table
from .least_squares import standardised

#: The whole matrix is computed at once if it takes at most this many multiplications (about 20 ms).
WHOLE_MATRIX = 2**28
#: Number of cells of the columns that are standardised at once: 8 MiB.
BLOCK_CELLS = 2**20
#: Number of cells kept for pivots: 128 MiB.
KEPT_CELLS = 2**24


class Correlations:
    """Correlations of the columns of one table, 0 for a constant column.

    The d x d matrix of a wide table is never computed. Instead the standardised column and the row of correlations of
    each pivot (a target or a member of a conditioning set) are kept, for the most recent pivots, up to `KEPT_CELLS`.

    Parameters
    ----------
    table : Table
        A table without missing cells.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        n, d = table.n_rows, len(table)
        self._matrix: np.ndarray | None = None
        self._is_narrow = d * d * n <= WHOLE_MATRIX and d * d <= KEPT_CELLS
        self._n_kept = max(1, KEPT_CELLS // (n + d))
        self._pivots: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._variances = np.full(d, np.nan)

    def standardised(self, positions: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return columns with mean 0 and length 1, or 0 if constant, shape (m, n)."""
        columns = standardised(self.table.matrix(positions).T)
        self._variances[np.asarray(positions, dtype=np.intp)] = np.any(columns, axis=1)
        return columns

    def blocks(self, positions: np.ndarray) -> list[np.ndarray]:
        """Split positions into blocks of at most `BLOCK_CELLS` cells, but at least one column."""
        size = max(1, BLOCK_CELLS // max(1, self.table.n_rows))
        return [positions[start : start + size] for start in range(0, len(positions), size)]

    def between(self, pivots: Sequence[int], columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the correlations of pivots with columns, shape (pivots, columns), and the columns' variances, 0 or 1.

        Each is the product of two standardised columns, and does not depend on earlier queries.
        """
        if self._is_narrow:
            if self._matrix is None:
                values = self.standardised(range(len(self.table)))
                self._matrix = np.array([np.vecdot(values, column) for column in values])
            return self._matrix[np.asarray(pivots)[:, np.newaxis], columns], self._variances[columns]
        kept = [self._pivot(pivot) for pivot in pivots]
        found = np.array([row[columns] for _, row in kept])
        unknown = np.unique(columns[np.isnan(found).any(axis=0)])
        if len(unknown):
            for block in self.blocks(unknown):
                values = self.standardised(block)
                for column, row in kept:
                    row[block] = np.vecdot(values, column)
            found = np.array([row[columns] for _, row in kept])
        return found, self._variances[columns]

    def _pivot(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a pivot's standardised column and its row of correlations, NaN if not yet computed."""
        pivot = self._pivots.pop(position, None)
        if pivot is None:
            pivot = self.standardised([position])[0], np.full(len(self.table), np.nan)
        self._pivots[position] = pivot  # the most recent pivot is last
        if len(self._pivots) > self._n_kept:
            del self._pivots[next(iter(self._pivots))]
        return pivot
