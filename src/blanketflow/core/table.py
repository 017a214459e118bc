"""The table that tests, methods and models read: named columns of known kind, dense or sparse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .cards import BOOLEAN, CATEGORICAL, INTEGER, NUMERIC
from .errors import DataError, UnknownNameError, did_you_mean


@dataclass(frozen=True)
class SparseValues:
    """The non-zero entries of one column of length `n_rows`: `rows` (ascending) and `values`, shape (nnz,)."""

    rows: np.ndarray
    values: np.ndarray
    n_rows: int

    def dense(self) -> np.ndarray:
        """Return the whole column, shape (n_rows,)."""
        out = np.zeros(self.n_rows, dtype=np.float64)
        out[self.rows] = self.values
        return out

    def take(self, rows: np.ndarray) -> SparseValues:
        """Return the column at `rows` (distinct, any order)."""
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

    def numbers(self) -> np.ndarray:
        """Return the column as float64, shape (n,); a categorical column gives its codes."""
        if isinstance(self.values, SparseValues):
            return self.values.dense()
        return np.asarray(self.values, dtype=np.float64)

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

    def n_infinite(self) -> int:
        """Return the number of infinite cells."""
        values = self.values.values if isinstance(self.values, SparseValues) else self.values
        return int(np.count_nonzero(np.isinf(values))) if values.dtype.kind == "f" else 0

    def take(self, rows: np.ndarray) -> Column:
        """Return the column at the given rows."""
        if isinstance(self.values, SparseValues):
            return replace(self, values=self.values.take(rows))
        return replace(self, values=self.values[rows])


class Table:
    """Columns of one length, found by name or position.

    Parameters
    ----------
    columns : sequence of Column
        At least one; names must differ.

    Raises
    ------
    DataError
        If two columns share a name.

    Examples
    --------
    >>> table = Table([Column("a", "numeric", np.array([1.0, 2.0])), Column("b", "integer", np.array([3, 4]))])
    >>> table.names, table.n_rows
    (['a', 'b'], 2)
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self.names = [column.name for column in self.columns]
        self._positions: dict[str | int, int] = {name: i for i, name in enumerate(self.names)}
        if len(self._positions) != len(self.names):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})[:5]
            raise DataError(f"column names must differ, but these occur more than once: {twice}. Rename them.")
        self._positions.update((i, i) for i in range(len(self.names)))
        first = self.columns[0].values if self.columns else np.empty(0)
        self.n_rows = first.n_rows if isinstance(first, SparseValues) else len(first)

    def __len__(self) -> int:
        return len(self.columns)

    def position(self, key: str | int) -> int:
        """Return the position of a column given by name or position."""
        position = self._positions.get(key)
        if position is not None:
            return position
        if isinstance(key, str):
            raise UnknownNameError(f"no column {key!r} in the table. {did_you_mean(key, self.names)}")
        raise UnknownNameError(f"no column {key} in a table of {len(self.columns)} columns, counted from 0.")

    def __getitem__(self, key: str | int) -> Column:
        return self.columns[self.position(key)]

    def take(self, rows: np.ndarray) -> Table:
        """Return the table at the given rows (positions, any order)."""
        rows = np.asarray(rows)
        return Table([column.take(rows) for column in self.columns])

    def select(self, keys: Iterable[str | int]) -> Table:
        """Return the table of the given columns."""
        return Table([self[key] for key in keys])

    def matrix(self, keys: Iterable[str | int] | None = None) -> np.ndarray:
        """Return columns as float64, shape (n, number of columns), Fortran order."""
        columns = self.columns if keys is None else [self[key] for key in keys]
        out = np.empty((self.n_rows, len(columns)), dtype=np.float64, order="F")
        for j, column in enumerate(columns):
            out[:, j] = column.numbers()
        return out


def column_from_array(name: str, values: np.ndarray) -> Column:
    """Make a column from a 1-D array, reading its kind from the dtype.

    Objects, strings and pandas categoricals become categorical with sorted levels; None and NaN are missing.
    """
    values = np.asarray(values)
    if values.dtype.kind == "b":
        return Column(name, BOOLEAN, values.astype(np.int8))
    if values.dtype.kind in "iu":
        return Column(name, INTEGER, values)
    if values.dtype.kind == "f":
        return Column(name, NUMERIC, values)
    if values.dtype.kind == "c":
        raise DataError(f"column {name!r}: Complex data not supported. Split it into its real and imaginary parts.")
    labels = np.array([None if _is_missing(v) else str(v) for v in values.tolist()], dtype=object)
    return categorical(name, labels)


def _is_missing(value: object) -> bool:
    # pandas' NA answers comparisons with itself, so types come first.
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def categorical(name: str, labels: np.ndarray) -> Column:
    """Make a categorical column from text labels, None where missing. Levels are sorted, numbers by value."""
    present = [label for label in labels if label is not None]
    levels = sort_labels(set(present))
    codes = {label: code for code, label in enumerate(levels)}
    values = np.fromiter((-1 if v is None else codes[v] for v in labels), dtype=np.int32, count=len(labels))
    return Column(name, CATEGORICAL, values, tuple(levels))


def sort_labels(labels: Iterable[str]) -> list[str]:
    """Sort text labels, by value if all are numbers.

    Examples
    --------
    >>> sort_labels({"10", "9"})
    ['9', '10']
    """
    labels = list(labels)
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)
