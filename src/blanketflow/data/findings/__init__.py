"""What to look at in a table before its features are searched: `inspect`, the card and the report say it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from ...core.cards import CLASSIFICATION, REGRESSION
from ...core.column import Column, TargetColumn
from ...core.task import Task
from ..column_roles import RawTable
from ..dialect import found_told, found_way_out
from .finding import MOST_COLUMNS, Finding, n_rows_examined, only_some
from .follow_up import follow_up_times
from .leakage import made_targets, suspected_leaks
from .quality import looks_like, of_gaps, of_looks, of_markers, of_numbers, of_table, of_texts
from .repeated_columns import near_copies
from .repeated_measures import groups_by_rows
from .target_kinds import few_events, likely_kinds
from .to_settle import in_lines

__all__ = ["Finding", "findings", "in_lines"]


def findings(raw: RawTable) -> list[Finding]:
    """Return the possible problems of a table; of a large one they are looked for in a part, and a finding says so."""
    n_rows, n_columns = raw.features.n_rows, len(raw.features)
    n_examined = n_rows_examined(n_rows, n_columns)
    columns = list(islice(raw.features.columns, MOST_COLUMNS))
    first = columns if n_examined == n_rows else [column.take(np.arange(n_examined)) for column in columns]
    few = few_events(raw.target)
    raw, of_kind = of_plain_target(raw), isinstance(raw.target, TargetColumn)
    meant = {name for name, _ in raw.number_texts}
    looks = {column.name: looks_like(column) for column in first if column.name not in meant}
    may_be_groups = ("", "code", "place")
    looks |= dict.fromkeys((name for name in groups_by_rows(first) if looks.get(name) in may_be_groups), "group")
    likely = [] if of_kind else likely_kinds(raw)
    followed = few if of_kind else [*follow_up_times(raw, columns), *likely]
    found = [*followed, *suspected_leaks(raw), *made_targets(raw, columns)]
    found += [*near_copies(raw, columns), *of_texts(raw, columns), *of_numbers(raw, first)]
    found += [*of_looks(looks), *of_gaps(raw), *of_markers(raw), *of_table(raw, of_kind or bool(likely))]
    if told := raw.suspected.told():
        found.append(Finding("suspected-marker", tuple(raw.suspected.cells), told, raw.suspected.way_out))
    if told := found_told(raw.found):
        found.append(Finding("reading", (), told, found_way_out(raw.found)))
    without = next((note for note in raw.notes if "have no target" in note), None)
    if without:
        found.append(Finding("note", (raw.target.name,), without, "Fill them in the file if they are known."))
    part = only_some(n_columns, len(columns), n_rows, n_examined)
    if part:
        message = f"columns were examined one by one in {part} only"
        advice = "For leakage these are the columns most correlated with the target. Leave out others with drop."
        found.append(Finding("note", (), message, advice if len(columns) < n_columns else ""))
    return found


def of_plain_target(raw: RawTable) -> RawTable:
    """Return a table with a target of a further kind as an ordinary column: times, counts or labels."""
    target = raw.target
    if not isinstance(target, TargetColumn):
        return raw
    task = Task(CLASSIFICATION if target.is_discrete else REGRESSION, "")
    return replace(raw, target=Column(target.name, target.kind, target.values, target.levels), task=task)
