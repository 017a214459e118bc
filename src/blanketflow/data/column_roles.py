"""From columns and a data set's spec to features, target and groups: the rules that `peek` and `read_source` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, CLASSIFICATION, INTEGER, NUMERIC, TASKS
from ..core.column import EVENT, WideColumns
from ..core.column_checks import what_is_held
from ..core.convert import MOST_WHOLE, repeated_rows, sampling_weights
from ..core.errors import ConfigError, DataError, did_you_mean
from ..core.mapped_file import kept_like
from ..core.parameters import size_in_bytes
from ..core.printable import listed
from ..core.rows import MOST_GROUPS, repeats, repeats_told
from ..core.table import SAMPLING, Column, Design, Table, labelled, used_levels
from ..core.task import MAX_NUMERIC_CLASSES, Task, asked_task, infer_task, target_column
from ..targets import checked_target, get_target_kind
from ..targets.forms import CAUSE, ORDER, in_order, of_cause
from ..targets.joint import joined, joint_name, joint_of
from .columns import check_names, first_infinite, missing_by_column, names_of, only, which_column
from .dates import days_of, moments_of
from .dialect import FoundOut
from .missing_markers import Found, Suspects, check_classes, of_columns

DEFAULTS: Mapping[str, Any] = {
    "task": "auto",
    "drop": (),
    "categorical": (),
    "groups": None,
    "weights": None,
    "missing": "impute",
    "rows": 1000,
    "test_rows": 0,
}
MISSING_POLICIES = ("impute", "drop", "error", "pairwise")
#: What becomes of cells that stay missing in the table.
_LEFT = {
    "impute": "imputed from the training rows of each fold",
    "pairwise": "each CI test uses the rows complete for its columns; models see imputed ones",
}
#: A sparse table of more columns must hold a cell for every `EMPTY_COLUMNS` of them.
MOST_COLUMNS, EMPTY_COLUMNS = 5_000_000, 10


@dataclass(frozen=True)
class RawTable:
    """A data set as it was read, before any split: its features in the order of the source, and what is known of it."""

    #: Missing cells are still missing.
    features: Table
    #: Categorical for classification, numeric for regression; without missing cells.
    target: Column
    task: Task
    #: Shape (n,). Rows with equal numbers stay in one part of every split.
    groups: np.ndarray | None = None
    #: The groups' labels, by these numbers; empty for more groups than can be held out one by one.
    group_labels: tuple[str, ...] = ()
    #: The target's true neighbourhood, where the generating network is known.
    truth: dict[str, Any] | None = None
    #: One of `MISSING_POLICIES`.
    missing: str = "impute"
    #: By feature, if any, its missing cells in rows with a target, before rows were dropped for them.
    gaps: dict[str, int] = field(default_factory=dict)
    #: Features with at most one distinct value, and pairs of a feature and a later one of equal content.
    constant: tuple[str, ...] = ()
    duplicates: tuple[tuple[str, str], ...] = ()
    #: What to know about this table.
    notes: list[str] = field(default_factory=list)
    #: How many of the last rows are there to test on: what is left of the source's last `test_rows`.
    n_test: int = 0
    #: Text columns that seem to hold numbers, and what they hold.
    number_texts: tuple[tuple[str, str], ...] = ()
    #: Texts in features, target and groups that were taken for missing cells, unless the spec lists them.
    markers: Found = field(default_factory=dict)
    #: Cells that may be missing, but are values so far, unless the spec lists those that are.
    suspected: Suspects = Suspects()
    #: What the reader found out about how the file is written.
    found: tuple[FoundOut, ...] = ()
    #: When each row was observed, (n,): numbers, or days since 1970-01-01 where `has_dates`.
    times: np.ndarray | None = None
    has_dates: bool = False


def setting(spec: Mapping[str, Any], key: str) -> Any:
    """Return a key of a data set's spec, or its default where it is absent or null."""
    value = spec.get(key)
    return DEFAULTS[key] if value is None else value


def max_memory(name: str, spec: Mapping[str, Any]) -> int | None:
    """Return the spec's limit in bytes above which tables are kept in files, or None.

    Raises `ConfigError` if it is no size.
    """
    said = spec.get("max_memory")
    size = None if said is None else size_in_bytes(said)
    if said is not None and size is None:
        raise ConfigError(f"{name}: max_memory is {said!r}, but must be a size such as 2GB, or a number of bytes.")
    return size


