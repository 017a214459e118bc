"""The columns of a sparse matrix, of which only the cells that are not zero are held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .cards import NUMERIC
from .wide_columns import WideColumns

if TYPE_CHECKING:
    from .table import Column


@dataclass(frozen=True)
class SparseColumns(WideColumns):
    """A compressed sparse column matrix as a sequence of columns, with single ones behind it.

    Parameters
    ----------
    names : sequence of str
        One a column of the matrix.
    starts : int64 ndarray of shape (d + 1,)
        Where each column's cells begin, and the last one's end.
    rows : int32 ndarray of shape (nnz,)
        Their rows, ascending within a column.
    values : ndarray of shape (nnz,)
        Their values; a stored zero is a zero like any other.
    height : int
        Number of rows of the matrix.
    is_kind : str
        ``numeric``, ``integer`` or ``boolean``; that of every column.
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

    def take(self, rows: np.ndarray) -> SparseColumns:
        """Return the columns at some rows."""
        place = np.full(self.height, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        at = place[self.rows]
        kept = at >= 0
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        at, values = at[kept], self.values[kept]
        if np.any(np.diff(rows) < 0):
            of_column = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            order = np.lexsort((at, of_column))
            at, values = at[order], values[order]
        more = tuple(column.take(rows) for column in self.more)
        return replace(self, starts=starts, rows=at, values=values, height=len(rows), more=more)

    def first_with_gaps(self) -> int | None:
        """Return the first column of the matrix with a cell that is no finite number."""
        if self.kind == NUMERIC and self.values.dtype.kind == "f":
            is_finite = np.isfinite(self.values)
            if not is_finite.all():
                return int(np.searchsorted(self.starts, np.argmin(is_finite), side="right")) - 1
        return None
