"""Forms of `y` that hold a target of a further kind: structured arrays, frames, pairs and mappings of columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.cards import BOOLEAN, CATEGORICAL, COUNT, ORDERED, SURVIVAL, TASKS
from ..core.column import EVENT, Column, TargetColumn
from ..core.convert import column_of_objects, without_mask
from ..core.errors import ConfigError, DataError, did_you_mean, shown
from ..core.printable import listed
from . import checked_target, get_target_kind
from .joint import JOINT, as_joint, joint_given, joint_of

AUTO = "auto"
#: Names of a row's numbers in forms without other names, in order.
TIME = "time"
CAUSE, ORDER = "cause", "order"
_SURVIVAL_FORMS = (
    "a structured array with a boolean and a number, a DataFrame of two columns, or a pair (time, event) of arrays"
)


def as_target(where: str, name: str, y: Any, kind: str) -> Column | None:
    """Return `y` as a target of a further kind, or of joint labels; None if it is one column of classes or numbers.

    A structured array with a boolean field is a survival target, as in scikit-survival, also for the kind ``auto``.
    Joint labels, ``{"joint": table}``, are classes.
    Raises `DataError`, starting with `where`, if `y` is not of the kind.

    >>> y = np.array([(True, 3.0), (False, 5.0), (True, 4.0)], dtype=[("died", bool), ("days", float)])
    >>> as_target("IAMB", "target", y, "auto").target_kind
    'survival'
    >>> as_target("IAMB", "target", [1, 2, 3], "auto") is None
    True
    """
    if isinstance(y, Mapping) and JOINT in y:
        return joint_given(where, y, kind)
    columns = _columns_of(y)
    if kind == AUTO and _is_structured_survival(y):
        kind = SURVIVAL
    if kind == AUTO or kind in TASKS:
        return None
    if columns is None:
        if kind == SURVIVAL:
            raise DataError(f"{where}: a survival target needs times and events. Give y as {_SURVIVAL_FORMS}.")
        column, parts = _single(name, y), {}
    else:
        column, parts = _with_roles(where, name, columns, kind)
    for one in (column, *parts.values()):
        if one.n_missing():
            raise DataError(
                f"{where}: {one.name!r} of the target is missing in {one.n_missing()} rows. Drop them first."
            )
    return checked_target(where, kind, column, parts)


def _is_structured_survival(y: Any) -> bool:
    names = getattr(getattr(y, "dtype", None), "names", None)
    return bool(names) and sum(y.dtype[name].kind == "b" for name in names) == 1


def _columns_of(y: Any) -> dict[str, Any] | None:
    """Return the columns of `y` by name; None for one column."""
    if isinstance(y, Mapping):
        return dict(y)
    if getattr(getattr(y, "dtype", None), "names", None):
        return {name: y[name] for name in y.dtype.names}
    if hasattr(y, "columns") and hasattr(y, "iloc"):
        return {str(name): y.iloc[:, at] for at, name in enumerate(y.columns)} if len(y.columns) > 1 else None
    if isinstance(y, tuple) and len(y) in (2, 3) and not any(isinstance(part, str) or np.isscalar(part) for part in y):
        return dict(zip((TIME, EVENT, "entry"), y, strict=False))
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] in (2, 3):
        return {str(at): y[:, at] for at in range(y.shape[1])}
    return None


def _single(name: str, y: Any) -> Column:
    if hasattr(y, "columns") and hasattr(y, "iloc"):
        y = y.iloc[:, 0]
    categories = getattr(y, "cat", y)  # of a Series, or an array of categories
    if getattr(categories, "ordered", False):
        labels = tuple(map(str, categories.categories))
        return TargetColumn(name, CATEGORICAL, np.asarray(categories.codes, dtype=np.int32), labels, ORDERED)
    return column_of_objects(name, np.ravel(np.asarray(without_mask(y))))


def _with_roles(where: str, name: str, columns: Mapping[str, Any], kind: str) -> tuple[Column, dict[str, Column]]:
    """Return the target's own column and its parts by role."""
    declared = get_target_kind(kind)
    roles = (*declared.parts, *declared.optional)
    cause = columns.get(CAUSE) if kind == SURVIVAL and np.ndim(columns.get(CAUSE)) == 0 else None
    read = {key: _single(key, values) for key, values in columns.items() if key != CAUSE or cause is None}
    parts = {role: read.pop(role) for role in roles if role in read}
    if kind == SURVIVAL and EVENT not in parts:
        flags = [key for key, column in read.items() if _is_flag(column)]
        if len(flags) != 1:
            raise DataError(
                f"{where}: of the target's columns {listed(map(repr, read))} one must hold the events, as 0 and 1 or "
                f"as truth values, but {'none does' if not flags else 'several do'}. Name it event, and the other one "
                "time."
            )
        parts[EVENT] = read.pop(flags[0])
    if len(read) != 1:
        missing = [part for part in declared.parts if part not in parts]
        needs = f"{declared.card.name} needs its own column" + (f" and {listed(missing)}" if missing else "")
        raise DataError(f"{where}: {needs}; y also has {listed(map(repr, read))}. Leave out what is not the target.")
    own = next(iter(read.values()))
    if cause is not None:
        parts[EVENT] = of_cause(where, parts[EVENT], cause)
    named = name if own.name in (TIME, "0", "1") else own.name
    return replace(own, name=named), parts


