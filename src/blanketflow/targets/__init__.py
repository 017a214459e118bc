"""Kinds of targets: checks of their cells, null models, and what describes them to tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..core.cards import NUMERIC, REGRESSION, Card, is_further_kind
from ..core.column import Column, TargetColumn
from ..core.errors import ConfigError
from ..core.numerics import usual_range
from ..core.printable import listed
from ..core.registry import look_up
from .base import NullModel, TargetKind
from .normal_scores import scores_of

__all__ = [
    "NullModel",
    "TargetKind",
    "as_numbers",
    "as_read",
    "checked_target",
    "clipped",
    "clipped_told",
    "get_target_kind",
    "knows_clusters",
    "size_of",
    "why_few",
]

#: Events, or what counts in their place, that a test of a single parameter needs.
PER_PARAMETER = 10


def get_target_kind(identifier: str) -> TargetKind:
    """Return a kind of target by its id, or that of ``"package.module:Class"``.

    Raises `UnknownNameError` for an unknown id, and `ConfigError` for a class that is no kind, or lacks a part of one.

    >>> get_target_kind("survival").card.name
    'time to an event'
    """
    found = look_up("blanketflow.targets", identifier, "kind of target")
    if not (isinstance(found, type) and issubclass(found, TargetKind)):
        raise ConfigError(
            f"target_kind: {identifier} is no kind of target. Derive it from blanketflow.plugins.TargetKind."
        )
    missing = [name for name in dir(found) if getattr(getattr(found, name), "__isabstractmethod__", False)]
    if not hasattr(found, "regression") and found.null_model is TargetKind.null_model:
        missing.append("null_model")
    if missing:
        raise ConfigError(f"target_kind: {identifier} does not define {listed(missing)}. Define what is missing.")
    return found()


def checked_target(where: str, kind: str, column: Column, parts: Mapping[str, Column]) -> TargetColumn:
    """Return the target that a kind makes of its columns; raises as `TargetKind.column`, for any kind."""
    made = get_target_kind(kind).column(where, column, parts)
    if not isinstance(made, TargetColumn) or made.n_rows != column.n_rows:
        raise ConfigError(
            f"{where}: `column` of the target_kind {kind} returns no TargetColumn with a value for each row. Mend it."
        )
    return replace(made, target_kind=kind)


def as_numbers(target: TargetColumn) -> Column:
    """Return the target's residuals from its null model without predictors, as a numeric column.

    Methods and models that know numbers only read the target this way. A row with an early event has a large residual;
    of rows without an event, those observed for long have small ones (martingale residuals: Therneau, Grambsch and
    Fleming 1990, doi:10.1093/biomet/77.1.147). A target without parts has the residuals' normal scores. With parts,
    such as events or an exposure, residuals are as they are: if the features tell of censoring or exposure only, their
    mean is 0 given the features, and that of normal scores is not.
    """
    residuals = get_target_kind(target.target_kind).null_model(target, np.empty((0, target.n_rows))).residuals()
    residuals = np.round(residuals, 12)
    return Column(target.name, NUMERIC, residuals if target.parts else scores_of(residuals))


def size_of(target: Column) -> float:
    """Return what bounds the number of parameters of a target's regressions: its events, counts or rows.

    >>> size_of(TargetColumn("days", "numeric", np.arange(1.0, 5), (), "survival", {"event": np.array([1, 0, 0, 1])}))
    2.0
    """
    if not isinstance(target, TargetColumn):
        return float(target.n_rows)
    return get_target_kind(target.target_kind).size(target)


def knows_clusters(task: str) -> bool:
    """Return whether regressions of a kind of target have scores of rows, so that groups can be taken as clusters.

    >>> knows_clusters("survival"), knows_clusters("regression")
    (True, True)
    """
    return not is_further_kind(task) or get_target_kind(task).card.design_based


def why_few(target: Column, of: str = "") -> str:
    """Return in words that a target of a further kind has too few events, or rows, for any test; else nothing.

    `of` names the rows, such as ``" of the smallest fold"``.
    """
    if not isinstance(target, TargetColumn) or (size := size_of(target)) >= PER_PARAMETER:
        return ""
    return few_in_words(target.name, target.target_kind, size, target.n_rows, of)


def few_in_words(name: str, kind: str, size: float, n_rows: int, of: str = "") -> str:
    """Return the sentence of `why_few` on a target with a size below `PER_PARAMETER`.

    >>> few_in_words("days", "survival", 7.2, 120)
    "'days' has only 7 events in 120 rows, and a test of one feature needs 10: what is selected is no evidence"
    """
    return (
        f"{name!r} has only {int(size)} {get_target_kind(kind).counted} in {n_rows:,} rows{of}, and a test of one "
        f"feature needs {PER_PARAMETER}: what is selected is no evidence"
    )


def as_read(target: Column, card: Card | None) -> Column:
    """Return a target as a test or method with this card reads it: `as_numbers` if it knows numbers only.

    Of plain numbers, those far from all others are clipped: one slip would hide all features. What is independent of
    the target is independent of the clipped one.
    """
    if not isinstance(target, TargetColumn):
        return clipped(target)
    if card is None or card.accepts(target.target_kind):
        return target
    return as_numbers(target) if REGRESSION in card.tasks else target


def clipped(target: Column) -> Column:
    """Return a target of plain numbers within `usual_range`, others as they are.

    >>> float(clipped(Column("y", NUMERIC, np.array([*range(20), 5000.0]))).values.max())
    110.0
    """
    is_plain = target.kind == NUMERIC and not isinstance(target, TargetColumn)
    if not is_plain or not isinstance(target.values, np.ndarray):  # sums of products have no numbers
        return target
    values = target.numbers()
    within = np.clip(values, *usual_range(values))
    return target if np.array_equal(within, values) else replace(target, values=within)


def clipped_told(target: Column) -> str:
    """Return a note on the numbers of a target that are clipped; empty if none is."""
    if (own := clipped(target)) is target:
        return ""
    within = own.numbers()
    n_clipped = int(np.count_nonzero(target.numbers() != within))
    numbers = "1 number" if n_clipped == 1 else f"{n_clipped:,} numbers"
    read = f"{within.min():g} .. {within.max():g}"
    return f"{numbers} of {target.name} far from all others {'is' if n_clipped == 1 else 'are'} clipped, to {read}"
