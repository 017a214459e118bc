"""The correlations of a table's columns: each is computed when first asked for, and kept while there is room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.table import Table
from .least_squares import standardised

#: Multiplications up to which the whole matrix is made at once: some 20 ms.
WHOLE_MATRIX = 2**28
#: Cells of a block of columns that is standardised at a time: 8 MiB.
BLOCK_CELLS = 2**20
#: Cells kept for the columns that were correlated with others: 128 MiB.
KEPT_CELLS = 2**24


class Correlations:
    """Correlations of the columns of one table, 0 for a constant column.

    A wide table never has its d x d matrix made. Kept are the standardised column and the row of correlations of each
    pivot (a target, a member of a conditioning set), the pivots used last, at most `KEPT_CELLS` in all.

    Parameters
    ----------
    table : Table
        Columns without missing cells.
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
        """Cut positions into blocks of at most `BLOCK_CELLS` cells, one column at least."""
        size = max(1, BLOCK_CELLS // max(1, self.table.n_rows))
        return [positions[start : start + size] for start in range(0, len(positions), size)]

    def between(self, pivots: Sequence[int], columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the correlations of pivots with columns, shape (pivots, columns), and the columns' variances, 0 or 1.

        Each is the product of two standardised columns, whatever was asked before.
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
        """Return a pivot's standardised column and its row of correlations, NaN where not yet known."""
        pivot = self._pivots.pop(position, None)
        if pivot is None:
            pivot = self.standardised([position])[0], np.full(len(self.table), np.nan)
        self._pivots[position] = pivot  # the one used last stands last
        if len(self._pivots) > self._n_kept:
            del self._pivots[next(iter(self._pivots))]
        return pivot