def of_cause(where: str, events: Column, cause: Any) -> Column:
    """Return the events of one cause; rows with others are censored then (cause-specific hazards)."""
    named = f"{cause:g}" if isinstance(cause, int | float | np.number) else str(cause)
    held = [events.levels[code] if events.levels else f"{code:g}" for code in events.cells()]
    values = [value == named for value in held]
    if not any(values):
        known = sorted(set(held))
        raise DataError(f"{where}: no row of {events.name!r} has the cause {named}; there are {listed(known)}.")
    return Column(events.name, BOOLEAN, np.array(values, dtype=np.int8))


def as_written(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a data set's spec as a config writes it; the inverse of `with_own_column`.

    >>> as_written(with_own_column("study", {"target": {"time": "days", "event": "died"}}))
    {'target': {'time': 'days', 'event': 'died'}}
    """
    parts, options = spec.get("target_parts") or {}, spec.get("target_options") or {}
    plain = {key: value for key, value in spec.items() if key not in ("target_parts", "target_options")}
    if not parts and not options:
        return plain
    if names := joint_of(spec):
        return {**plain, "target": {JOINT: names}}
    own = get_target_kind(spec["target_kind"]).own
    plain["target"] = {own: spec["target"], **parts, **options}
    if own in (TIME, COUNT):  # which name the kind
        del plain["target_kind"]
    return plain


def in_order(where: str, column: Column, order: Any) -> Column:
    """Return labels with a declared order, the lowest first; `ConfigError` unless it has all labels.

    >>> in_order("study", Column("pain", "categorical", np.array([0, 1]), ("mild", "none")), ["none", "mild"]).values
    array([1, 0], dtype=int32)
    """
    named = list(map(str, order)) if isinstance(order, list | tuple) else []
    if lacking := [level for level in column.levels if level not in named]:
        raise ConfigError(f"{where}: order of the target {column.name!r} lacks {listed(map(repr, lacking))}: add them.")
    if not column.levels or len(set(named)) < len(named):
        what = "names a label twice" if column.levels else "is for labels, and the column has numbers"
        raise ConfigError(f"{where}: order of the target {column.name!r} {what}. Correct it, or leave it out.")
    places = np.array([named.index(level) for level in column.levels], dtype=np.int32)
    return TargetColumn(column.name, CATEGORICAL, places[column.values], tuple(named), ORDERED)


def _is_flag(column: Column) -> bool:
    return column.kind == BOOLEAN or (not column.levels and set(np.unique(column.numbers())) <= {0.0, 1.0})


def with_own_column(where: str, spec: Any) -> Any:
    """Return a data set's spec with the target's own column as `target`, and its other columns as `target_parts`.

    A spec whose target is no mapping is returned unchanged. Raises `ConfigError`, starting with `where`.

    >>> found = with_own_column("study", {"target": {"time": "days", "event": "died"}})
    >>> found["target"], found["target_kind"], found["target_parts"]
    ('days', 'survival', {'event': 'died'})
    """
    said = spec.get("target") if isinstance(spec, Mapping) else None
    if not isinstance(said, Mapping):
        return spec
    if JOINT in said:
        return as_joint(where, spec)
    kind = spec.get("target_kind") or (SURVIVAL if TIME in said else COUNT if COUNT in said else None)
    if kind is None or kind in TASKS:
        raise ConfigError(
            f"{where}: target is a mapping of {listed(said)}. Write times as {{time: COLUMN, event: COLUMN}}, counts "
            "as {count: COLUMN, exposure: COLUMN}, joint labels as {joint: [COLUMN, COLUMN]}, or name one column."
        )
    declared = get_target_kind(kind)
    own = [CAUSE] if EVENT in declared.parts else [ORDER] if kind == ORDERED else []
    known = (declared.own, *declared.parts, *declared.optional, *own)
    for key in said:
        if key not in known:
            raise ConfigError(f"{where}: target of the kind {kind} has no key {key!r}. {did_you_mean(key, known)}")
    if lacking := [key for key in (declared.own, *declared.parts) if key not in said]:
        raise ConfigError(f"{where}: target of the kind {kind} needs {listed(lacking)}: add the name of that column.")
    parts = {key: column for key, column in said.items() if key not in (declared.own, CAUSE, ORDER)}
    if wrong := [key for key in (declared.own, *parts) if not isinstance(said[key], str)]:
        raise ConfigError(f"{where}: {wrong[0]} of the target is {shown(said[wrong[0]])}, but must name a column.")
    options = {key: said[key] for key in own if said.get(key) is not None}
    of_target = {"target": said[declared.own], "target_kind": kind}
    return {**spec, **of_target, "target_parts": parts or None, "target_options": options or None}
