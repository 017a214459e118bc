"""Tables of samples: one whose features stand in rows is turned, and one of labels is joined by the samples' ids."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL, INTEGER
from ..core.column import WideColumns
from ..core.errors import ConfigError, DataError, did_you_mean, shown
from ..core.printable import listed
from ..core.table import Column, Table, categorical
from .cell_meanings import CELL_KEYS
from .column_roles import as_categorical, setting
from .columns import check_names, names_of, number_repeated, which_column
from .columns_of_text import columns_of_rows, is_number
from .dialect import KEYS, ROW_NAMES, Dialect, FoundOut
from .formats.loaded import Loaded, matrix_columns
from .missing_markers import MissingMarkers, texts_found

#: The values of the key `orient`.
IN_ROWS = "features-in-rows"
#: Keys of `labels`: which table it is, what is taken of it, and how it is written, as for a data set.
_OWN = ("path", "by", "target", "columns")
_OF_FILE = ("format", "header", "sheet", "missing_values", "sha256", "dates", *KEYS, *CELL_KEYS)
#: What a table of samples may say in `columns`, in place of names.
_ALL = "all"
#: How many ids a message names, and how many of what lines of a series matrix say.
_NAMED, _SAID = 5, 12
#: Such lines of a series matrix have a name in each cell, as in "age: 61".
_CHARACTERISTICS = "characteristics"
#: The line that has the ids of the samples, as the table has.
_IDS = "geo_accession"
#: The fewest columns of a table that may lie on its side, the share of them that must be numbers, and how many ids of
#: features are looked at.
_FEWEST, _MOST_NUMBERS, _LOOKED_AT, _MOST_COLUMNS = 6, 0.6, 50, 2_000
_FEATURE = re.compile(
    r"#?\s*(otu|asv|feature|gene|probe|transcript|protein|peptide|metabolite|compound|taxon|taxa|snp|cpg|mirna|symbol|"
    r"id_ref|hugo_symbol|ensembl)s?([ _.-]?(ids?|names?|symbols?|accessions?|sets?))?\b.*",
    re.IGNORECASE,
).fullmatch
_FEATURE_ID = re.compile(
    r"ENS[A-Z]*[GTP]\d{6,}.*|\w+_at|rs\d{3,}|cg\d{6,}|(OTU|ASV|hsa-)[\w.-]*\d.*", re.IGNORECASE
).fullmatch
_SAMPLE = re.compile(
    r"(GSM|SRR|ERR|DRR|SAMN|SAMEA)\d+.*|TCGA-.+|(s|sample|patient|subject)[ _.-]?\d+", re.IGNORECASE
).fullmatch


def check_labels(where: str, spec: Mapping[str, Any]) -> None:
    """Raise `ConfigError` if the keys of a turned table, or of labels, have a value that cannot be."""
    if spec.get("feature_names") and spec.get("orient") != IN_ROWS:
        raise ConfigError(f"{where}: feature_names is for features in rows. Set orient: {IN_ROWS}, too, or remove it.")
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
    return kept | {"categorical": [_by(labels)[1]]}


def _by(labels: Mapping[str, Any]) -> tuple[str, str]:
    """Return the columns of ids of the table and of its labels."""
    by = labels["by"]
    return (by, by) if isinstance(by, str) else (by[0], by[1])


def read_spec(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec with which a table is read that is then turned or joined: ids are texts."""
    ids = [spec["feature_names"]] if spec.get("feature_names") else []
    ids += [_by(spec["labels"])[0]] if spec.get("labels") and spec.get("orient") != IN_ROWS else []
    if spec.get("orient") == IN_ROWS:  # what other keys name are features
        return {**spec, "drop": [], "categorical": ids, "target": None}
    return {**spec, "categorical": [*setting(spec, "categorical"), *ids]} if ids else spec


def prepared(name: str, loaded: Loaded, spec: Mapping[str, Any], read: Callable[[], Loaded] | None = None) -> Loaded:
    """Return a table turned and joined with its labels, as its spec says; `read` reads these."""
    labels = read() if read and spec.get("labels") is not None else None
    if spec.get("orient") == IN_ROWS:
        loaded = _turned(name, loaded, spec, labels)
    elif spec.get("orient") is None and (found := lies_on_its_side(loaded)):
        loaded = loaded._replace(found=[*loaded.found, found])
    return loaded if labels is None else _joined(name, loaded, labels, spec["labels"])


