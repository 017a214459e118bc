"""Describes a table before a search: its columns, its problems, the suitable methods and how long they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from ...data.findings import Finding, findings
from ...data.findings.finding import MOST_COLUMNS
from ...data.findings.quality import ColumnSummary, class_counts, summarise
from ...data.sources import read_columns, read_source
from ..advice import PREDICT, Advice, blanket_advice
from .likely_targets import LikelyTarget, likely_targets
from .suitable import Suitability, what_suits

__all__ = [
    "ColumnSummary",
    "Finding",
    "Inspection",
    "LikelyTarget",
    "Suitability",
    "inspect_columns",
    "inspect_table",
    "likely_targets",
]


@dataclass(frozen=True, repr=False)
class Inspection:
    """The description of a table.

    `task_reason` says why the target is taken as classes or numbers. `classes` has the rows of each class; None for
    regression. `columns` are at most the first `MOST_COLUMNS` features. CI tests and methods are the suitable ones
    first, from fast to slow. `suggested_test` is the test that ``auto`` takes on all rows, with the reason. `advice` is
    what to start with: for prediction, and for a Markov blanket, unless the table is refused there.
    """

    target: str
    task: str
    task_reason: str
    n_rows: int
    n_features: int
    classes: dict[str, int] | None
    columns: list[ColumnSummary]
    findings: list[Finding]
    tests: list[Suitability]
    methods: list[Suitability]
    suggested_test: str
    test_reason: str
    advice: list[Advice]

    def __repr__(self) -> str:
        from ..shown import inspection_text

        return inspection_text(self)

    def _repr_html_(self) -> str:
        from ..shown import inspection_html

        return inspection_html(self)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain types."""
        return asdict(self)

    def columns_found(self, kind: str) -> list[str]:
        """Return the columns of all findings of a kind, each once."""
        return list(dict.fromkeys(c for finding in self.findings if finding.kind == kind for c in finding.columns))


def inspect_table(spec: Mapping[str, Any], seed: int = 0) -> Inspection:
    """Describe a table and its target; `spec` has the keys of a data set in config.yaml.

    Examples
    --------
    >>> found = inspect_table({"source": "sklearn:wine"})
    >>> found.n_rows, found.task, found.suggested_test
    (178, 'classification', 'spline')
    >>> found.columns_found("leakage")
    []
    """
    raw = read_source("table", spec, seed)
    summaries = [summarise(column) for column in islice(raw.features.columns, MOST_COLUMNS)]
    plan, tests, methods = what_suits(spec)
    facts, chosen = plan.facts["table"], plan.config.chosen["table"]
    blanket = blanket_advice(facts, facts.n_rows, plan.config.ci_tests[chosen.id])
    able = {method.id for method in methods if method.reason is None}
    return Inspection(
        target=raw.target.name,
        task=raw.task.name,
        task_reason=raw.task.reason,
        n_rows=raw.features.n_rows,
        n_features=len(raw.features),
        classes=class_counts(raw) if raw.target.levels else None,
        columns=summaries,
        findings=findings(raw),
        tests=tests,
        methods=methods,
        suggested_test=chosen.id,
        test_reason=chosen.reason,
        advice=[advice for advice in (PREDICT, blanket) if advice.method in able],
    )


def inspect_columns(spec: Mapping[str, Any]) -> tuple[int, list[ColumnSummary], str | None]:
    """Return the number of rows, the first columns, and the target that the source itself names, if any."""
    found = read_columns("table", spec)
    return found.columns[0].n_rows, [summarise(column) for column in islice(found.columns, MOST_COLUMNS)], found.target
