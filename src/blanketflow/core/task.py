"""The choice between classification and regression, with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .cards import BOOLEAN, CATEGORICAL, CLASSIFICATION, NUMERIC, REGRESSION
from .column import TargetColumn
from .convert import from_least
from .errors import DataError, ParameterError
from .table import Column, labelled

#: A numeric target with at most this many distinct whole values, each seen 5 times on average, is a class label.
MAX_NUMERIC_CLASSES = 20
ROWS_PER_NUMERIC_CLASS = 5
#: A class is rare below this share of its rows if all classes were equal.
RARE = 0.7


class Task(NamedTuple):
    """The task and the reason for it."""

    name: str
    reason: str


def infer_task(column: Column, asked: str = "auto") -> Task:
    """Infer the task from a target column without missing cells.

    A task other than ``auto`` is returned unchanged. Raises `DataError` for regression on a categorical target.
    """
    if isinstance(column, TargetColumn):
        if asked not in ("auto", column.target_kind):
            raise DataError(
                f"target {column.name!r} is a {column.target_kind} target, but task is {asked}. Leave task out, or "
                "give a target of one column."
            )
        return Task(column.target_kind, "as asked")
    if asked != "auto":
        if asked == REGRESSION and column.kind == CATEGORICAL:
            raise DataError(
                f"target {column.name!r} holds text, which regression cannot predict. "
                "Use task: classification, or give a numeric target."
            )
        return Task(asked, "as asked")
    if column.kind in (CATEGORICAL, BOOLEAN):
        return Task(CLASSIFICATION, f"target {column.name!r} is {column.kind}")
    values = column.cells()
    distinct = len(np.unique(values))
    if distinct <= 2:
        return Task(CLASSIFICATION, f"target {column.name!r} has {distinct} distinct values")
    whole = bool(np.all(values == np.round(values)))
    if whole and distinct <= MAX_NUMERIC_CLASSES and len(values) >= ROWS_PER_NUMERIC_CLASS * distinct:
        return Task(CLASSIFICATION, f"target {column.name!r} has {distinct} distinct whole numbers")
    return Task(REGRESSION, f"target {column.name!r} is numeric with {distinct} distinct values")


def asked_task(where: str, task: str, target_kind: str | None) -> str:
    """Return the task that `task` and `target_kind` ask for; `ParameterError`, starting with `where`, if they differ.

    >>> asked_task("study", "auto", "count"), asked_task("study", "regression", None)
    ('count', 'regression')
    """
    if target_kind in (None, "auto"):
        return task
    if task not in ("auto", target_kind):
        raise ParameterError(f"{where}: task is {task}, but target_kind is {target_kind}. Leave task out.")
    return str(target_kind)


def has_rare_class(counts: Iterable[int]) -> bool:
    """Return whether the smallest class is rare, given the rows of each class; empty classes do not count.

    Accuracy then mostly measures the rarity: ROC AUC and log-loss replace it.

    >>> has_rare_class([65, 35]), has_rare_class([66, 34, 0]), has_rare_class([40, 35, 34])
    (False, True, False)
    """
    present = [n for n in counts if n]
    return bool(present) and min(present) * len(present) < RARE * sum(present)


def target_column(column: Column, task: str) -> Column:
    """Return the target as methods need it: categorical for classification, numeric for regression, others as given."""
    if isinstance(column, TargetColumn):
        return column
    if task == REGRESSION:
        return Column(column.name, NUMERIC, from_least(column).numbers())
    if column.kind == CATEGORICAL:
        return column
    return labelled(column, lambda value: str(int(value)) if value == int(value) else repr(float(value)))
