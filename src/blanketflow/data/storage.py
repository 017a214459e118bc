"""The data artefact: one Parquet file with features, groups and target, read without pandas.

Wide tables have a row per feature instead of a column: thousands of Parquet columns cost each reader seconds, and rows
can be read in blocks of features.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, INTEGER, NUMERIC, TASKS
from ..core.column import MatrixColumns, SparseColumns, TargetColumn, WideColumns
from ..core.convert import counted_from_least
from ..core.errors import ArtefactError, DataError, did_you_mean
from ..core.mapped_file import kept_in
from ..core.table import Column, Design, SparseValues, Table
from .arrow import cell_bytes, column_from_arrow, column_to_arrow, joined, names_by_cells, numbers_from_arrow
from .artefacts import arrow_array, list_array, opened, write_blocks
from .beyond_memory import file_beyond
from .column_roles import RawTable
from .provenance import Provenance

# --- wide tables in Parquet: one row per feature, so that some features can be read without the others ----------------
#
# A row has the feature's name and kind, the levels of a categorical one, and its cells as a list: `whole` or `numbers`.
# A sparse feature has only the cells that are not zero, and `rows` has their rows. The last block of rows holds
# the groups and the sampling weights, where there are any, and the target.

#: Cells of a row group, about, and most features of one.
GROUP_CELLS, GROUP_FEATURES = 2**20, 2**16
#: What the features of a table are: one sparse matrix, one dense matrix, or neither.
SPARSE, DENSE, MIXED = "sparse", "dense", "mixed"


class WideFile:
    """An `ArtefactFile` of a wide table; a reader of some features reads only their blocks."""

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
        """Yield the cells of some neighbouring features in each row group."""
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
    """Return a small signed type for all whole numbers of some columns."""
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
        return list_array(lists.sizes, pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)]))

    labels = arrow_array([label for levels in group.levels for label in levels], "string")
    return pa.table(
        {
            "feature": arrow_array(group.names, "string"),
            "kind": arrow_array(group.kinds, "string"),
            "levels": list_array(np.array([len(levels) for levels in group.levels]), labels),
            "rows": cells(group.rows, np.int32),
            "whole": cells(group.whole, whole),
            "numbers": cells(group.numbers, np.float64),
        }
    )


#: Tables of more features are stored as wide ones. For a sparse matrix the limit is lower: the other layout is dense.
WIDE, WIDE_SPARSE = 2_000, 400

#: Most cells, rows times features, of a small part: as numbers, and in a sparse matrix, of which some tests make bits.
MOST_CELLS, MOST_CELLS_SPARSE = 2**26, 2**31

#: Part k of N of the features in table order, counted from 1.
Part = tuple[int, int]
WHOLE: Part = (1, 1)


@dataclass(frozen=True)
class StoredTable:
    """A data set as jobs use it: all or some features, the target and the numbers of the groups."""

    features: Table
    target: Column
    groups: np.ndarray | None
    #: `target`, `task`, `task_reason`, `missing`, `gaps` (missing cells by feature), `groups` (name of its stored
    #: column or None), `truth` and `n_test` (how many of the last rows are test rows), and `within` (name of its stored
    #: column) if it is set, `time` (the same) and `has_dates`, `clusters` if groups are those of the features' design,
    #: `weights` (name of the stored column), `target_parts` (stored column of each part of the target) and
    #: `target_levels` (its labels in order) if it has any, and what else `write_table` was given.
    extra: dict[str, Any]
    #: When each row was observed, if it is known.
    times: np.ndarray | None = None


def write_table(path: str | Path, raw: RawTable, provenance: Provenance, n_shards: int = 1) -> None:
    """Write a data set: features, then groups, strata, times and sampling weights if any, then the target.

    With shards it has so many blocks of rows. `StoredTable.extra` lists what is added to the provenance's `extra`.
    """
    features = counted_from_least(raw.features)
    design, of_design, last, taken = features.design or Design(), {}, [], [*features.names, raw.target.name]

    def stored(part: str, values: np.ndarray, kind: str = INTEGER) -> str:
        last.append(Column(_free_name(f"__{part}__", taken), kind, values))
        return last[-1].name

    groups = None if raw.groups is None else stored("groups", raw.groups)
    if design.within is not None:
        of_design["within"] = stored("within", design.within)
    if raw.times is not None:
        of_design |= {"time": stored("time", raw.times, NUMERIC), "has_dates": raw.has_dates}
    if design.clusters is not None:
        of_design["clusters"] = True
    if design.weights is not None:
        of_design["weights"] = stored("weights", design.weights, NUMERIC)
    if isinstance(raw.target, TargetColumn) and raw.target.parts:
        kinds = {part: INTEGER if one.dtype.kind in "biu" else NUMERIC for part, one in raw.target.parts.items()}
        of_design["target_parts"] = {part: stored(part, one, kinds[part]) for part, one in raw.target.parts.items()}
    if isinstance(raw.target, TargetColumn) and raw.target.levels:
        of_design["target_levels"] = [*raw.target.levels]  # in their order, which readers of labels do not keep
    extra = {
        "target": raw.target.name,
        "task": raw.task.name,
        "task_reason": raw.task.reason,
        "missing": raw.missing,
        "gaps": raw.gaps,
        "groups": groups,
        "truth": raw.truth,
        "n_test": raw.n_test,
        **of_design,
    }
    provenance = replace(provenance, extra=provenance.extra | extra)
    most = WIDE_SPARSE if isinstance(features.columns, SparseColumns) else WIDE
    is_wide = len(features) > most
    if n_shards > features.n_rows or (is_wide and n_shards > 1):
        where = provenance.what.get("dataset", raw.target.name)
        if is_wide:
            raise DataError(f"{where}: a table of more than {most:,} features has no shards of rows. Remove shards.")
        raise DataError(f"{where}: {features.n_rows:,} rows are fewer than {n_shards} shards. Set shards lower.")
    if is_wide:
        write_wide(path, features.columns, [*last, raw.target], provenance)
        return
    import pyarrow as pa

    columns = [*features.columns, *last, raw.target]
    arrays = [column_to_arrow(column) for column in columns]
    table = pa.table(arrays, names=[column.name for column in columns])
    ends = [k * features.n_rows // n_shards for k in range(n_shards + 1)]
    write_blocks(path, lambda: (table.slice(a, b - a) for a, b in pairwise(ends)), provenance)


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> StoredTable:
    """Read a data set of `write_table`: all features, or `columns` in that order, with target, groups and design.

    Raises `DataError` if the file is damaged, is another artefact, or lacks a column.
    """
    if columns is None:
        return read_features(path)
    with _opened(path) as (file, extra):
        places = {name: at for at, name in enumerate(file.names())} if columns else {}
        for column in columns:
            if column not in places:
                raise DataError(f"{path} has no column {column!r}. {did_you_mean(column, places)}")
        return _stored(file.at([places[column] for column in columns]), file.last(), extra)


def read_features(path: str | Path, part: Part = WHOLE) -> StoredTable:
    """Read one block of neighbouring features, with target and groups; raises as `read_table` does."""
    at, parts = part
    with _opened(path) as (file, extra):
        start, stop = ((k * file.n_features) // parts for k in (at - 1, at))
        return _stored(file.block(start, stop), file.last(), extra)


def read_shard(path: str | Path, at: int) -> tuple[Table, int]:
    """Read one of the blocks of rows of a narrow table, counted from 1: features, then target, and its first row."""
    with _opened(path) as (file, _):
        return Table(file.shard(at)), sum(file.blocks[: at - 1])


def small_parts(path: str | Path, part: Part = WHOLE) -> list[Part]:
    """Return smaller parts that make up a part, in order, so that reading and coding them takes little memory.

    By halves, part 2 of 3 is parts 3 and 4 of 6. Raises as `read_table` does.
    """
    at, parts = part
    with _opened(path) as (file, extra):
        most = MOST_CELLS_SPARSE if extra.get("layout") == SPARSE else MOST_CELLS
        n_features = file.n_features // parts
        n = min(max(-(-n_features * file.n_rows // most), 1), max(n_features, 1))
    return [((at - 1) * n + i, parts * n) for i in range(1, n + 1)]


def feature_names(path: str | Path) -> list[str]:
    """Return the names of all features in table order; raises as `read_table` does."""
    with _opened(path) as (file, _):
        return file.names()


class _NarrowFile:
    """An open narrow table, with the methods of a `WideFile`."""

    def __init__(self, file: Any, extra: dict[str, Any]) -> None:
        self._file = file
        names = file.schema.names
        self.n_rows = sum(file.blocks)
        of_rows = sum(extra.get(key) is not None for key in ("groups", "within", "time", "weights"))
        self.n_features = len(names) - 1 - of_rows - len(extra.get("target_parts", ()))
        self._names, self._last = names[: self.n_features], names[self.n_features :]

    def names(self) -> list[str]:
        return self._names

    def last(self) -> list[Column]:
        return self._read(self._last)

    def block(self, start: int, stop: int) -> list[Column]:
        return self._read(self._names[start:stop])

    def at(self, positions: Sequence[int]) -> list[Column]:
        return self._read([self._names[position] for position in positions])

    @property
    def blocks(self) -> list[int]:
        return self._file.blocks

    def shard(self, at: int) -> list[Column]:
        names = [*self._names, self._last[-1]]
        rows = self._file.block(at - 1, names)
        return [column_from_arrow(name, joined(rows.column(name))) for name in names]

    def _read(self, names: Sequence[str]) -> list[Column]:
        widths = dict(zip(self._file.schema.names, cell_bytes(self._file.schema), strict=True))
        kept = file_beyond(self.n_rows, [widths[name] for name in names], None)
        columns: list[Column] = []
        for some in names_by_cells(names, self.n_rows):
            table = self._file.read(columns=some)
            columns += kept_in(kept, (column_from_arrow(name, joined(table.column(name))) for name in some))
        return columns


@contextmanager
def _opened(path: str | Path) -> Iterator[tuple[_NarrowFile | WideFile, dict[str, Any]]]:
    with opened(path) as (file, provenance):
        extra = provenance.extra
        if "target" not in extra:
            raise ArtefactError(f"{path} is an artefact, but not of a data set. Delete it and run again.")
        yield WideFile(file, extra["layout"], extra["n_rows"]) if "layout" in extra else _NarrowFile(file, extra), extra


def _stored(features: Sequence[Column], last: Sequence[Column], extra: dict[str, Any]) -> StoredTable:
    *last, target = last
    if extra["task"] not in TASKS:
        names = extra.get("target_parts", {})
        last, of_target = last[: len(last) - len(names)], last[len(last) - len(names) :]
        parts = {part: column.cells() for part, column in zip(names, of_target, strict=True)}
        order, values = extra.get("target_levels", [*target.levels]), target.values
        if [*target.levels] != order:
            values = np.array([order.index(level) for level in target.levels], dtype=np.int32)[values]
        target = TargetColumn(target.name, target.kind, values, tuple(order), extra["task"], parts)
    groups = last[0].values if extra["groups"] is not None else None
    within = last[int(groups is not None)].values if "within" in extra else None
    times = last[(groups is not None) + (within is not None)].numbers() if "time" in extra else None
    weights = last[-1].numbers() if "weights" in extra else None
    clusters = groups if "clusters" in extra else None
    has_design = any(part is not None for part in (weights, clusters, within))
    return StoredTable(
        Table(features, Design(weights, clusters, within) if has_design else None), target, groups, extra, times
    )


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