def columns_of_rows(spec: Mapping[str, Any]) -> list[str]:
    """Return the columns that a data set's spec names for its rows: groups, strata, weights, time, target parts."""
    named = [spec[key] for key in ("groups", "within", "weights", "time") if spec.get(key) is not None]
    return [*named, *target_parts(spec).values()]


def named_columns(spec: Mapping[str, Any]) -> set[str | None]:
    """Return the columns that a data set's spec names for anything."""
    return {spec.get("target"), *columns_of_rows(spec), *setting(spec, "drop"), *setting(spec, "categorical")}


def dates_as_text(spec: Mapping[str, Any]) -> bool | str:
    """Return whether date types are read as text: True for those of all columns, or the name of the column of times."""
    return spec.get("dates") is not None or spec.get("time") or False


def kind_of_target(spec: Mapping[str, Any]) -> str:
    """Return the further kind of the target that a data set's spec declares, such as survival; else empty."""
    kind = spec.get("target_kind")
    return "" if kind in (None, "auto", *TASKS) else kind


def target_parts(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns that belong to the target by what they say, such as ``event``."""
    return dict(spec.get("target_parts") or {})


def check_width(where: str, width: int, n_cells: int) -> None:
    """Raise `DataError` if a sparse table states far more columns than it has cells: they would take all memory."""
    if width > max(MOST_COLUMNS, EMPTY_COLUMNS * n_cells):
        raise DataError(
            f"{where} states {width:,} columns, but holds {n_cells:,} cells. One of its indices or its stated shape "
            "may be wrong: mend it, or number the columns without such gaps."
        )


def check_settings(name: str, spec: Mapping[str, Any]) -> None:
    """Raise `ConfigError` if `task` or `missing` is not one of the known words, or `target_kind` is another task."""
    for key, known in (("task", ("auto", *TASKS)), ("missing", MISSING_POLICIES)):
        if setting(spec, key) not in known:
            raise ConfigError(f"{name}: {key} is {spec[key]!r}. {did_you_mean(spec[key], known)}")
    asked_task(name, setting(spec, "task"), spec.get("target_kind"))


def feature_names(name: str, spec: Mapping[str, Any], names: Sequence[str], target: str) -> list[str]:
    """Return the features' names.

    Raises `DataError` if a column of the spec does not exist or has two roles, or no feature is left.
    """
    known, drop, groups, weights = set(names), *(setting(spec, key) for key in ("drop", "groups", "weights"))
    within, time = spec.get("within"), spec.get("time")
    asked = {"target": [target], "drop": drop, "categorical": setting(spec, "categorical")}
    asked |= {"groups": [groups] if groups is not None else [], "weights": [weights] if weights is not None else []}
    asked |= {"within": [within]} if within is not None else {}
    asked |= {"time": [time]} if time is not None else {}
    parts = target_parts(spec)
    asked |= {f"target: {part}": [column] for part, column in parts.items()}
    for key, column in ((key, column) for key, columns in asked.items() for column in columns):
        if column not in known:
            if len(known) == 1:
                raise DataError(
                    f"{name}: {key} names the column {column!r}, but there is only one, {names[0][:80]!r}. If that is "
                    "several, separate them by commas, semicolons, tabs or |, or set sep."
                )
            raise DataError(
                f"{name}: {key} names the column {column!r}, which is not there. {which_column(str(column), known)}"
            )
    of_rows = (target, groups, weights, within)
    roles = [(target, "the target", (groups,), "under drop or groups")]
    roles.append((weights, "weights", (target, groups), "target, groups or under drop"))
    roles.append((within, "within", (target, weights), "target, weights or under drop"))
    roles.append((time, "time", of_rows, "target, groups, weights, within or under drop"))
    where = "target, groups, weights, within, time or under drop"
    roles += [(column, f"the target's {part}", (*of_rows, time), where) for part, column in parts.items()]
    for column, role, others, where in roles:
        if column is not None and column in (*others, *drop):
            raise DataError(f"{name}: column {column!r} is {role} and cannot also be {where}. Remove it there.")
    apart = {target, groups, weights, within, time, *drop, *parts.values()}
    kept = [column for column in names if column not in apart]
    if (called := joint_name(joint_of(spec))) in kept:
        raise DataError(f"{name}: column {called!r} has the name of the joint target. Rename the column.")
    if not kept:
        what = "Drop fewer columns." if drop else "The table needs at least one more column."
        raise DataError(f"{name}: no features are left beside the target {target!r}. {what}")
    return kept


def assemble(
    name: str,
    spec: Mapping[str, Any],
    columns: Sequence[Column],
    target: str,
    truth: dict[str, Any] | None = None,
    whole: bool = True,
    markers: Found = MappingProxyType({}),
) -> RawTable:
    """Make a `RawTable` of all columns of a source.

    `truth` is the target's true neighbourhood, `markers` are texts that were read as missing. Some checks need all rows
    and are skipped unless the table is `whole`. Raises `ConfigError` or `DataError` if spec and columns do not match.
    """
    check_settings(name, spec)
    names = names_of(columns)
    check_names(name, names)
    kept = set(feature_names(name, spec, names, target))
    columns = recoded(name, columns, set(setting(spec, "categorical")))
    y = columns[names.index(target)]
    if not y.n_rows:
        raise DataError(f"{name}: the table has no rows.")
    features = Table(only(columns, kept))
    infinite = first_infinite(features.columns)
    for column in (*([infinite] if infinite else []), y):
        check_finite(name, column)

    markers = of_columns(markers, [*(n for n in names if n in kept), target, *columns_of_rows(spec)])
    notes: list[str] = []
    n_read = features.n_rows
    parts = {part: columns[names.index(column)] for part, column in target_parts(spec).items()}
    of_target = [y, *parts.values()]
    rows = np.flatnonzero(~np.any([column.missing() for column in of_target], axis=0))
    if len(rows) < n_read:
        named = listed([repr(column.name) for column in of_target])
        notes.append(f"{n_read - len(rows)} rows have no target {named} and were dropped")
    policy = setting(spec, "missing")
    missing = _missing_cells(features, rows)
    rows = _apply_policy(name, policy, missing, rows, notes)
    shares = None
    if spec.get("weights") is not None:
        of_rows, where = (
            columns[names.index(spec["weights"])].take(rows).numbers(),
            f"{name}: weights {spec['weights']!r}",
        )
        if spec["weights_are"] == SAMPLING:
            shares = sampling_weights(where, of_rows, len(rows))
            rows, shares = rows[shares > 0], shares[shares > 0]
            notes.append(f"{len(rows):,} rows have sampling weights. CI tests know them; models and scores do not")
        else:
            rows, n_distinct = rows[repeated_rows(where, of_rows, len(rows))], len(rows)
            notes.append(f"{n_distinct:,} rows have weights and count as {len(rows):,}")
    if len(rows) != features.n_rows:
        features = features.take(rows)
    parts = {part: column.take(rows) for part, column in parts.items()}
    y, task = prepare_target(name, spec, y.take(rows), whole, markers, parts)
    if not isinstance(features.columns, WideColumns):
        used = (used_levels(column) for column in features.columns)
        features = Table(kept_like(features.columns, used, features.n_rows))
    groups, labels = spec.get("groups"), tuple[str, ...]()
    if groups is not None:
        numbers, labels = _numbered_groups(name, "groups", columns[names.index(groups)].take(rows))
        where = "all splits" if spec.get("time") is None else "all inner folds"
        notes.append(f"rows of one {groups!r} stay together in {where}")
    elif spec.get("weights") is not None:  # the copies of a row stay together
        numbers = rows if shares is None else None
    else:
        numbers = repeats([*features.columns, y], len(rows))
        notes += filter(None, [repeats_told(numbers)])
    times, has_dates = None, False
    if (time := spec.get("time")) is not None:
        times, has_dates = _times(name, columns[names.index(time)].take(rows))
        notes.append(f"{time!r} is the time of the rows, and no feature")
    within = spec.get("within")
    strata = None if within is None else _numbered_groups(name, "within", columns[names.index(within)].take(rows))[0]
    if strata is not None:
        notes.append(f"CI tests are made within the {len(np.unique(strata)):,} values of {within!r}")
    clusters = None if groups in (None, within) else numbers  # within a group its rows are as drawn one by one
    if any(part is not None for part in (shares, clusters, strata)):
        features = features.with_design(Design(shares, clusters, strata))
    if truth and not kept >= set(truth["blanket"]):
        notes.append("the true blanket is not known because some of its features were dropped")
        truth = None
    n_test = setting(spec, "test_rows")
    n_test = int(np.count_nonzero(rows >= n_read - n_test)) if whole else n_test
    return RawTable(
        features,
        y,
        task,
        numbers,
        labels,
        truth,
        policy,
        {column: int(np.count_nonzero(cells)) for column, cells in missing.items()},
        notes=notes,
        n_test=n_test,
        markers=markers,
        times=times,
        has_dates=has_dates,
    )


def prepare_target(
    name: str,
    spec: Mapping[str, Any],
    column: Column,
    whole: bool = True,
    markers: Found = MappingProxyType({}),
    parts: Mapping[str, Column] = MappingProxyType({}),
) -> tuple[Column, Task]:
    """Return the target as methods use it, with its `parts`, and the task.

    Raises `DataError` if no row is left, the task does not fit, there are fewer than two classes, or a text that was
    read as missing may be a class.
    """
    if not column.n_rows:
        raise DataError(f"{name}: no rows are left: the target {column.name!r} is missing in every usable row.")
    if kind := kind_of_target(spec):
        return target_of_kind(name, spec, kind, column, parts), Task(kind, "as asked")
    labels = [column, *parts.values()]
    for one in labels:
        _check_target_texts(name, spec, one)
    column = joined(name, labels) if parts else column
    try:
        task = infer_task(column, asked_task(name, setting(spec, "task"), spec.get("target_kind")))
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    if task.name == CLASSIFICATION:
        check_told_apart(name, column)
    target = used_levels(target_column(column, task.name))
    for one in labels if task.name == CLASSIFICATION and whole else ():
        check_classes(name, one.name, np.unique(one.cells(), return_counts=True)[1].tolist(), markers)
    if task.name == CLASSIFICATION and len(target.levels) < 2 and whole:
        raise DataError(
            f"{name}: the target {column.name!r} has one class only, {target.levels[0]!r}. "
            "Classification needs two: choose another target or add rows."
        )
    if task.name == CLASSIFICATION and len(target.levels) > max(MAX_NUMERIC_CLASSES, target.n_rows / 2):
        is_text = column.kind not in (INTEGER, NUMERIC)
        what = "an identifier, a date or a text does not make classes" if is_text else "set task: regression"
        raise DataError(
            f"{name}: the target {column.name!r} has {len(target.levels)} classes in {target.n_rows} rows, such as "
            f"{target.levels[0]!r}: most have one row. Choose another target; {what}."
        )
    return target, task


def target_of_kind(
    name: str, spec: Mapping[str, Any], kind: str, column: Column, parts: Mapping[str, Column]
) -> Column:
    """Return a target of a further kind, checked."""
    declared = get_target_kind(kind)
    if missing := [part for part in declared.parts if part not in parts]:
        raise ConfigError(
            f"{name}: target_kind is {kind}, which needs {listed(missing)} beside {column.name!r}. Write target: "
            f"{{{declared.own}: {column.name}, {', '.join(f'{part}: COLUMN' for part in missing)}}}."
        )
    options = spec.get("target_options") or {}
    if CAUSE in options:
        parts = {**parts, EVENT: of_cause(name, parts[EVENT], options[CAUSE])}
    if ORDER in options:
        column = in_order(name, column, options[ORDER])
    return checked_target(name, kind, column, parts)


def _check_target_texts(name: str, spec: Mapping[str, Any], column: Column) -> None:
    """Raise `DataError` if a target of numbers would be taken for classes because of some text in it."""
    is_asked = setting(spec, "task") == CLASSIFICATION or column.name in setting(spec, "categorical")
    if is_asked or len(column.levels) <= MAX_NUMERIC_CLASSES:
        return
    if what := what_is_held(column):
        raise DataError(
            f"{name}: the target {column.name!r} {what}. Write plain numbers, or leave cells that are not known empty; "
            "if these are classes, set task: classification."
        )


def recoded(name: str, columns: Sequence[Column], names: set[str]) -> Sequence[Column]:
    """Return the columns, those in `names` with their values as labels."""
    if isinstance(columns, WideColumns) and names.isdisjoint(columns.names):
        return replace(columns, more=tuple(recoded(name, columns.more, names)))
    made = (_labelled(name, column) if column.name in names else column for column in columns)
    return kept_like(columns, made, columns[0].n_rows) if names and columns else columns


def _labelled(name: str, column: Column) -> Column:
    if column.kind == INTEGER:
        check_told_apart(name, column)
    return as_categorical(column)


def as_categorical(column: Column) -> Column:
    """Return a column with its values as labels."""
    if column.kind == CATEGORICAL:
        return column
    return labelled(
        column, lambda value: str(int(value)) if np.isfinite(value) and value == int(value) else repr(value)
    )


def texts_of(column: Column) -> list[str]:
    """Return the cells as texts, empty where missing."""
    if column.kind != CATEGORICAL and column.values.dtype.kind == "f":
        return ["" if np.isnan(v) else str(int(v)) if v.is_integer() else repr(v) for v in column.values.tolist()]
    labels = as_categorical(column)
    return np.array([*labels.levels, ""], dtype=object)[labels.values].tolist()


def check_told_apart(name: str, column: Column) -> None:
    """Raise `DataError` if cells that differ may have become one number: whole ones that a float rounds."""
    values = column.cells()
    if column.kind != CATEGORICAL and values.dtype.kind == "f" and (abs(values) >= MOST_WHOLE).any():
        raise DataError(
            f"{name}: column {column.name!r} holds whole numbers beyond 2**53, which are rounded and would be mixed up "
            "where they are beyond 64 bits or cells are missing: list it under categorical, or write it as text."
        )


def check_finite(name: str, column: Column) -> None:
    """Raise `DataError` if a column holds infinite values."""
    if column.n_infinite():
        raise DataError(
            f"{name}: column {column.name!r} holds infinite values. Set infinite: missing, or replace them."
        )


def _missing_cells(features: Table, rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return which of some rows' cells are missing in each column where any is."""
    columns = (features[at] for at in np.flatnonzero(missing_by_column(features.columns)).tolist())
    missing = {column.name: column.missing()[rows] for column in columns}
    return {name: cells for name, cells in missing.items() if cells.any()}


def _apply_policy(
    name: str, policy: str, missing: Mapping[str, np.ndarray], rows: np.ndarray, notes: list[str]
) -> np.ndarray:
    """Return the rows to keep, adding what was found to `notes`."""
    if not missing:
        return rows
    n_missing = sum(int(np.count_nonzero(cells)) for cells in missing.values())
    where = listed(map(repr, missing))
    if policy == "error":
        raise DataError(
            f"{name}: {n_missing} missing cells in {where}. Fill them, or set missing: impute or missing: drop."
        )
    if policy in _LEFT:
        notes.append(f"{n_missing} missing cells in {where}, {_LEFT[policy]}")
        return rows
    complete = ~np.any(list(missing.values()), axis=0)
    if not complete.any():
        raise DataError(f"{name}: no row is complete (missing cells in {where}). Use missing: impute.")
    notes.append(f"{np.count_nonzero(~complete)} rows with missing cells in {where} were dropped")
    return rows[complete]


def _numbered_groups(name: str, key: str, column: Column) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the number of each row's group, from 0, and what the groups are called."""
    n_missing = int(np.count_nonzero(column.missing()))
    if n_missing:
        raise DataError(f"{name}: the {key} column {column.name!r} is missing in {n_missing} rows. Fill these cells.")
    check_told_apart(name, column)
    found, numbers = np.unique(column.cells(), return_inverse=True)
    if len(found) > MOST_GROUPS:
        return numbers.astype(np.int64), ()
    one_of_each = as_categorical(column.take(np.unique(numbers, return_index=True)[1]))
    return numbers.astype(np.int64), tuple(one_of_each.levels[code] for code in one_of_each.values)


def _times(name: str, column: Column) -> tuple[np.ndarray, bool]:
    """Return when each row was observed, as numbers, and whether they are days since 1970-01-01."""
    where, has_dates = f"{name}: the time column {column.name!r}", column.kind == CATEGORICAL
    moments = moments_of(name, column, []) if has_dates else None
    if column.kind == BOOLEAN or (has_dates and moments is None):
        such = f" such as {column.levels[0]!r}" if column.levels else ""
        raise DataError(
            f"{where} holds labels{such}, neither numbers nor dates. Write dates as 2024-05-31, or number the times."
        )
    check_finite(name, column)
    times = column.numbers() if moments is None else np.array([*map(days_of, moments), np.nan])[column.values]
    if n_missing := int(np.count_nonzero(np.isnan(times))):
        raise DataError(f"{where} is missing in {n_missing} rows. Fill these cells, or leave the rows out.")
    return times, has_dates
