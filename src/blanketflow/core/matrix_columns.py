"""The columns of a dense matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .cards import BOOLEAN, INTEGER, NUMERIC
from .wide_columns import WideColumns

if TYPE_CHECKING:
    from .table import Column

#: Number of cells processed at a time.
CELLS = 2**22


@dataclass(frozen=True)
class MatrixColumns(WideColumns):
    """A matrix as a sequence of columns, followed by single columns.

    Parameters
    ----------
    names : sequence of str
        One per column of the matrix.
    matrix : ndarray of shape (n, d)
        Booleans, whole numbers or floats.
    more : tuple of Column
        Columns that follow, such as a target; by keyword.
    """

    names: Sequence[str]
    matrix: np.ndarray

    @property
    def kind(self) -> str:
        """The kind of every column of the matrix."""
        return {"b": BOOLEAN, "i": INTEGER, "u": INTEGER}.get(self.matrix.dtype.kind, NUMERIC)

    @property
    def n_rows(self) -> int:
        """Length of every column."""
        return len(self.matrix)

    def column(self, at: int) -> Column:
        """Return a column of the matrix."""
        from .table import Column

        values = self.matrix[:, at]
        return Column(self.names[at], self.kind, values.view(np.int8) if values.dtype.kind == "b" else values)

    def take(self, rows: np.ndarray) -> MatrixColumns:
        """Return the columns at some rows."""
        return replace(self, matrix=self.matrix[rows], more=tuple(column.take(rows) for column in self.more))

    def first_with_gaps(self) -> int | None:
        """Return the first column of the matrix with a cell that is not a finite number."""
        if self.kind == NUMERIC:
            width = max(1, CELLS // max(1, len(self.matrix)))
            for start in range(0, self.matrix.shape[1], width):
                is_finite = np.isfinite(self.matrix[:, start : start + width]).all(axis=0)
                if not is_finite.all():
                    return start + int(np.argmin(is_finite))
        return None
