"""Columns of a table: single dense or sparse ones, and columns of a wide matrix, created on demand."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, overload

import numpy as np

from .cards import BOOLEAN, CATEGORICAL, INTEGER, NUMERIC

#: The part of a survival target that says whether the event was observed, as 0 or 1.
EVENT = "event"
#: First rows, in which most columns vary.
FIRST_ROWS = 64


@dataclass(frozen=True)
class SparseValues:
    """Non-zero entries of a column of length `n_rows`: `rows`, ascending, and `values`, both of shape (nnz,)."""

    rows: np.ndarray
    values: np.ndarray
    n_rows: int

    def dense(self, dtype: np.dtype | type = np.float64) -> np.ndarray:
        """Return the column as an array, shape (n_rows,)."""
        out = np.zeros(self.n_rows, dtype=dtype)
        out[self.rows] = self.values
        return out

    def take(self, rows: np.ndarray) -> SparseValues:
        """Return the column at `rows`: unique in any order, or ascending with repeats."""
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
        Name, unique in a table.
    kind : str
        ``numeric``, ``integer``, ``boolean`` or ``categorical``.
    values : ndarray of shape (n,) or SparseValues
        Numbers; for a categorical column the codes 0 .. len(levels) - 1. Missing: NaN, or code -1.
    levels : tuple of str
        Labels of a categorical column, else empty.
    """

    name: str
    kind: str
    values: np.ndarray | SparseValues
    levels: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.n_rows if isinstance(self.values, SparseValues) else len(self.values)

    def numbers(self) -> np.ndarray:
        """Return the column as float64, shape (n,); codes for a categorical column."""
        if isinstance(self.values, SparseValues):
            return self.values.dense()
        return np.asarray(self.values, dtype=np.float64)

    def cells(self) -> np.ndarray:
        """Return the dense column in its own dtype: integers beyond 2**53, which floats would round, are exact."""
        return self.values.dense() if isinstance(self.values, SparseValues) else self.values

    @property
    def balanced_by(self) -> np.ndarray:
        """Numbers of the rows, (n,), by which parts of a target's rows are made alike."""
        return np.asarray(self.values)

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
        """Whether the column has at most one value besides missing cells."""
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


@dataclass(frozen=True)
class TargetColumn(Column):
    """A target of a kind beside classes and numbers, with further numbers of each row.

    Parameters
    ----------
    name, kind, values, levels
        As of `Column`, without sparse values.
    target_kind : str
        ``survival``, ``count``, ``ordered``, ``share``, ``positive`` or ``"module:Class"``; `checked_target` sets it.
    parts : dict of str to ndarray of shape (n,)
        What belongs to the values, such as whether the event was observed at a time. See `targets/`.

    Examples
    --------
    >>> y = TargetColumn("days", "numeric", np.array([3.0, 5.0]), (), "survival", {"event": np.array([1, 0])})
    >>> y.take(np.array([1])).parts["event"].tolist()
    [0]
    """

    target_kind: str = ""
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def balanced_by(self) -> np.ndarray:
        """Ranks of the rows by event, then by time, (n,); the values without events."""
        if EVENT not in self.parts:
            return np.asarray(self.values)
        return np.unique(np.column_stack([self.parts[EVENT], self.values]), axis=0, return_inverse=True)[1].ravel()

    def take(self, rows: np.ndarray) -> TargetColumn:
        """Return the target at the given rows."""
        return replace(self, values=self.values[rows], parts={key: part[rows] for key, part in self.parts.items()})


def are_repeated(rows: np.ndarray) -> bool:
    """Return whether ascending rows contain repeats."""
    steps = np.diff(rows)
    return bool(len(steps) and (steps >= 0).all() and not steps.all())


