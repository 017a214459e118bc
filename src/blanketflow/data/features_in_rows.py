"""Tables whose features stand in rows and samples in columns: they are found, and turned if `orient` says so."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import count, islice
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL, INTEGER
from ..core.column import WideColumns
from ..core.errors import DataError, shown
from ..core.printable import listed
from ..core.table import Column, categorical
from .column_roles import setting, texts_of
from .columns import check_names, named_column, names_of, number_repeated, with_more
from .columns_of_text import TextRules, columns_of_rows, is_number
from .dialect import ROW_NAMES, Dialect, FoundOut
from .formats.loaded import Loaded, matrix_columns
from .missing_markers import MissingMarkers, texts_found

#: The values of the key `orient`.
IN_ROWS = "features-in-rows"
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
    ids = texts_of(first.take(np.arange(min(first.n_rows, _LOOKED_AT))))
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


def turned(name: str, loaded: Loaded, spec: Mapping[str, Any], by: str, ids: Collection[str] | None) -> Loaded:
    """Return a table with a row for each sample, of one with a row for each feature.

    The samples' names become the column `by`. Columns of text are left out unless most are, or `ids` has their name.
    With `ids` of None there is no table of labels, and what lines of a series matrix say of samples is taken.
    """
    asked, found = spec.get("feature_names"), [one for one in loaded.found if one.what != ROW_NAMES]
    first = (
        named_column(name, "feature_names", loaded.columns, asked) if asked else loaded.row_names or loaded.columns[0]
    )
    features = _feature_names(name, first, spec, found)
    others = [column for column in loaded.columns if column.name != first.name]
    numbers = [column for column in others if column.kind != CATEGORICAL]
    are_mixed = len(numbers) < len(others) / 2  # a row of texts makes labels of all cells
    samples = [c for c in others if c.kind != CATEGORICAL or are_mixed or c.name in (ids or ())]
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
        rows = ([texts[j] for j in at.tolist()] for texts in map(texts_of, samples))
        rules = TextRules(name, setting(spec, "categorical"), markers=MissingMarkers([]))
        more = columns_of_rows(rules, names, rows)
        features = [feature for feature, has_text in zip(features, have_text.tolist(), strict=True) if not has_text]
    columns = matrix_columns(X[:, ~have_text], features, [*more, own]) if features else [*more, own]
    if told := texts_found(loaded.markers):
        found.append(FoundOut(told, "missing_values"))
    said, markers = [], MissingMarkers()
    if ids is None:
        taken, as_text = {*features, by}, setting(spec, "categorical")
        said, markers = _columns_of_samples(name, loaded, [column.name for column in samples], taken, as_text)
    if said and spec.get("target") not in (told := names_of(said)):
        what = f"its lines !Sample_ say of each sample: {listed(told, _SAID)}"
        found.append(FoundOut(what, "target", "They are no features; to predict one of them, name it by target."))
    return loaded._replace(
        columns=with_more(columns, said),
        aside=loaded.aside | {by, *names_of(said)},
        markers=markers.found,
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
    return columns_of_rows(TextRules(name, as_text, markers=markers), names, rows), markers


def _feature_names(name: str, column: Column, spec: Mapping[str, Any], found: list[FoundOut]) -> list[str]:
    """Return the names of the features, numbered where `duplicate_names` says so, which is reported."""
    names = [text.strip() for text in texts_of(column)]
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


def _numbers(column: Column) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells as numbers, NaN where they are none, and which are texts."""
    if column.kind != CATEGORICAL:
        return column.values, np.zeros(column.n_rows, dtype=bool)
    are_texts = np.array([not is_number(label) for label in column.levels] + [False])
    values = np.array(
        [math.nan if is_text else float(v) for v, is_text in zip((*column.levels, "nan"), are_texts, strict=True)]
    )
    return values[column.values], are_texts[column.values]
