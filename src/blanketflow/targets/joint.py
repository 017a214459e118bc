"""Joint labels: the combinations of several columns of labels, as the classes of one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.cards import CATEGORICAL, CLASSIFICATION
from ..core.column import Column
from ..core.convert import as_table, column_of_objects
from ..core.errors import ConfigError, DataError, ParameterError, shown
from ..core.table import used_levels
from ..core.task import infer_task, target_column
from .checks import refuse_missing

#: The key of a joint target, and what stands between the names of its columns and of their labels.
JOINT, BETWEEN = "joint", " & "
#: What a label of a joint target after the first is called among the parts of a target.
_LABEL = "label"


def joint_name(names: Sequence[str]) -> str:
    """Return the name of a joint target of some columns.

    >>> joint_name(["relapse", "death"])
    'relapse & death'
    """
    return BETWEEN.join(names)


def joined(where: str, columns: Sequence[Column]) -> Column:
    """Return the combinations of labels that occur, as the classes of one column.

    Raises `DataError`, starting with `where`, if a column has missing cells or more numbers than classes have.

    >>> a, b = (Column("a", "boolean", np.array([0, 1])), Column("b", "categorical", np.array([1, 1]), ("no", "yes")))
    >>> joined("study", [a, b]).levels
    ('0 & yes', '1 & yes')
    """
    labels = [_labels(where, column, columns) for column in columns]
    codes, rows = np.unique(np.column_stack([column.cells() for column in labels]), axis=0, return_inverse=True)
    texts = [
        [column.levels[code] for code in column_codes] for column, column_codes in zip(labels, codes.T, strict=True)
    ]
    if any(BETWEEN in text for of_column in texts for text in of_column):  # two combinations could read the same
        texts = [list(map(repr, of_column)) for of_column in texts]
    levels = tuple(BETWEEN.join(combination) for combination in zip(*texts, strict=True))
    name = joint_name([column.name for column in columns])
    return Column(name, CATEGORICAL, rows.ravel().astype(np.int32), levels)


def _labels(where: str, column: Column, columns: Sequence[Column]) -> Column:
    refuse_missing(where, column)
    task = infer_task(column)
    if task.name != CLASSIFICATION:
        names = ", ".join(one.name for one in columns)
        raise DataError(
            f"{where}: a joint target is of labels, and column {column.name!r} has numbers ({task.reason}). Make a few "
            f"bins of them, or search each column by itself, with target: [{names}]: the union of the blankets is also "
            "reported."
        )
    return used_levels(target_column(column, CLASSIFICATION))


def as_joint(where: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a data set's spec with ``target: {joint: [a, b]}`` as a target and its parts; raises `ConfigError`.

    Tiers have the joint target in place of its columns, in the last of their tiers.

    >>> as_joint("study", {"target": {"joint": ["a", "b"]}})
    {'target': 'a', 'target_parts': {'label 2': 'b'}, 'target_options': None}
    """
    said, kind = spec["target"], spec.get("target_kind")
    names = said[JOINT]
    if len(said) > 1 or kind not in (None, "auto", CLASSIFICATION):
        beside = f"target_kind {kind}" if len(said) == 1 else f"the key {next(key for key in said if key != JOINT)!r}"
        raise ConfigError(f"{where}: a joint target is of columns of labels and does not go with {beside}. Remove it.")
    are_names = isinstance(names, list | tuple) and all(isinstance(one, str) for one in names)
    if not are_names or len(names) < 2 or len(set(names)) < len(names):
        raise ConfigError(
            f"{where}: joint of the target is {shown(names)}, but must name two or more columns, each once: "
            "target: {joint: [COLUMN, COLUMN]}."
        )
    parts = {f"{_LABEL} {at}": column for at, column in enumerate(names[1:], start=2)}
    tiers = {"tiers": _with_joint(spec["tiers"], names)} if isinstance(spec.get("tiers"), list) else {}
    return {**spec, **tiers, "target": names[0], "target_parts": parts, "target_options": None}


def _with_joint(tiers: Sequence[Any], names: Sequence[str]) -> list[Any]:
    if not all(isinstance(tier, list) for tier in tiers):
        return list(tiers)
    last = max((at for at, tier in enumerate(tiers) if not set(names).isdisjoint(tier)), default=None)
    return [
        [*(one for one in tier if one not in names), *([joint_name(names)] if at == last else [])]
        for at, tier in enumerate(tiers)
    ]


def joint_of(spec: Mapping[str, Any]) -> list[str]:
    """Return the columns of a joint target that a data set's spec declares; none of another target.

    >>> joint_of({"target": "a", "target_parts": {"label 2": "b"}}), joint_of({"target": "a"})
    (['a', 'b'], [])
    """
    parts = spec.get("target_parts") or {}
    return [spec["target"], *parts.values()] if any(key.startswith(_LABEL) for key in parts) else []


def joint_given(where: str, y: Mapping[str, Any], kind: str) -> Column:
    """Return ``{"joint": table}`` of Python as one target; `kind` is as in `as_target`. Raises as `joint_columns`.

    >>> joint_given("demo", {"joint": {"a": ["u", "v"], "b": ["w", "w"]}}, "auto").levels
    ('u & w', 'v & w')
    """
    return joined(where, joint_columns(where, y, kind))


def refuse_among(where: str, y: Any, names: Sequence[str]) -> None:
    """Raise `DataError` if a table of features, with these names, has a column of the joint target `y`."""
    given = y[JOINT] if isinstance(y, Mapping) and JOINT in y else ()
    of_target = list(map(str, given if isinstance(given, Mapping) else getattr(given, "columns", ())))
    if both := [name for name in of_target if name in set(names)]:
        raise DataError(f"{where}: X has the column {both[0]!r}, which is part of the joint target. Drop it from X.")


def joint_columns(where: str, y: Mapping[str, Any], kind: str) -> list[Column]:
    """Return the columns of ``{"joint": table}``.

    The table is a DataFrame, an array (n, k) or a mapping of names to arrays. Raises `DataError` if it is something
    else, and `ParameterError` if `kind` is not that of classes.
    """
    if kind not in (None, "auto", CLASSIFICATION):
        raise ParameterError(f"{where}: a joint target has classes, but target_kind is {kind}. Leave target_kind out.")
    given = y[JOINT]
    given = given.to_pandas() if hasattr(given, "to_pandas") else given  # of polars and pyarrow
    columns: list[Column] = []
    if isinstance(given, Mapping):
        columns = [column_of_objects(str(name), np.ravel(np.asarray(values))) for name, values in given.items()]
    elif hasattr(given, "iloc") or isinstance(given, np.ndarray):
        n_columns = given.shape[1] if given.ndim == 2 else 0
        names = None if hasattr(given, "iloc") else [f"{_LABEL} {at + 1}" for at in range(n_columns)]
        columns = list(as_table(given, names).columns) if n_columns else []
    if len(columns) < 2 or len(y) > 1 or len({column.n_rows for column in columns}) > 1:
        raise DataError(
            f"{where}: a joint target is {{'joint': table}}, where the table has two or more columns of labels, such "
            "as X[['a', 'b']], and X is without them. bf.compare also takes the names of columns."
        )
    return columns