def places_of(cells: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of a cell and its place, for each occurrence of the cell's row in ascending `rows`.

    >>> which, at = places_of(np.array([1, 4]), np.array([0, 1, 1, 2, 4]))
    >>> which.tolist(), at.tolist()
    ([0, 0, 1], [1, 2, 4])
    """
    first = np.searchsorted(rows, cells)
    counts = np.searchsorted(rows, cells, side="right") - first
    which = np.repeat(np.arange(len(cells)), counts)
    return which, first[which] + np.arange(len(which)) - (np.cumsum(counts) - counts)[which]


#: Number of cells of a matrix that are processed at a time, and of stored cells of a sparse one.
MATRIX_CELLS, SPARSE_CELLS = 2**22, 2**20


@dataclass(frozen=True, kw_only=True)
class WideColumns(Sequence[Column]):
    """Columns of one kind, stored as one block, followed by single columns (`more`), such as a target."""

    names: Sequence[str] = field(init=False)
    more: tuple[Column, ...] = ()

    @property
    @abstractmethod
    def kind(self) -> str:
        """Kind of the columns of the block."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def column(self, at: int) -> Column:
        """Return one column of the block."""

    @abstractmethod
    def take(self, rows: np.ndarray) -> Self:
        """Return all columns at some rows: unique in any order, or ascending with repeats."""

    @abstractmethod
    def at(self, positions: np.ndarray) -> Self:
        """Return some columns of the block, in the given order, and all of `more`."""

    @abstractmethod
    def first_with_gaps(self) -> int | None:
        """Return the first column of the block with a missing or infinite cell."""

    @abstractmethod
    def held_varying(self) -> np.ndarray:
        """Return which columns of the block have two values besides missing cells, shape (number of names,)."""

    def varying(self) -> np.ndarray:
        """Return which columns have two values besides missing cells, shape (d,)."""
        return np.append(self.held_varying(), [not column.is_constant() for column in self.more]).astype(bool)

    def __len__(self) -> int:
        return len(self.names) + len(self.more)

    @overload
    def __getitem__(self, at: int) -> Column: ...

    @overload
    def __getitem__(self, at: slice) -> list[Column]: ...

    def __getitem__(self, at: int | slice) -> Column | list[Column]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        return self.column(at) if at < len(self.names) else self.more[at - len(self.names)]

    def one_of_each(self) -> Iterator[Column]:
        """Yield one column of the block, and every single column."""
        if len(self.names):
            yield self.column(0)
        yield from self.more

    def first_incomplete(self) -> Column | None:
        """Return the first column with a missing or infinite cell."""
        at = self.first_with_gaps()
        if at is not None:
            return self[at]
        return next((column for column in self.more if column.n_missing() or column.n_infinite()), None)


@dataclass(frozen=True)
class MatrixColumns(WideColumns):
    """A matrix of shape (n, d), of booleans, whole numbers or floats, as a sequence of columns."""

    names: Sequence[str]
    matrix: np.ndarray

    @property
    def kind(self) -> str:
        """Kind of all columns."""
        return {"b": BOOLEAN, "i": INTEGER, "u": INTEGER}.get(self.matrix.dtype.kind, NUMERIC)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.matrix)

    def column(self, at: int) -> Column:
        """Return a column of the matrix."""
        values = self.matrix[:, at]
        return Column(self.names[at], self.kind, values.view(np.int8) if values.dtype.kind == "b" else values)

    def take(self, rows: np.ndarray) -> MatrixColumns:
        """Return the columns at some rows."""
        return replace(self, matrix=self.matrix[rows], more=tuple(column.take(rows) for column in self.more))

    def at(self, positions: np.ndarray) -> MatrixColumns:
        """Return some columns, in the given order; the memory layout of the matrix is preserved."""
        names, matrix = [self.names[at] for at in positions.tolist()], self.matrix
        is_by_column = matrix.flags.f_contiguous
        return replace(self, names=names, matrix=matrix.T[positions].T if is_by_column else matrix.take(positions, 1))

    def first_with_gaps(self) -> int | None:
        """Return the first column with a cell that is not finite."""
        if self.kind == NUMERIC:
            width = max(1, MATRIX_CELLS // max(1, len(self.matrix)))
            for start in range(0, self.matrix.shape[1], width):
                is_finite = np.isfinite(self.matrix[:, start : start + width]).all(axis=0)
                if not is_finite.all():
                    return start + int(np.argmin(is_finite))
        return None

    def held_varying(self) -> np.ndarray:
        """Return which columns vary. Most do within the first rows; only the others are read completely."""
        found = _vary(self.matrix[:FIRST_ROWS])
        left = np.flatnonzero(~found)
        width = max(1, MATRIX_CELLS // max(1, len(self.matrix)))
        for start in range(0, len(left) if len(self.matrix) > FIRST_ROWS else 0, width):
            some = left[start : start + width]
            found[some] = _vary(self.matrix[:, some])
        return found


@dataclass(frozen=True)
class SparseColumns(WideColumns):
    """A compressed sparse column (CSC) matrix as a sequence of columns.

    `starts`, (d + 1,), is the index pointer. `rows`, int32, and `values`, both (nnz,), are row indices, ascending
    within a column, and values; stored zeros are allowed. `height` is the number of rows, `is_kind` the kind of all
    columns.

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
        """Kind of all columns."""
        return self.is_kind

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.height

    def column(self, at: int) -> Column:
        """Return a column of the matrix."""
        cells = slice(self.starts[at], self.starts[at + 1])
        return Column(self.names[at], self.kind, SparseValues(self.rows[cells], self.values[cells], self.height))

    def blocks(self, most_cells: int) -> Iterator[tuple[int, int]]:
        """Yield ``(start, stop)`` of blocks of columns with at most this many cells, or of one column with more.

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
        if are_repeated(rows):
            which, at = places_of(self.rows, rows)
            before = np.concatenate([[0], np.cumsum(np.bincount(which, minlength=len(self.rows)))])
            return replace(
                self,
                starts=before[self.starts].astype(self.starts.dtype),
                rows=at.astype(self.rows.dtype),
                values=self.values[which],
                height=len(rows),
                more=tuple(column.take(rows) for column in self.more),
            )
        place = np.full(self.height, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        is_ordered = bool(np.all(np.diff(rows) > 0))
        starts, parts = np.zeros_like(self.starts), [(self.rows[:0], self.values[:0])]
        for start, stop in self.blocks(SPARSE_CELLS):
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

    def at(self, positions: np.ndarray) -> SparseColumns:
        """Return some of the columns, in the order asked."""
        names = [self.names[at] for at in positions.tolist()]
        first, sizes = self.starts[positions], np.diff(self.starts)[positions]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        cells = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
        return replace(self, names=names, starts=starts, rows=self.rows[cells], values=self.values[cells])

    def first_with_gaps(self) -> int | None:
        """Return the first column with a cell that is not finite."""
        if self.kind == NUMERIC and self.values.dtype.kind == "f":
            is_finite = np.isfinite(self.values)
            if not is_finite.all():
                return int(np.searchsorted(self.starts, np.argmin(is_finite), side="right")) - 1
        return None

    def held_varying(self) -> np.ndarray:
        """Return which columns vary, from their stored cells."""
        sizes = np.diff(self.starts)
        low, high = np.zeros(len(sizes)), np.zeros(len(sizes))
        filled = np.flatnonzero(sizes)
        if len(filled):
            low[filled] = np.fmin.reduceat(self.values, self.starts[filled])
            high[filled] = np.fmax.reduceat(self.values, self.starts[filled])
        has_zero = sizes < self.height
        low[has_zero], high[has_zero] = np.fmin(low[has_zero], 0), np.fmax(high[has_zero], 0)
        return np.less(low, high)


def _vary(cells: np.ndarray) -> np.ndarray:
    """Return which columns of cells, shape (n, d), have two values besides NaN."""
    if not len(cells):
        return np.zeros(cells.shape[1], dtype=bool)
    return np.less(np.fmin.reduce(cells, axis=0), np.fmax.reduce(cells, axis=0))
