"""Wide tables in Parquet: one row per feature, so that some features can be read without the others.

A row has the feature's name and kind, the levels of a categorical one, and its cells as a list: `whole` or `numbers`. A
sparse feature has only the cells that are not zero, and `rows` says where they stand. The last block of rows holds
the groups and the sampling weights, where there are any, and the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, NUMERIC
from ..core.table import Column, SparseValues
from ..core.wide_columns import MatrixColumns, SparseColumns, WideColumns
from .arrow import joined, numbers_from_arrow
from .artefacts import arrow_array, write_blocks
from .provenance import Provenance

#: Cells of a row group, about, and most features of one.
GROUP_CELLS, GROUP_FEATURES = 2**20, 2**16
#: What the features of a table are: one sparse matrix, one dense matrix, or neither.
SPARSE, DENSE, MIXED = "sparse", "dense", "mixed"


class WideFile:
    """An `ArtefactFile` that holds a wide table; a reader of some features reads only the blocks that hold them."""

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
        """Return the groups and the sampling weights, where there are any, and the target."""
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


class _Lists(NamedTuple):
    """A list for each feature: `sizes` of shape (k,), -1 where there is none, and the values of all in one array."""

    sizes: np.ndarray
    values: np.ndarray


class _Group(NamedTuple):
    """A row group: some features."""

    names: Sequence[str]
    kinds: Sequence[str]
    levels: Sequence[Sequence[str]]
    rows: _Lists
    whole: _Lists
    numbers: _Lists


def write_wide(path: str | Path, features: Sequence[Column], last: Sequence[Column], provenance: Provenance) -> None:
    """Write the features and the columns that follow them; the provenance's `extra` gets ``layout`` and ``n_rows``."""
    form, whole = layout(features), np.result_type(_whole_type(features), _whole_type(last))
    provenance = replace(provenance, extra=provenance.extra | {"layout": form, "n_rows": last[-1].n_rows})

    def blocks() -> Iterator[Any]:
        groups = (_group(features, block) for block in _blocks(features))
        return (_to_arrow(group, whole) for group in chain(groups, [_of_columns(last)]))

    options = {"write_statistics": False, "use_dictionary": form != DENSE}
    write_blocks(path, blocks, provenance, **options)


def layout(columns: Sequence[Column]) -> str:
    """Return the layout in which some columns are stored."""
    if isinstance(columns, WideColumns):
        return SPARSE if isinstance(columns, SparseColumns) else DENSE
    forms = {(column.kind, isinstance(column.values, SparseValues), _is_whole(column)) for column in columns}
    kind, is_sparse, is_whole = next(iter(forms))
    is_matrix = len(forms) == 1 and not is_sparse and kind != CATEGORICAL and is_whole == (kind != NUMERIC)
    return DENSE if is_matrix else MIXED


def _cells(column: Column) -> np.ndarray:
    return column.values.values if isinstance(column.values, SparseValues) else column.values


def _is_whole(column: Column) -> bool:
    """Whether the cells are stored as whole numbers, which excludes whole numbers with gaps."""
    return column.kind != NUMERIC and _cells(column).dtype.kind != "f"


def _whole_type(columns: Sequence[Column]) -> np.dtype:
    """Return a small signed type that holds all whole numbers of some columns."""
    found = {np.dtype(np.int8)}
    if isinstance(columns, WideColumns):
        held = columns.values if isinstance(columns, SparseColumns) else columns.matrix
        found |= {held.dtype} if columns.kind != NUMERIC and held.dtype.kind in "iu" else set()
        columns = columns.more
    for column in filter(_is_whole, columns):
        codes = column.kind == CATEGORICAL
        found.add(np.min_scalar_type(-1 - len(column.levels)) if codes else _cells(column).dtype)
    common = np.result_type(*found)
    return common if common.kind == "i" else np.dtype(np.int64)


def _blocks(columns: Sequence[Column]) -> Iterator[slice]:
    """Yield the features of each row group."""
    if isinstance(columns, SparseColumns):
        sizes = np.diff(columns.starts)
    elif isinstance(columns, WideColumns):
        sizes = np.full(len(columns), columns.n_rows)
    else:
        sizes = np.array([len(_cells(column)) for column in columns])
    ends = np.cumsum(np.maximum(sizes, GROUP_CELLS // GROUP_FEATURES))
    bounds = [0, *(np.flatnonzero(np.diff((ends - 1) // GROUP_CELLS)) + 1).tolist(), len(sizes)]
    yield from (slice(start, stop) for start, stop in pairwise(bounds))


def _group(columns: Sequence[Column], block: slice) -> _Group:
    if not isinstance(columns, WideColumns):
        return _of_columns(columns[block])
    k = block.stop - block.start
    none = _Lists(np.full(k, -1), np.empty(0))
    if isinstance(columns, SparseColumns):
        starts = columns.starts[block.start : block.stop + 1]
        at, sizes = slice(starts[0], starts[-1]), np.diff(starts)
        rows, cells = _Lists(sizes, columns.rows[at]), _Lists(sizes, columns.values[at])
    else:
        rows, cells = none, _Lists(np.full(k, columns.n_rows), columns.matrix[:, block].T.ravel())
    is_number = columns.kind == NUMERIC
    whole, numbers = (none, cells) if is_number else (cells, none)
    return _Group(columns.names[block], [columns.kind] * k, [()] * k, rows, whole, numbers)


def _of_columns(columns: Sequence[Column]) -> _Group:
    def lists(parts: Sequence[np.ndarray | None]) -> _Lists:
        there = [part for part in parts if part is not None]
        sizes = np.array([-1 if part is None else len(part) for part in parts])
        return _Lists(sizes, np.concatenate(there) if there else np.empty(0))

    return _Group(
        [column.name for column in columns],
        [column.kind for column in columns],
        [column.levels for column in columns],
        lists([c.values.rows if isinstance(c.values, SparseValues) else None for c in columns]),
        lists([_cells(c) if _is_whole(c) else None for c in columns]),
        lists([None if _is_whole(c) else _cells(c) for c in columns]),
    )


def _to_arrow(group: _Group, whole: np.dtype) -> Any:
    import pyarrow as pa

    def cells(lists: _Lists, dtype: Any) -> Any:
        values = np.ascontiguousarray(lists.values, dtype=dtype)
        kind = pa.from_numpy_dtype(values.dtype)
        return _list_array(lists.sizes, pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)]))

    labels = arrow_array([label for levels in group.levels for label in levels], "string")
    return pa.table(
        {
            "feature": arrow_array(group.names, "string"),
            "kind": arrow_array(group.kinds, "string"),
            "levels": _list_array(np.array([len(levels) for levels in group.levels]), labels),
            "rows": cells(group.rows, np.int32),
            "whole": cells(group.whole, whole),
            "numbers": cells(group.numbers, np.float64),
        }
    )


def _list_array(sizes: np.ndarray, values: Any) -> Any:
    """Return an Arrow array of lists; those of size -1 are null."""
    import pyarrow as pa

    offsets = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(np.maximum(sizes, 0), out=offsets[1:])
    known = np.packbits(sizes >= 0, bitorder="little")
    buffers = [pa.py_buffer(known), pa.py_buffer(offsets)]
    return pa.Array.from_buffers(pa.list_(values.type), len(sizes), buffers, children=[values])
