"""One column of a table: named cells of known kind, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .cards import BOOLEAN, CATEGORICAL
from .repeated_rows import are_repeated, places_of

#: Rows that tell of most columns that they vary.
FIRST_ROWS = 64


@dataclass(frozen=True)
class SparseValues:
    """The non-zero entries of one column of length `n_rows`: `rows` (ascending) and `values`, shape (nnz,)."""

    rows: np.ndarray
    values: np.ndarray
    n_rows: int

    def dense(self, dtype: np.dtype | type = np.float64) -> np.ndarray:
        """Return the whole column, shape (n_rows,)."""
        out = np.zeros(self.n_rows, dtype=dtype)
        out[self.rows] = self.values
        return out

    def take(self, rows: np.ndarray) -> SparseValues:
        """Return the column at `rows`: distinct in any order, or ascending with repeats."""
        if are_repeated(rows):
            which, at = places_of(self.rows, rows)
            return SparseValues(at, self.values[which], len(rows))
        place = np.full(self.n_rows, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        at = place[self.rows]
        kept = at >= 0
        order = np.argsort(at[kept], kind="stable")
        return SparseValues(at[kept][order], self.values[kept][order], len(rows))


@dataclass(frozen=True)
class Column:
    """One named column.

    Parameters
    ----------
    name : str
        Its name, unique in a table.
    kind : str
        ``numeric``, ``integer``, ``boolean`` or ``categorical``.
    values : ndarray of shape (n,) or SparseValues
        Numbers; for a categorical column the codes 0 .. len(levels) - 1. Missing: NaN, or code -1.
    levels : tuple of str
        Labels of a categorical column, empty otherwise.
    """

    name: str
    kind: str
    values: np.ndarray | SparseValues
    levels: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Its length."""
        return self.values.n_rows if isinstance(self.values, SparseValues) else len(self.values)

    def numbers(self) -> np.ndarray:
        """Return the column as float64, shape (n,); a categorical column gives its codes."""
        if isinstance(self.values, SparseValues):
            return self.values.dense()
        return np.asarray(self.values, dtype=np.float64)

    def cells(self) -> np.ndarray:
        """Return the column as it is held, dense: whole numbers beyond 2**53, which floats would round, are exact."""
        return self.values.dense() if isinstance(self.values, SparseValues) else self.values

    @property
    def is_discrete(self) -> bool:
        """Whether the column is categorical or boolean."""
        return self.kind in (CATEGORICAL, BOOLEAN)

    def n_missing(self) -> int:
        """Return the number of missing cells."""
        if self.kind == CATEGORICAL:
            return int(np.count_nonzero(self.values < 0))
        values = self.values.values if isinstance(self.values, SparseValues) else self.values
        return int(np.count_nonzero(np.isnan(values))) if values.dtype.kind == "f" else 0

    def missing(self) -> np.ndarray:
        """Return which cells are missing, shape (n,)."""
        cells = self.cells()
        if self.kind == CATEGORICAL:
            return cells < 0
        return np.isnan(cells) if cells.dtype.kind == "f" else np.zeros(len(cells), dtype=bool)

    def n_infinite(self) -> int:
        """Return the number of infinite cells."""
        values = self.values.values if isinstance(self.values, SparseValues) else self.values
        return int(np.count_nonzero(np.isinf(values))) if values.dtype.kind == "f" else 0

    def is_constant(self) -> bool:
        """Whether there is at most one value besides missing cells; the range of finite numbers may be infinite."""
        values = self.values
        if isinstance(values, SparseValues):
            values = np.append(values.values, [0] * (len(values.values) < values.n_rows))  # the others are zeros
        return not any(map(self._varies, (values[:FIRST_ROWS], values)))  # most vary within the first rows

    def _varies(self, values: np.ndarray) -> bool:
        values = values[values >= 0] if self.kind == CATEGORICAL else values[~np.isnan(values)]
        return bool(len(values)) and bool(values.min() != values.max())

    def take(self, rows: np.ndarray) -> Column:
        """Return the column at the given rows."""
        if isinstance(self.values, SparseValues):
            return replace(self, values=self.values.take(rows))
        return replace(self, values=self.values[rows])
