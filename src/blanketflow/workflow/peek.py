"""A cheap look at a data set for the plan: shape, kinds, task, classes, and errors that reading would raise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..ci.choice import range_as_levels, usual_levels
from ..core.cards import BOOLEAN, CATEGORICAL, CLASSIFICATION, INTEGER, NUMERIC, TASKS
from ..core.column import SparseColumns
from ..core.column_checks import bends_seen, has_flags
from ..core.errors import DataError
from ..core.table import Column
from ..core.task import Task
from ..data.arrays import ArrayHeader, NumberedNames, numbered, read_npz_header, read_npz_range
from ..data.arrow import read_parquet_head
from ..data.artefacts import read_json, write_json
from ..data.bundled import TARGET, bundled_facts
from ..data.cell_meanings import CELL_KEYS, with_meanings
from ..data.column_roles import (
    RawTable,
    as_categorical,
    assemble,
    check_finite,
    check_settings,
    columns_of_rows,
    dates_as_text,
    feature_names,
    prepare_target,
    setting,
    target_parts,
)
from ..data.columns import check_names, missing_by_column
from ..data.dialect import Dialect, found_line
from ..data.download import cache_folder, storing
from ..data.formats.loaded import Loaded
from ..data.missing_markers import MissingMarkers, markers_told, of_columns
from ..data.simulate import simulated
from ..data.sources import (
    Source,
    locate,
    noted,
    prepared,
    read_source,
    rows_asked,
    source_files,
    target_name,
    with_files_here,
    with_proposals,
)
from ..data.splits import counts_for_folds
from ..data.text import HEAD_BYTES, read_head
from ..targets import size_of
from .configured_sources import kind_of, reader_of
from .digest import code_digest

__all__ = ["HEAD_BYTES", "Facts", "facts_of", "peek", "peek_whole"]

#: Simulated sources with more rows or cells are described from a smaller sample.
HEAD_ROWS = 20_000
HEAD_CELLS = 2_000_000


@dataclass(frozen=True)
class Facts:
    """What the plan knows of a data set; None means not applicable or not known.

    Unless `exact`, not all rows were read: `n_rows` is an estimate, `n_test` (last rows used as test rows) is as
    configured, and `kinds`, `n_classes`, `max_levels` and the fields of `blanketflow.ci.choice.Described`
    (`usual_levels`, `usual_labels`, `has_flags`, `bends`, `size_per_row`) refer to the rows that were read.
    `class_counts` has the rows of each class in the order of the labels, or the events of a survival target, without
    test rows. `n_missing` counts cells of the features, `n_stored` nonzero cells of a sparse matrix, and `truth` is the
    true neighbourhood of the target. With remedies if wrong: `markers`, texts that were read as missing cells without
    being listed in the spec; `found`, details of the file format; `suspected`, cells that may be missing (`missing_key`
    is the YAML key for them). `of_groups` says what was left out of gene sets. `target` is the name of the target
    column.
    """

    n_rows: int
    n_features: int
    exact: bool
    kinds: tuple[str, ...]
    task: str
    task_reason: str
    class_counts: dict[str, int] | None
    n_classes: int | None
    n_missing: int | None
    n_groups: int | None
    truth: dict[str, Any] | None
    feature_names: Sequence[str] | None
    max_levels: int | None = None
    n_test: int = 0
    n_stored: int | None = None
    markers: str | None = None
    usual_levels: int | None = None
    usual_labels: int = 2
    has_flags: bool = False
    bends: str = ""
    found: str | None = None
    suspected: str | None = None
    missing_key: str | None = None
    of_groups: str | None = None
    size_per_row: float = 1.0
    target: str = ""

    @property
    def told(self) -> tuple[str | None, ...]:
        """Notes on how the table was read, one line each."""
        return self.found, self.markers, self.suspected, self.of_groups

    @property
    def target_kind(self) -> str:
        """The further kind of the target, such as survival; empty for classes and numbers."""
        return "" if self.task in TASKS else self.task

    @property
    def n_cells(self) -> int:
        """Feature cells that a job holds."""
        return self.n_rows * self.n_features if self.n_stored is None else self.n_stored

    def at_most(self, max_rows: int | None) -> Facts:
        """Return the facts of a sample with this many rows; None is no limit."""
        if max_rows is None or max_rows >= self.n_rows:
            return self
        stored = None if self.n_stored is None else round(self.n_stored * max_rows / self.n_rows)
        return replace(self, n_rows=max_rows, n_stored=stored)


def peek(name: str, spec: Mapping[str, Any], seed: int = 0) -> Facts:
    """Return the facts of a data set, reading no more than needed.

    They are exact for small files and estimated from the head of large CSV and Parquet files. Of `.npz` matrices only
    the range of whole numbers is checked. Other formats are read whole once, and the facts are cached. Raises
    `ConfigError` and `DataError` as `read_source` does, for all errors visible this way.

    >>> peek("wine", {"source": "sklearn:wine"}).class_counts
    {'class_0': 59, 'class_1': 71, 'class_2': 48}
    """
    source = locate(name, spec)
    if source.kind == "sklearn":
        return _peek_bundled(name, source, spec, seed)
    if source.network is not None:
        return _peek_network(name, source, spec, seed)
    markers = MissingMarkers.of(spec)
    read_whole = any(spec.get(key) for key in (*CELL_KEYS, "orient", "labels"))
    if read_whole or (source.kind == "npz" and (spec.get("missing_values") or target_parts(spec))):
        return _remembered(name, source, spec, seed)
    dialect = Dialect.of(spec)
    if source.kind == "npz":
        with source.user_file.named():
            return _peek_npz(name, source, with_files_here(name, source, spec), markers)
    if source.kind not in ("parquet", "csv"):
        return _remembered(name, source, spec, seed)
    with source.user_file.named():
        if source.kind == "parquet":
            head = read_parquet_head(name, source.path, setting(spec, "drop"), dates_as_text(spec))
        else:
            as_text = setting(spec, "categorical")
            head = read_head(name, source.path, as_text, dialect, markers, setting(spec, "drop"))
    seen = Loaded(head.columns, markers=markers.found, found=head.found)
    seen = seen._replace(row_names=dialect.row_names, of_samples=dialect.of_samples)
    loaded = with_meanings(name, prepared(name, seen, spec), spec, source.kind)
    with with_proposals(loaded.found):
        target = target_name(name, spec, loaded.columns, None)
        raw = assemble(name, spec, loaded.columns, target, whole=head.rows_per_row == 1.0, markers=loaded.markers)
    return _facts(noted(raw, loaded, spec), head.rows_per_row)


def peek_whole(name: str, spec: Mapping[str, Any], seed: int = 0) -> Facts:
    """Return exact facts, such as the number of groups; the first call for a file reads it whole."""
    source = locate(name, spec)
    is_file = source.network is None and source.kind != "sklearn"
    return _remembered(name, source, spec, seed) if is_file else facts_of(read_source(name, spec, seed))


def _remembered(name: str, source: Source, spec: Mapping[str, Any], seed: int) -> Facts:
    """Return facts that need the whole file, cached for each state of the files and of this code."""
    files = [Path(file).absolute() for file in source_files(name, spec)]
    states = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    code = code_digest(Path(__file__), *reader_of(source), *kind_of(spec))
    told = json.dumps([source.kind, states, dict(spec), code], sort_keys=True, default=str)
    path = cache_folder() / "facts" / f"{hashlib.blake2b(told.encode(), digest_size=16).hexdigest()}.json"
    with suppress(DataError):  # nothing is known yet, or the file is damaged
        found = read_json(path)
        names = found["feature_names"]
        names = NumberedNames(**names) if isinstance(names, dict) else tuple(names)
        return Facts(**found | {"kinds": tuple(found["kinds"]), "feature_names": names})
    facts = _facts(read_source(name, spec, seed), 1.0)
    with storing(name, path) as temporary:
        write_json(temporary, asdict(facts))
    return facts


def _peek_network(name: str, source: Source, spec: Mapping[str, Any], seed: int) -> Facts:
    rows, known = rows_asked(name, spec), simulated(source.network, spec.get("target"), name)
    seen = min(rows, HEAD_ROWS, max(HEAD_CELLS // len(known.network.nodes), 1))
    table = known.network.sample(seen, seed)  # the first of the rows that reading draws
    return _facts(assemble(name, spec, table.columns, known.target, known.truth(), whole=seen == rows), rows / seen)


def facts_of(raw: RawTable) -> Facts:
    """Return the facts of a data set that was read whole."""
    return _facts(raw, 1.0)


def _facts(raw: RawTable, rows_per_row: float) -> Facts:
    exact = rows_per_row == 1.0
    columns, some = raw.features.columns, tuple(raw.features.one_of_each())
    levels, labels = usual_levels(raw.features)
    counts, n_classes = _classes(raw.target, raw.task, raw.n_test)
    return Facts(
        n_rows=round(raw.features.n_rows * rows_per_row),
        n_features=len(raw.features),
        exact=exact,
        kinds=tuple(sorted({column.kind for column in some})),
        task=raw.task.name,
        task_reason=raw.task.reason,
        class_counts=counts if exact else None,
        n_classes=n_classes,
        n_missing=int(missing_by_column(columns).sum()) if exact else None,
        n_groups=len(np.unique(raw.groups)) if exact and raw.groups is not None else None,
        truth=raw.truth,
        feature_names=numbered(raw.features.names),
        max_levels=max((len(c.levels) for c in some if c.kind == CATEGORICAL), default=None),
        n_test=raw.n_test,
        n_stored=len(columns.values) if isinstance(columns, SparseColumns) else None,
        markers=markers_told(raw.markers, exact),
        found=found_line(raw.found),
        suspected=raw.suspected.line(exact),
        missing_key=raw.suspected.key,
        usual_levels=levels,
        usual_labels=labels,
        has_flags=has_flags(raw.features, 1 if n_classes == 2 else 2),
        bends=bends_seen(raw.features, raw.target),
        size_per_row=size_of(raw.target) / max(raw.target.n_rows, 1),
        target=raw.target.name,
    )


def _classes(target: Column, task: Task, n_test: int) -> tuple[dict[str, int] | None, int | None]:
    counts = counts_for_folds(target.take(np.arange(max(target.n_rows - n_test, 0))))
    return counts, len(target.levels) if task.name == CLASSIFICATION else None


def _peek_bundled(name: str, source: Source, spec: Mapping[str, Any], seed: int) -> Facts:
    known = bundled_facts(name, source.identifier)
    unforeseen = (setting(spec, "task") != "auto", *(setting(spec, k) for k in ("test_rows", "categorical", "drop")))
    if (spec.get("target") or TARGET) != TARGET or columns_of_rows(spec) or any(unforeseen):
        return facts_of(read_source(name, spec, seed))  # rarely asked, and not in the stored facts
    check_settings(name, spec)
    kept = feature_names(name, spec, [*known.feature_names, TARGET], TARGET)
    return Facts(
        n_rows=known.n_rows,
        n_features=len(kept),
        exact=True,
        kinds=_kinds(NUMERIC, kept, spec),
        task=known.task,
        task_reason=known.task_reason,
        class_counts=dict(known.class_counts) if known.class_counts else None,
        n_classes=len(known.class_counts) if known.class_counts else None,
        n_missing=0,
        n_groups=None,
        truth=None,
        feature_names=tuple(kept),
        has_flags=known.has_flags,
        bends=known.bends,
    )


def _peek_npz(name: str, source: Source, spec: Mapping[str, Any], markers: MissingMarkers) -> Facts:
    check_settings(name, spec)
    header = read_npz_header(name, source.path, spec, markers)
    kept = _npz_features(name, header, spec)
    kinds = _kinds(header.kind, kept, spec)
    target = as_categorical(header.target) if header.target.name in setting(spec, "categorical") else header.target
    check_finite(name, target)
    rows, found = np.flatnonzero(~target.missing()), of_columns(markers.found, [target.name])
    n_test = int(np.count_nonzero(rows >= len(target.values) - setting(spec, "test_rows")))
    target, task = prepare_target(name, spec, target.take(rows), markers=found)
    counts, n_classes = _classes(target, task, n_test)
    whole = read_npz_range(name, source.path) if kinds == (INTEGER,) else None
    levels = 2 if kinds == (BOOLEAN,) else range_as_levels(*whole) if whole else None
    return Facts(
        n_rows=len(target.values),
        n_features=len(kept),
        exact=True,
        kinds=kinds,
        task=task.name,
        task_reason=task.reason,
        class_counts=counts,
        n_classes=n_classes,
        n_missing=None if header.kind == NUMERIC else 0,
        n_groups=None,
        truth=None,
        feature_names=kept,
        n_test=n_test,
        n_stored=header.n_stored,
        markers=markers_told(found),
        usual_levels=levels,
        has_flags=levels == 2,
    )


def _npz_features(name: str, header: ArrayHeader, spec: Mapping[str, Any]) -> Sequence[str]:
    """Return the checked names of the features; numbered ones without exclusions are not checked one by one."""
    target = header.target.name
    named = [*setting(spec, "drop"), *setting(spec, "categorical"), *columns_of_rows(spec)]
    if isinstance(header.names, NumberedNames) and len(header.names) and not any(named) and target not in header.names:
        return header.names
    names = [*header.names, target]
    check_names(name, names)
    return feature_names(name, spec, names, target)


def _kinds(kind: str, features: Sequence[str], spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the kinds of features if all but the forced ones are of one kind."""
    forced = set(setting(spec, "categorical"))
    forced = forced.intersection(features) if forced else forced
    return tuple(sorted({CATEGORICAL} if len(forced) == len(features) else {kind, CATEGORICAL} if forced else {kind}))
