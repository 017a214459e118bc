"""The columns of a sparse matrix, which holds only the cells that are not zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .cards import NUMERIC
from .wide_columns import WideColumns

if TYPE_CHECKING:
    from .table import Column

#: Number of cells processed at a time.
CELLS = 2**20


@dataclass(frozen=True)
class SparseColumns(WideColumns):
    """A compressed sparse column matrix as a sequence of columns, followed by single columns.

    Parameters
    ----------
    names : sequence of str
        One per column of the matrix.
    starts : int64 ndarray of shape (d + 1,)
        Where each column's cells begin, and the last one's end.
    rows : int32 ndarray of shape (nnz,)
        Their rows, ascending within a column.
    values : ndarray of shape (nnz,)
        Their values; a stored zero is a zero like any other.
    height : int
        Number of rows of the matrix.
    is_kind : str
        ``numeric``, ``integer`` or ``boolean``, the same for every column.
    more : tuple of Column
        Columns that follow, such as a target; by keyword.

    Examples
    --------
    >>> columns = SparseColumns(["a", "b"], np.array([0, 2, 3]), np.array([0, 3]), np.array([5.0, 7.0]), 4, "numeric")
    >>> columns[0].values.dense()
    array([5., 0., 0., 7.])
    """

    names: Sequence[str]
    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    height: int
    is_kind: str

    @property
    def kind(self) -> str:
        """The kind of every column of the matrix."""
        return self.is_kind

    @property
    def n_rows(self) -> int:
        """Length of every column."""
        return self.height

    def column(self, at: int) -> Column:
        """Return a column of the matrix."""
        from .table import Column, SparseValues

        cells = slice(self.starts[at], self.starts[at + 1])
        return Column(self.names[at], self.kind, SparseValues(self.rows[cells], self.values[cells], self.height))

    def blocks(self, most_cells: int) -> Iterator[tuple[int, int]]:
        """Yield ``(start, stop)`` of blocks of columns that hold no more cells, unless one alone does.

        Examples
        --------
        >>> starts = np.array([0, 2, 3, 3, 9])
        >>> columns = SparseColumns(list("abcd"), starts, np.zeros(9), np.zeros(9), 10, "numeric")
        >>> list(columns.blocks(3))
        [(0, 3), (3, 4)]
        """
        start = 0
        while start < len(self.names):
            stop = int(np.searchsorted(self.starts, self.starts[start] + most_cells, side="right")) - 1
            stop = min(max(stop, start + 1), len(self.names))
            yield start, stop
            start = stop

    def take(self, rows: np.ndarray) -> SparseColumns:
        """Return the columns at some rows."""
        place = np.full(self.height, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        is_ordered = bool(np.all(np.diff(rows) > 0))
        starts, parts = np.zeros_like(self.starts), [(self.rows[:0], self.values[:0])]
        for start, stop in self.blocks(CELLS):
            cells, own_starts = slice(self.starts[start], self.starts[stop]), self.starts[start : stop + 1]
            at, values = place[self.rows[cells]], self.values[cells]
            kept = at >= 0
            n_kept = np.concatenate([[0], np.cumsum(kept)])
            starts[start + 1 : stop + 1] = starts[start] + n_kept[own_starts[1:] - own_starts[0]]
            at, values = at[kept], values[kept]
            if not is_ordered:
                of_column = np.repeat(np.arange(stop - start), np.diff(starts[start : stop + 1]))
                order = np.argsort(of_column * len(rows) + at)
                at, values = at[order], values[order]
            parts.append((at, values))
        at, values = map(np.concatenate, zip(*parts, strict=True))
        more = tuple(column.take(rows) for column in self.more)
        return replace(self, starts=starts, rows=at, values=values, height=len(rows), more=more)

    def first_with_gaps(self) -> int | None:
        """Return the first column of the matrix with a cell that is not a finite number."""
        if self.kind == NUMERIC and self.values.dtype.kind == "f":
            is_finite = np.isfinite(self.values)
            if not is_finite.all():
                return int(np.searchsorted(self.starts, np.argmin(is_finite), side="right")) - 1
        return None
