"""Targets that look like counts, shares, ordered classes or positive numbers, which have tests of their own."""

from __future__ import annotations

import numpy as np

from ...core.cards import COUNT, INTEGER, ORDERED, POSITIVE, SHARE
from ...core.table import Column
from ...targets import get_target_kind, why_few
from ..column_roles import RawTable
from .finding import FEW_OF_A_CLASS, Finding, some_rows

#: Kinds that a single column may be, the first that is likely is named; and the rows that are looked at.
KINDS, MOST_ROWS = (COUNT, SHARE, ORDERED, POSITIVE), 10_000


def likely_kinds(raw: RawTable) -> list[Finding]:
    """Return at most one finding: the further kind that the target looks like, with the key that makes it one."""
    target = _with_numbers(raw.target.take(some_rows(raw.target.n_rows, MOST_ROWS)))
    for kind in KINDS:
        if why := get_target_kind(kind).why_likely(target):
            name, of_classes = get_target_kind(kind).card.name, _of_classes(raw.target)
            message = f"{target.name} may be a target of the kind {kind} ({name}): {why}{of_classes}"
            found = "count-as-classes" if kind == COUNT and of_classes else "target-kind"
            return [Finding(found, (), message, f"For tests and models of it, set target_kind: {kind}.")]
    return []


def few_events(target: Column) -> list[Finding]:
    """Return a finding if a target of a further kind has too few events, or rows, for any test."""
    advice = "Give more rows or a longer observation, or choose features by what is known of them."
    return [Finding("few-rows", (), message, advice)] if (message := why_few(target)) else []


def _of_classes(target: Column) -> str:
    """Return in words how many classes of a target are rare; nothing if none is."""
    counts = np.bincount(np.asarray(target.values)[np.asarray(target.values) >= 0]) if target.levels else np.zeros(0)
    n_few = int(((counts > 0) & (counts < FEW_OF_A_CLASS)).sum())
    return f"; as classes, {n_few} of {len(counts)} would have fewer than {FEW_OF_A_CLASS} rows" if n_few else ""


def _with_numbers(target: Column) -> Column:
    """Return classes that are whole numbers as numbers, since a count of few values is read as classes."""
    if not target.levels or not all(level.isdecimal() for level in target.levels):
        return target
    return Column(target.name, INTEGER, np.array([int(level) for level in target.levels])[target.values])
