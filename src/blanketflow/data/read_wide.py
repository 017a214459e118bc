"""Reading features of a wide table: only the row groups that hold them. The layout is described in write_wide.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, NUMERIC
from ..core.matrix_columns import MatrixColumns
from ..core.sparse_columns import SparseColumns
from ..core.table import Column, SparseValues
from .arrow import joined, numbers_from_arrow
from .write_wide import DENSE, MIXED


class WideFile:
    """An open wide table.

    Parameters
    ----------
    file : ArtefactFile
        The file.
    form : str
        What the features are: ``sparse``, ``dense`` or ``mixed``.
    n_rows : int
        Rows of the table.
    """

    def __init__(self, file: Any, form: str, n_rows: int) -> None:
        self._file, self._form, self.n_rows = file, form, n_rows
        self._starts = np.concatenate([[0], np.cumsum(file.blocks)])
        #: How many features there are.
        self.n_features = int(self._starts[-2])

    def names(self) -> list[str]:
        """Return the names of all features."""
        groups = range(len(self._starts) - 2)
        return [name for i in groups for name in self._read(i, ["feature"]).column(0).to_pylist()]

    def last(self) -> list[Column]:
        """Return the groups, where there are any, and the target."""
        return self._single(self._read(len(self._starts) - 2))

    def block(self, start: int, stop: int) -> Sequence[Column]:
        """Return neighbouring features: as `SparseColumns` or `MatrixColumns`, or single ones of a mixed table."""
        if self._form == MIXED:
            return [column for part in self._parts(start, stop) for column in self._single(part)]
        kind = self._read(0, ["kind"]).column(0)[0].as_py()
        cells = "numbers" if kind == NUMERIC else "whole"
        names: list[str] = []
        if self._form == DENSE:
            matrix = None
            for part in self._parts(start, stop, ["feature", cells]):
                values = _flat(part.column(cells))[1].reshape(len(part), self.n_rows)
                if matrix is None:
                    matrix = np.empty((stop - start, self.n_rows), dtype=values.dtype)
                matrix[len(names) : len(names) + len(part)] = values
                names += part.column("feature").to_pylist()
            return MatrixColumns(names, (matrix.astype(bool) if kind == BOOLEAN else matrix).T)
        sizes, rows, values = [], [], []
        for part in self._parts(start, stop, ["feature", "rows", cells]):
            names += part.column("feature").to_pylist()
            for name, arrays in ((cells, values), ("rows", rows)):
                part_sizes, flat = _flat(part.column(name))
                arrays.append(flat)
            sizes.append(part_sizes)
        starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes), dtype=np.int64)])
        return SparseColumns(names, starts, np.concatenate(rows), np.concatenate(values), self.n_rows, kind)

    def at(self, positions: Sequence[int]) -> list[Column]:
        """Return single features, in the order asked."""
        wanted = np.asarray(positions, dtype=np.int64)
        groups = np.searchsorted(self._starts, wanted, side="right") - 1
        found: dict[int, Column] = {}
        for i in np.unique(groups).tolist():
            own = wanted[groups == i]
            found.update(zip(own.tolist(), self._single(self._read(i), own - self._starts[i]), strict=True))
        return [found[position] for position in positions]

    def _parts(self, start: int, stop: int, columns: list[str] | None = None) -> Iterator[Any]:
        """Yield what each row group holds of some neighbouring features."""
        first, last = np.searchsorted(self._starts, [start, stop - 1], side="right") - 1
        for i in range(first, last + 1):
            begin, end = self._starts[i : i + 2].tolist()
            lower = max(start, begin)
            yield self._read(i, columns).slice(lower - begin, min(stop, end) - lower)

    def _read(self, group: int, columns: list[str] | None = None) -> Any:
        return self._file.block(group, columns)

    def _single(self, group: Any, places: np.ndarray | None = None) -> list[Column]:
        """Return features of a row group one by one."""
        arrays = {name: joined(group.column(name)) for name in group.column_names}
        bounds = {name: numbers_from_arrow(arrays[name].offsets) for name in ("rows", "whole", "numbers")}
        flat = {name: numbers_from_arrow(arrays[name].values) for name in bounds}

        def cells(name: str, at: int) -> np.ndarray | None:
            start, stop = bounds[name][at : at + 2]
            return flat[name][start:stop] if arrays[name][at].is_valid else None

        columns = []
        for at in range(len(group)) if places is None else places.tolist():
            kind, rows, values = arrays["kind"][at].as_py(), cells("rows", at), cells("whole", at)
            values = cells("numbers", at) if values is None else values
            if kind == CATEGORICAL:
                values = values.astype(np.int32)
            levels = tuple(arrays["levels"][at].as_py())
            sparse = values if rows is None else SparseValues(rows, values, self.n_rows)
            columns.append(Column(arrays["feature"][at].as_py(), kind, sparse, levels))
        return columns


def _flat(chunked: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of an Arrow column of lists, none of them null, and the values of all."""
    lists = joined(chunked)
    bounds = numbers_from_arrow(lists.offsets)
    return np.diff(bounds), numbers_from_arrow(lists.values)[bounds[0] : bounds[-1]]