@contextmanager
def with_proposals(found: Sequence[FoundOut]) -> Iterator[None]:
    """Add what was proposed on reading a table to an error of what is made of it: a column may be missing for it."""
    try:
        yield
    except DataError as error:
        proposed = [f"{one.what[0].upper()}{one.what[1:]}. {one.proposed}" for one in found if one.proposed]
        if not proposed:
            raise
        raise DataError(" ".join([str(error), *proposed])) from error


# --- features in rows -------------------------------------------------------------------------------------------------


def lies_on_its_side(loaded: Loaded) -> FoundOut | None:
    """Return that features may stand in rows: the first column names them, and most others hold numbers."""
    if isinstance(loaded.columns, WideColumns):  # all of numbers
        return None
    columns = list(islice(loaded.columns, _MOST_COLUMNS))
    first = columns.pop(0) if loaded.row_names is None else loaded.row_names
    if len(columns) < _FEWEST or first.kind not in (CATEGORICAL, INTEGER) or first.n_rows < _FEWEST:
        return None
    if first.n_missing() or len(np.unique(first.values)) < first.n_rows:
        return None
    numbers = [column.name for column in columns if column.kind != CATEGORICAL]
    ids = _texts(first.take(np.arange(min(first.n_rows, _LOOKED_AT))))
    told = _FEATURE(first.name), _share(_FEATURE_ID, ids) > 0.8, _share(_SAMPLE, numbers) > 0.8
    if len(numbers) < _MOST_NUMBERS * len(columns) or not any(told):
        return None
    called = repr(first.name) if first.name else "the first column"
    return FoundOut(
        f"features may stand in rows: {called} names {first.n_rows:,} of them, such as {ids[0]!r}, and "
        f"{len(numbers):,} columns such as {numbers[0]!r} hold numbers",
        "orient",
        f"If each column is a sample, set orient: {IN_ROWS}, and {_where_labels_are(loaded)}; if each row is one, set "
        "orient: samples-in-rows.",
    )


def _where_labels_are(loaded: Loaded) -> str:
    elsewhere = "labels: {path: FILE, by: COLUMN, target: COLUMN} for the samples' labels"
    told = list(_said_of_samples(loaded.of_samples))
    said = f"target to what its lines !Sample_ say of samples: {listed(told, _SAID)}; or "
    return (said if told else "") + elsewhere


def _share(matches: Callable[[str], Any], texts: Sequence[str]) -> float:
    return sum(1 for text in texts if matches(text)) / max(len(texts), 1)


