"""The page of a table before any search: findings with what settles them, columns with their values, commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...data.findings import Finding
from ...data.findings.distribution import MOST_DRAWN, Distribution
from ...data.findings.finding import IN_WORDS
from ...data.findings.quality import ColumnSummary
from ...data.findings.to_settle import ToSettle
from ..distribution_chart import drawn_values, share_of
from ..formatting import count, number
from . import html
from .html import Cell, Table, cells

#: Columns with missing cells that are listed, groups of copies, and names in a group.
_MOST_MISSING, _MOST_GROUPS, _MOST_NAMES = 50, 30, 30
#: What findings that only this page asks about are called.
_WORDS = IN_WORDS | {
    "place": "where rows come from",
    "code": "numbers that may be labels",
    "imbalance": "unequal classes",
    "equal-rows": "equal rows",
    "wide": "more features than rows",
}


@dataclass(frozen=True)
class Inspected:
    """What the page shows of a table; without a target, only its columns and what can be said of them.

    `facts` are sentences about the table, `commands` pairs of a purpose and a command.
    """

    name: str
    shape: str
    n_rows: int
    target: str | None
    facts: Sequence[str]
    columns: Sequence[ColumnSummary]
    n_columns: int
    distributions: Sequence[Distribution]
    settle: Sequence[ToSettle]
    findings: Sequence[Finding]
    copies: Sequence[Sequence[str]]
    commands: Sequence[tuple[str, str]]


def render_inspected(seen: Inspected) -> str:
    """Return one HTML page that loads nothing from elsewhere and needs no JavaScript."""
    own = html.own()
    drawn = {one.name: drawn_values(one) for one in seen.distributions}
    return (
        html.environment()
        .get_template("inspected.html")
        .render(
            title=f"{seen.name}: the table",
            policy=html.policy((own,)),
            scripts=(own,),
            seen=seen,
            target=drawn.get(seen.target) if seen.target is not None else None,
            settle=[(in_words(one.kind), one) for one in seen.settle],
            others=others(seen.findings, seen.settle),
            missing=_missing(seen),
            groups=[(group[:_MOST_NAMES], max(len(group) - _MOST_NAMES, 0)) for group in seen.copies[:_MOST_GROUPS]],
            n_more_groups=max(len(seen.copies) - _MOST_GROUPS, 0),
            cards=[_card(seen, column, drawn.get(column.name), _found(seen)) for column in seen.columns[:MOST_DRAWN]],
        )
    )


def in_words(kind: str) -> str:
    """Return what a kind of finding is called.

    >>> in_words("date"), in_words("unknown-kind")
    ('dates as text', 'unknown-kind')
    """
    return _WORDS.get(kind, kind)


def others(findings: Sequence[Finding], settle: Sequence[ToSettle]) -> list[Finding]:
    """Return the findings that ask for nothing."""
    settled = {one.kind for one in settle}
    return [finding for finding in findings if finding.kind not in settled]


def _found(seen: Inspected) -> Mapping[str, list[str]]:
    """Return what is to settle of each column, in words."""
    kinds: dict[str, list[str]] = {}
    for one in seen.settle:
        for name in one.columns:
            kinds.setdefault(name, []).append(in_words(one.kind))
    return kinds


def _card(seen: Inspected, column: ColumnSummary, chart: Any, kinds: Mapping[str, list[str]]) -> dict[str, Any]:
    facts = [count(column.n_distinct, "value")]
    if column.n_missing:
        facts.append(f"{share_of(column.n_missing, seen.n_rows)} missing")
    found = kinds.get(column.name, [])
    look = [column.looks_like] if column.looks_like and not found else []
    return {"column": column, "chart": chart, "facts": ", ".join(facts), "found": [*found, *look]}


def _missing(seen: Inspected) -> Table | None:
    lacking = sorted((c for c in seen.columns if c.n_missing), key=lambda c: -c.n_missing)
    if not lacking:
        return None
    rows = [
        [
            *cells(column.name),
            Cell(share_of(column.n_missing, seen.n_rows), "", column.n_missing / seen.n_rows, False, column.n_missing),
            Cell(number(column.n_missing), value=column.n_missing),
        ]
        for column in lacking[:_MOST_MISSING]
    ]
    more = f"; the {_MOST_MISSING} with the most are listed" if len(lacking) > _MOST_MISSING else ""
    caption = f"{count(len(lacking), 'column')} with missing cells{more}"
    return Table(("column", "share", "cells"), rows, caption)
