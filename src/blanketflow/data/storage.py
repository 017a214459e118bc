"""The data artefact: one Parquet file with features, groups and target, read without pandas.

A narrow table has one Parquet column per feature. A wide one has one row per feature (wide_file.py): thousands of
Parquet columns cost every reader seconds, and rows can be read one block of features at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..core.cards import INTEGER, NUMERIC
from ..core.design import Design
from ..core.errors import ArtefactError, DataError, did_you_mean
from ..core.mapped_file import kept_in
from ..core.table import Column, Table
from ..core.whole_numbers import counted_from_least
from ..core.wide_columns import SparseColumns
from .arrow import cell_bytes, column_from_arrow, column_to_arrow, joined, names_by_cells
from .artefacts import opened, write_blocks
from .beyond_memory import file_beyond
from .provenance import Provenance
from .raw import RawTable
from .wide_file import SPARSE, WideFile, write_wide

#: Tables of more features are stored as wide ones. For a sparse matrix the limit is lower: the other layout is dense.
WIDE, WIDE_SPARSE = 2_000, 400

#: Most cells, rows times features, of a small part: as numbers, and in a sparse matrix, of which some tests make bits.
MOST_CELLS, MOST_CELLS_SPARSE = 2**26, 2**31

#: Part k of N of the features in table order, counted from 1.
Part = tuple[int, int]
WHOLE: Part = (1, 1)


@dataclass(frozen=True)
class StoredTable:
    """A data set as the jobs see it: the features, or those asked for, the target and the numbers of the groups."""

    features: Table
    target: Column
    groups: np.ndarray | None
    #: `target`, `task`, `task_reason`, `missing`, `gaps` (missing cells by feature), `groups` (name of its stored
    #: column or None), `truth` and `n_test` (how many of the last rows are test rows), and `within` (name of its stored
    #: column) if it is set, `clusters` if groups are those of the features' design, `weights` (name of the stored
    #: column) if it has any, and what else `write_table` was given.
    extra: dict[str, Any]


def write_table(path: str | Path, raw: RawTable, provenance: Provenance, n_shards: int = 1) -> None:
    """Write a data set: features in order, then groups, strata to test within and sampling weights, if any; the target.

    With shards it is in so many blocks of rows.

    The provenance's `extra` is extended by what `StoredTable.extra` lists.
    """
    features = counted_from_least(raw.features)
    groups = _free_name("__groups__", [*features.names, raw.target.name]) if raw.groups is not None else None
    last = [Column(groups, INTEGER, raw.groups)] if groups is not None else []
    design, of_design = features.design or Design(), {}
    if design.within is not None:
        of_design["within"] = _free_name("__within__", [*features.names, raw.target.name])
        last.append(Column(of_design["within"], INTEGER, design.within))
    if design.clusters is not None:
        of_design["clusters"] = True
    if design.weights is not None:
        of_design["weights"] = _free_name("__weights__", [*features.names, raw.target.name])
        last.append(Column(of_design["weights"], NUMERIC, design.weights))
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
    """Read a data set that `write_table` wrote: all features, or those in `columns` in that order.

    Target, groups and the design always come along. Raises `DataError` if the file is damaged, is another artefact, or
    lacks a column.
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
    """Return smaller parts that make up a part, in order, so that reading and coding one at a time takes little memory.

    Part 2 of 3, read by halves, is parts 3 and 4 of 6. Raises as `read_table` does.
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
        self.n_features = len(names) - 1 - sum(extra.get(key) is not None for key in ("groups", "within", "weights"))
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
    groups = last[0].values if extra["groups"] is not None else None
    within = last[int(groups is not None)].values if "within" in extra else None
    weights = last[-2].numbers() if "weights" in extra else None
    clusters = groups if "clusters" in extra else None
    has_design = any(part is not None for part in (weights, clusters, within))
    return StoredTable(
        Table(features, Design(weights, clusters, within) if has_design else None), last[-1], groups, extra
    )


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