def _turned(name: str, loaded: Loaded, spec: Mapping[str, Any], labels: Loaded | None) -> Loaded:
    """Return a table with a row for each sample, of one with a row for each feature."""
    asked, found = spec.get("feature_names"), [one for one in loaded.found if one.what != ROW_NAMES]
    first = _column(name, "feature_names", loaded.columns, asked) if asked else loaded.row_names or loaded.columns[0]
    features = _feature_names(name, first, spec, found)
    by, ids = "sample", set[str | None]()
    if labels is not None:
        by, of_labels = _by(spec["labels"])
        ids = set(_texts(_column(name, "by of labels", labels.columns, of_labels)))
    others = [column for column in loaded.columns if column.name != first.name]
    numbers = [column for column in others if column.kind != CATEGORICAL]
    are_mixed = len(numbers) < len(others) / 2  # a row of texts makes labels of all cells
    samples = [c for c in others if c.kind != CATEGORICAL or are_mixed or c.name in ids]
    if not samples or by in features:
        what = f"no column but {first.name!r}" if not samples else f"a feature called {by!r}, as the samples' ids are"
        raise DataError(f"{name}: the table has {what}. Look whether its features stand in rows, as orient says.")
    if len(samples) < len(others):
        kept = {column.name for column in samples}
        left_out = [column.name for column in others if column.name not in kept]
        what = f"{len(left_out)} columns of text that are no samples, left out: {listed(left_out, _NAMED)}"
        found.append(FoundOut(what, "orient"))
    own = categorical(by, np.array([column.name for column in samples], dtype=object))
    X = np.empty((len(samples), len(features)), order="C")
    have_text = np.zeros(len(features), dtype=bool)
    for row, column in zip(X, samples, strict=True):
        row[:], are_text = _numbers(column)
        have_text |= are_text
    more = []
    if have_text.any():
        at = np.flatnonzero(have_text)
        names = [features[j] for j in at.tolist()]
        rows = ([texts[j] for j in at.tolist()] for texts in map(_texts, samples))
        more = columns_of_rows(name, names, rows, setting(spec, "categorical"), MissingMarkers([]))
        features = [feature for feature, has_text in zip(features, have_text.tolist(), strict=True) if not has_text]
    columns = matrix_columns(X[:, ~have_text], features, [*more, own]) if features else [*more, own]
    if told := texts_found(loaded.markers):
        found.append(FoundOut(told, "missing_values"))
    said, markers = [], MissingMarkers()
    if labels is None:
        taken, as_text = {*features, by}, setting(spec, "categorical")
        said, markers = _columns_of_samples(name, loaded, [column.name for column in samples], taken, as_text)
    if said and spec.get("target") not in (told := names_of(said)):
        what = f"its lines !Sample_ say of each sample: {listed(told, _SAID)}"
        found.append(FoundOut(what, "target", "They are no features; to predict one of them, name it by target."))
    return loaded._replace(
        columns=_with(columns, said),
        aside=loaded.aside | {by, *names_of(said)},
        markers=markers.found,
        suspected={},
        found=found,
        row_names=None,
    )


def _said_of_samples(lines: Sequence[Sequence[str]]) -> dict[str, dict[int, str]]:
    """Return what the lines of a series matrix say, by name and the place of the sample, unless it is one for all.

    >>> _said_of_samples([["title", "a", "b"], ["characteristics_ch1", "age: 61", "age: 48"], ["status", "ok", "ok"]])
    {'title': {0: 'a', 1: 'b'}, 'age': {0: '61', 1: '48'}}
    """
    said: dict[str, dict[int, str]] = {}
    for line, *cells in lines:
        if line == _IDS:
            continue
        of_line: set[str] = set()
        for at, cell in enumerate(cells):
            named, is_named, value = cell.partition(": ") if line.startswith(_CHARACTERISTICS) else (line, "", cell)
            name, value = (named.strip(), value.strip()) if is_named else (line, cell)
            if name not in of_line and at in said.get(name, {}):  # which another line says, as of a second channel
                name = next(one for n in count(2) if at not in said.get(one := f"{name}_{n}", {}))
            of_line.add(name)
            if value:
                said.setdefault(name, {})[at] = value
    n_samples = max((len(line) - 1 for line in lines), default=0)
    return {name: by for name, by in said.items() if len({by.get(at) for at in range(n_samples)}) > 1}


def _columns_of_samples(
    name: str, loaded: Loaded, ids: Sequence[str], taken: Collection[str], as_text: Collection[str]
) -> tuple[list[Column], MissingMarkers]:
    """Return what the lines of a series matrix say of the samples, by their ids where a line has these."""
    markers = MissingMarkers()
    own = next((line for line in loaded.of_samples if {*ids} <= {*line[1:]}), None)
    said = _said_of_samples(loaded.of_samples)
    if own is None and any(len(line) - 1 != len(ids) for line in loaded.of_samples):
        raise DataError(
            f"{name}: the lines !Sample_ have no ids of the table's {len(ids)} samples, such as {shown(ids[0])}, nor "
            "as many cells. Remove these lines, or name the samples in labels: {path: ..., by: COLUMN, target: COLUMN}."
        )
    if not said:
        return [], markers
    places = range(len(ids)) if own is None else [own.index(one) - 1 for one in ids]
    names = [f"Sample_{one}" if one in taken else one for one in said]
    rows = ([by.get(at, "") for by in said.values()] for at in places)
    return columns_of_rows(name, names, rows, as_text, markers), markers


