"""The table of labels of another table's samples: its keys, and how the two are joined by the samples' ids."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import ConfigError, DataError, did_you_mean, shown
from ..core.printable import listed
from ..core.table import Column, Table
from .cell_meanings import CELL_KEYS
from .column_roles import texts_of
from .columns import named_column, names_of, with_more
from .dialect import KEYS, ROW_NAMES, FoundOut
from .formats.loaded import Loaded

#: Keys of `labels`: which table it is, what is taken of it, and how it is written, as for a data set.
_OWN = ("path", "by", "target", "columns")
_OF_FILE = ("format", "header", "sheet", "missing_values", "sha256", "dates", *KEYS, *CELL_KEYS)
#: What a table of samples may say in `columns`, in place of names.
_ALL = "all"
#: How many ids a message names.
_NAMED = 5


def check_labels(where: str, spec: Mapping[str, Any]) -> None:
    """Raise `ConfigError` if the keys of labels have a value that cannot be."""
    labels = spec.get("labels")
    if labels is None:
        return
    example = "such as labels: {path: samples.csv, by: sample, target: diagnosis}"
    if not isinstance(labels, Mapping) or not all(isinstance(labels.get(key), str) for key in ("path",)):
        raise ConfigError(f"{where}: labels is {shown(labels)}, but must name a file and a column, {example}.")
    for key in labels:
        if key not in (*_OWN, *_OF_FILE):
            raise ConfigError(f"{where}: labels has the key {shown(key)}. {did_you_mean(str(key), [*_OWN, *_OF_FILE])}")
    by = labels.get("by")
    if not isinstance(by, str) and not (isinstance(by, Sequence) and len(by) == 2 and all(map(_is_text, by))):
        raise ConfigError(
            f"{where}: labels has by: {shown(by)}, but must name the column of both tables that holds the ids, "
            f"{example}, or two columns, that of the table and that of the labels."
        )
    columns, target = labels.get("columns"), labels.get("target")
    if not (columns is None or columns == _ALL or (isinstance(columns, list | tuple) and all(map(_is_text, columns)))):
        raise ConfigError(f"{where}: labels has columns: {shown(columns)}, but must be a list of names, or all.")
    if target is not None and not _is_text(target):
        raise ConfigError(f"{where}: labels has target: {shown(target)}, but must name one column, {example}.")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def labels_spec(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the table of labels as a data set's spec; None if there is none."""
    labels = spec.get("labels")
    if labels is None:
        return None
    kept = {key: labels[key] for key in ("path", *_OF_FILE) if labels.get(key) is not None}
    return kept | {"categorical": [columns_of_ids(labels)[1]]}


def columns_of_ids(labels: Mapping[str, Any]) -> tuple[str, str]:
    """Return the columns of ids of the table and of its labels."""
    by = labels["by"]
    return (by, by) if isinstance(by, str) else (by[0], by[1])


def samples_named(name: str, labels: Loaded, asked: Mapping[str, Any]) -> tuple[str, set[str]]:
    """Return the name of the table's column of ids, and the ids that the table of labels has."""
    by, of_labels = columns_of_ids(asked)
    return by, set(texts_of(named_column(name, "by of labels", labels.columns, of_labels)))


def joined(name: str, loaded: Loaded, labels: Loaded, asked: Mapping[str, Any]) -> Loaded:
    """Return a table with what the keys of `labels` take of another one, in the rows of the samples that both have."""
    by, of_labels = columns_of_ids(asked)
    where, file = f"{name}: labels", Path(str(asked["path"])).name
    found, is_column = list(loaded.found), by in names_of(loaded.columns)
    if not is_column and loaded.row_names is not None:
        ids, found = texts_of(loaded.row_names), [one for one in found if one.what != ROW_NAMES]
    else:
        ids = texts_of(named_column(name, "by of labels", loaded.columns, by))
    others = texts_of(named_column(where, "by", labels.columns, of_labels))
    places: dict[str, int] = {}
    twice = [one for at, one in enumerate(others) if one and places.setdefault(one, at) != at]
    if twice:
        raise DataError(
            f"{where}: {file} has {shown(twice[0])} in more than one row of {of_labels!r}. Keep one row for each "
            "sample, or name another column under by."
        )
    rows = np.array([places.get(one, -1) for one in ids])
    matched = np.flatnonzero(rows >= 0)
    if not len(matched):
        raise DataError(
            f"{where}: no id of the table's {by!r}, such as {shown(ids[0])}, is in {of_labels!r} of {file}, which has "
            f"{shown(next(iter(places), ''))}. Name the columns of the ids under by, as by: [{by}, {of_labels}]."
        )
    taken = _taken(where, names_of(loaded.columns), labels, asked)
    found += [FoundOut(f"{one.what} in {file}", one.key and f"{one.key} of labels") for one in labels.found]
    if len(matched) < len(rows):
        without = [one or "(no id)" for one, row in zip(ids, rows.tolist(), strict=True) if row < 0]
        what = (
            f"{len(without):,} of {len(rows):,} samples are not in {file} and are left out: {listed(without, _NAMED)}"
        )
        found.append(FoundOut(what, "labels"))
    known = set(ids)
    if unused := [one for one in places if one not in known]:
        what = (
            f"{len(unused):,} of {len(others):,} rows of {file} are of no sample of the table: {listed(unused, _NAMED)}"
        )
        found.append(FoundOut(what, "labels"))
    given = {asked.get("target"), *([] if asked.get("columns") in (None, _ALL) else asked["columns"])}
    given |= {column.name for column in taken} if asked.get("columns") == _ALL else set()
    if left_out := [one for one in names_of(labels.columns) if one not in given | {of_labels}]:
        what = f"columns of {file} that are no features unless columns of labels lists them: {listed(left_out, _NAMED)}"
        found.append(FoundOut(what, "labels"))
    table = Table(loaded.columns)
    table = table if len(matched) == len(rows) else table.take(matched)
    more = [column.take(rows[matched]) for column in taken]
    return loaded._replace(
        columns=with_more(table.columns, more),
        target=asked.get("target") or loaded.target,
        aside=loaded.aside | ({by} if is_column else set()) | ({column.name for column in taken} - given),
        notes=(*loaded.notes, *labels.notes),
        markers={**loaded.markers, **labels.markers},
        found=found,
    )


def _taken(where: str, names: Collection[str], labels: Loaded, asked: Mapping[str, Any]) -> list[Column]:
    """Return the columns of labels beside the ids; `DataError` if one asked for is in both tables, or in none."""
    known = names_of(labels.columns)
    wanted = [asked["target"]] if asked.get("target") else []
    wanted += [] if asked.get("columns") in (None, _ALL) else asked["columns"]
    for column in wanted:
        named_column(where, "target or columns", labels.columns, column)
    repeated = (set(names) & set(known)) - {columns_of_ids(asked)[1]}
    if clash := repeated if asked.get("columns") == _ALL else repeated.intersection(wanted):
        column = min(clash)
        raise DataError(
            f"{where}: both tables have a column {column!r}. Rename that of the labels, in labels: "
            f"rename: {{{known.index(column) + 1}: NAME}}."
        )
    return [column for column in labels.columns if column.name not in repeated | {columns_of_ids(asked)[1]}]
