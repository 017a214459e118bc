"""The data artefact: one Parquet file with features, groups and target, read without pandas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..artefacts import Provenance, read_arrow, write_arrow
from ..core.errors import DataError, did_you_mean
from ..core.table import Column, Table
from .arrow import column_from_arrow, column_to_arrow, joined, numbers_from_arrow
from .raw import RawTable


@dataclass(frozen=True)
class StoredTable:
    """A data set as the jobs see it.

    Parameters
    ----------
    features : Table
        The features, or those asked for.
    target : Column
        The target.
    groups : ndarray of int, shape (n,), or None
        Group numbers.
    extra : dict
        `target`, `task`, `task_reason`, `missing`, `groups` (name of its stored column or None), `truth` and `n_test`
        (how many of the last rows are test rows).
    """

    features: Table
    target: Column
    groups: np.ndarray | None
    extra: dict[str, Any]


def write_table(path: str | Path, raw: RawTable, provenance: Provenance) -> None:
    """Write a data set: features in order, then groups if any, then the target.

    Parameters
    ----------
    path : path
        Where to.
    raw : RawTable
        The data set.
    provenance : Provenance
        Its `extra` is extended by what `StoredTable.extra` lists. Kinds are told by the Arrow types.
    """
    import pyarrow as pa

    groups = _free_name("__groups__", [*raw.features.names, raw.target.name]) if raw.groups is not None else None
    names, arrays = list(raw.features.names), [column_to_arrow(column) for column in raw.features.columns]
    if groups is not None:
        names.append(groups)
        arrays.append(pa.array(raw.groups))
    names.append(raw.target.name)
    arrays.append(column_to_arrow(raw.target))
    extra = {
        "target": raw.target.name,
        "task": raw.task.name,
        "task_reason": raw.task.reason,
        "missing": raw.missing,
        "groups": groups,
        "truth": raw.truth,
        "n_test": raw.n_test,
    }
    write_arrow(path, pa.table(arrays, names=names), replace(provenance, extra=provenance.extra | extra))


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> StoredTable:
    """Read a data set that `write_table` wrote.

    Parameters
    ----------
    path : path
        The file.
    columns : sequence of str, optional
        Only these features, in this order. Target and groups always come along.

    Raises
    ------
    DataError
        If the file is damaged, is another artefact, or lacks a column.
    """
    wanted = None
    if columns is not None:
        stored = _stored_names(path)
        for column in columns:
            if column not in stored:
                raise DataError(f"{path} has no column {column!r}. {did_you_mean(column, stored)}")
        # the target and the groups are the last two columns; which of them is which is told by the metadata
        wanted = list(dict.fromkeys([*columns, *stored[-2:]]))
    table, provenance = read_arrow(path, wanted)
    extra = provenance.extra
    if "target" not in extra:
        raise DataError(f"{path} is an artefact, but not of a data set. Delete it and run again.")
    target, groups = extra["target"], extra["groups"]
    arrays = dict(zip(table.column_names, table.columns, strict=True))
    names = columns if columns is not None else [n for n in table.column_names if n not in (target, groups)]
    return StoredTable(
        features=Table([column_from_arrow(name, joined(arrays[name])) for name in names]),
        target=column_from_arrow(target, joined(arrays[target])),
        groups=numbers_from_arrow(joined(arrays[groups])) if groups is not None else None,
        extra=extra,
    )


def _stored_names(path: str | Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is not a readable blanketflow artefact ({error}). Delete it and run again.") from error


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name