def _feature_names(name: str, column: Column, spec: Mapping[str, Any], found: list[FoundOut]) -> list[str]:
    """Return the names of the features, numbered where `duplicate_names` says so, which is reported."""
    names = [text.strip() for text in _texts(column)]
    dialect = Dialect(duplicate_names=spec.get("duplicate_names"), found=found)
    if dialect.duplicate_names == "number":
        number_repeated(names, dialect)
    try:
        check_names(name, names)
    except DataError as error:
        raise DataError(
            f"{error} These are features in rows, named by {column.name!r}: name another column by feature_names, or "
            "set duplicate_names: number."
        ) from error
    return names


# --- labels in another table ------------------------------------------------------------------------------------------


def _joined(name: str, loaded: Loaded, labels: Loaded, asked: Mapping[str, Any]) -> Loaded:
    """Return a table with what the keys of `labels` take of another one, in the rows of the samples that both have."""
    by, of_labels = _by(asked)
    where, file = f"{name}: labels", Path(str(asked["path"])).name
    found, is_column = list(loaded.found), by in names_of(loaded.columns)
    if not is_column and loaded.row_names is not None:
        ids, found = _texts(loaded.row_names), [one for one in found if one.what != ROW_NAMES]
    else:
        ids = _texts(_column(name, "by of labels", loaded.columns, by))
    others = _texts(_column(where, "by", labels.columns, of_labels))
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
        columns=_with(table.columns, more),
        target=asked.get("target") or loaded.target,
        aside=loaded.aside | ({by} if is_column else set()) | ({column.name for column in taken} - given),
        notes=(*loaded.notes, *labels.notes),
        markers={**loaded.markers, **labels.markers},
        suspected={**loaded.suspected, **labels.suspected},
        found=found,
    )


def _taken(where: str, names: Collection[str], labels: Loaded, asked: Mapping[str, Any]) -> list[Column]:
    """Return the columns of labels beside the ids; `DataError` if one asked for is in both tables, or in none."""
    known = names_of(labels.columns)
    wanted = [asked["target"]] if asked.get("target") else []
    wanted += [] if asked.get("columns") in (None, _ALL) else asked["columns"]
    for column in wanted:
        _column(where, "target or columns", labels.columns, column)
    repeated = (set(names) & set(known)) - {_by(asked)[1]}
    if clash := repeated if asked.get("columns") == _ALL else repeated.intersection(wanted):
        column = min(clash)
        raise DataError(
            f"{where}: both tables have a column {column!r}. Rename that of the labels, in labels: "
            f"rename: {{{known.index(column) + 1}: NAME}}."
        )
    return [column for column in labels.columns if column.name not in repeated | {_by(asked)[1]}]


def _with(columns: Sequence[Column], more: Sequence[Column]) -> Sequence[Column]:
    if isinstance(columns, WideColumns):
        return replace(columns, more=(*columns.more, *more))
    return [*columns, *more]


def _column(where: str, key: str, columns: Sequence[Column], wanted: str) -> Column:
    """Return a column by its name; `DataError` if it is not there."""
    names = names_of(columns)
    if wanted not in names:
        raise DataError(
            f"{where}: {key} names the column {wanted!r}, which is not there. {which_column(wanted, names)}"
        )
    return columns[names.index(wanted)]


def _numbers(column: Column) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells as numbers, NaN where they are none, and which are texts."""
    if column.kind != CATEGORICAL:
        return column.values, np.zeros(column.n_rows, dtype=bool)
    are_texts = np.array([not is_number(label) for label in column.levels] + [False])
    values = np.array(
        [math.nan if is_text else float(v) for v, is_text in zip((*column.levels, "nan"), are_texts, strict=True)]
    )
    return values[column.values], are_texts[column.values]


def _texts(column: Column) -> list[str]:
    """Return the cells as texts, empty where missing."""
    if column.kind != CATEGORICAL and column.values.dtype.kind == "f":
        return ["" if np.isnan(v) else str(int(v)) if v.is_integer() else repr(v) for v in column.values.tolist()]
    labels = as_categorical(column)
    return np.array([*labels.levels, ""], dtype=object)[labels.values].tolist()
