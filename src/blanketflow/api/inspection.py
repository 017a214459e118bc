"""Describes a table before a search: its columns, its problems, the suitable methods and how long they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..ci import get_ci_test
from ..core.cards import CATEGORICAL, SURVIVAL
from ..core.column import EVENT, TargetColumn
from ..core.column_checks import tokens
from ..core.registry import discover, look_up
from ..core.table import Column
from ..data.column_roles import RawTable
from ..data.dialect import found_line
from ..data.dressed_numbers import RuleNeeded
from ..data.findings import Finding, findings
from ..data.findings.distribution import Distribution, distributions
from ..data.findings.finding import MOST_COLUMNS, n_rows_examined
from ..data.findings.quality import ColumnSummary, class_counts, of_looks, summarise
from ..data.findings.repeated_columns import groups_of_copies
from ..data.findings.to_settle import ToSettle, seriousness, to_settle
from ..data.sources import read_columns, read_source
from ..reporting.formatting import distribution as in_words
from ..targets.facts import facts_of
from ..targets.forms import with_own_column
from ..workflow.cost import marginal_seconds
from ..workflow.peek import Facts
from ..workflow.plan import make_plan
from ..workflow.specs import Plan
from ..workflow.suitability import why_not_test
from .advice import PREDICT, Advice, blanket_advice

__all__ = [
    "ColumnSummary",
    "Columns",
    "Finding",
    "Inspection",
    "LikelyTarget",
    "Suitability",
    "inspect_columns",
    "inspect_table",
    "likely_targets",
]


T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Inspection:
    """The description of a table.

    `task_reason` says why the target is taken as classes or numbers. `classes` has the rows of each class; None for
    regression. `columns` are at most the first `MOST_COLUMNS` features. `findings` come with the most serious first,
    and `to_settle` are those that ask for something, one for each kind. CI tests and methods are the suitable ones
    first, from fast to slow. `suggested_test` is the test that ``auto`` takes on all rows, with the reason. `advice` is
    what to start with: for prediction, and for a Markov blanket, unless the table is refused there. `copies` are groups
    of columns that are equal or nearly so. `distributions` are those of the target and of `columns`. `proposed` are
    keys that the table must have to be searched, with which it is described. `target_words` says how a target of a
    further kind is distributed, such as events and follow-up; else empty. `events` is the number of them, for survival.
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
    to_settle: list[ToSettle]
    copies: list[list[str]]
    distributions: list[Distribution]
    proposed: dict[str, Any] = field(default_factory=dict)
    target_words: str = ""
    events: int | None = None

    def __repr__(self) -> str:
        from .notebook import inspection_text

        return inspection_text(self)

    def _repr_html_(self) -> str:
        from .notebook import inspection_html

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
    spec = with_own_column("table", spec)
    raw, spec, at_limits = _as_proposed(spec, lambda spec: read_source("table", spec, seed))
    proposed = {finding.kind.replace("-", "_") for finding in at_limits}
    raw = replace(raw, found=tuple(one for one in raw.found if one.key not in proposed))
    columns, n_features = list(islice(raw.features.columns, MOST_COLUMNS)), len(raw.features)
    found = sorted([*at_limits, *findings(raw)], key=seriousness)
    plan, tests, methods = what_suits(spec)
    facts, chosen = plan.facts["table"], plan.config.chosen["table"]
    blanket = blanket_advice(facts, facts.n_rows, plan.config.ci_tests[chosen.id])
    able = {method.id for method in methods if method.reason is None}
    return Inspection(
        target=raw.target.name,
        task=raw.task.name,
        task_reason=raw.task.reason,
        n_rows=raw.features.n_rows,
        n_features=n_features,
        classes=class_counts(raw) if raw.target.levels else None,
        columns=_summaries(columns, n_features),
        findings=found,
        tests=tests,
        methods=methods,
        suggested_test=chosen.id,
        test_reason=chosen.reason,
        advice=[advice for advice in (PREDICT, blanket) if advice.method in able],
        to_settle=to_settle(found, n_features),
        copies=groups_of_copies(raw, columns) if any(one.kind in _REPEATED for one in found) else [],
        distributions=distributions([raw.target, *columns], n_features),
        proposed={key: spec[key] for key in proposed},
        target_words=_target_words(raw, spec),
        events=(facts.class_counts or {}).get(EVENT) if raw.task.name == SURVIVAL else None,
    )


def _target_words(raw: RawTable, spec: Mapping[str, Any]) -> str:
    if not isinstance(raw.target, TargetColumn):
        return ""
    return in_words(facts_of(raw.target, spec.get("target_parts") or {}), raw.target.n_rows)


def _as_proposed(
    spec: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T]
) -> tuple[T, Mapping[str, Any], list[Finding]]:
    """Return what is read of a spec, the spec with the keys that reading needs, as proposed, and findings on these."""
    try:
        return read(spec), spec, []
    except RuleNeeded as error:
        found = [
            Finding(one.key.replace("_", "-"), (one.column,), one.seen, error.way_out(one)) for one in error.undecided
        ]
        spec = {**spec, **error.keys}
        return read(spec), spec, found


#: Kinds of findings of which there are groups of copies.
_REPEATED = ("near-copy", "duplicate")


def _summaries(columns: Sequence[Column], n_columns: int) -> list[ColumnSummary]:
    """Return summaries of columns of a table; of many rows, distinct values and looks are those of the first ones."""
    if not columns:
        return []
    n_rows = columns[0].n_rows
    n_examined = n_rows_examined(n_rows, n_columns)
    if n_examined == n_rows:
        return [summarise(column) for column in columns]
    return [_summary_of_many(column, column.take(np.arange(n_examined))) for column in columns]


def _summary_of_many(column: Column, first: Column) -> ColumnSummary:
    summary = summarise(first)
    if column.kind != CATEGORICAL and summary.values:
        values = column.numbers()
        summary = replace(summary, values=f"{np.nanmin(values):.6g} .. {np.nanmax(values):.6g}")
    return replace(summary, n_missing=column.n_missing())


#: The kind of a finding, and the key that decides it.
ORIENT = "orient"


class Columns(NamedTuple):
    """A table without a target: its size, its first columns, and the last one.

    `target` is what its keys or its source name, and `told` says how it was read; each or None. `distributions` are
    those of the first columns. `at_limits` are findings on cells that keys must explain, or on a table on its side.
    """

    n_rows: int
    n_columns: int
    first: list[ColumnSummary]
    target: str | None
    told: str | None
    last: ColumnSummary
    distributions: list[Distribution]
    at_limits: list[Finding]

    @property
    def lies_on_its_side(self) -> bool:
        """Whether features may stand in rows, which `orient` decides."""
        return any(finding.kind == ORIENT for finding in self.at_limits)

    def to_settle(self, targets: Sequence[LikelyTarget]) -> list[ToSettle]:
        """Return what to settle before a target is chosen; of likely targets the looks are left out."""
        apart = {target.name for target in targets}
        looks = {column.name: column.looks_like for column in self.first if column.name not in apart}
        if self.lies_on_its_side:
            looks = {}  # once turned, the table has other columns
        return to_settle([*self.at_limits, *of_looks(looks)], self.n_columns)

    def likely_targets(self) -> list[LikelyTarget]:
        """Return columns that may be the target, as `likely_targets` does; none of a table that lies on its side."""
        if self.lies_on_its_side:
            return []
        return likely_targets(self.first if self.first[-1].name == self.last.name else [*self.first, self.last])


def inspect_columns(spec: Mapping[str, Any], drawn: bool = False) -> Columns:
    """Return the columns of a table; with `drawn` and how their values are spread."""
    found, _, at_limits = _as_proposed(spec, lambda spec: read_columns("table", spec))
    columns, n_columns = list(islice(found.columns, MOST_COLUMNS)), len(found.columns)
    *first, last = _summaries([*columns, found.columns[-1]], n_columns)
    proposed = {finding.kind.replace("-", "_") for finding in at_limits}
    told = found_line([one for one in found.found if one.key not in proposed])
    at_limits += [
        Finding(ORIENT, (), one.what, one.proposed) for one in found.found if one.key == ORIENT and one.proposed
    ]
    spread = distributions(columns, n_columns) if drawn else []
    target = found.target if spec.get("target") is None else spec["target"]
    return Columns(columns[0].n_rows, n_columns, first, target, told, last, spread, at_limits)


#: Words by which people call what they want to predict.
TARGET_WORDS = {"target", "class", "label", "outcome", "y", "response", "diagnosis", "status", "result", "survived"}
TARGET_WORDS |= {"species", "churn", "default", "price", "grade", "disease", "death", "survival", "died", "event"}
#: What is hardly ever a target.
_NO_TARGET = ("row-number", "identifier", "date", "text", "group", "place")
#: Columns of labels with at most this many classes count as few.
_FEW_CLASSES = 10
#: Columns that are suggested at most.
_MOST = 5


@dataclass(frozen=True)
class LikelyTarget:
    """A column that may be the target, and the reasons for thinking so, the strongest first."""

    name: str
    reasons: tuple[str, ...]


def likely_targets(columns: Sequence[ColumnSummary]) -> list[LikelyTarget]:
    """Return up to 5 columns that may be the target, the likeliest first. It is a guess: nothing is computed.

    An exact name such as ``outcome`` counts most, then a name that contains such a word, the last place, two values,
    and few classes.

    Examples
    --------
    >>> of = lambda name, n: ColumnSummary(name, "categorical", 0, n, "")
    >>> [(one.name, one.reasons[0]) for one in likely_targets([of("sex", 2), of("ward", 90), of("y", 3)])]
    [('y', "its name is 'y'"), ('sex', 'it has two values')]
    """
    usable = [c for c in columns if c.looks_like not in _NO_TARGET and c.n_distinct > 1]
    ranked = []
    for column in usable:
        found = _reasons(column, column is columns[-1])
        if found:
            ranked.append((-sum(points for points, _ in found), LikelyTarget(column.name, tuple(r for _, r in found))))
    ranked.sort(key=lambda one: one[0])
    return [target for _, target in ranked][:_MOST]


def _reasons(column: ColumnSummary, is_last: bool) -> list[tuple[int, str]]:
    """Return what speaks for a column, with its weight."""
    words = sorted(TARGET_WORDS & tokens(column.name))
    found = []
    if column.name.lower() in TARGET_WORDS:
        found.append((8, f"its name is {column.name!r}"))
    elif words:
        found.append((4, f"its name contains {words[0]!r}"))
    if is_last:
        found.append((3, "it is the last column"))
    if column.n_distinct == 2:
        found.append((2, "it has two values"))
    elif column.n_distinct <= _FEW_CLASSES and column.kind == CATEGORICAL:
        found.append((1, f"it has {column.n_distinct} classes"))
    return found


#: Tests and methods that need the truth of simulated data, which are not suggested for users' tables.
_OF_TRUTH = ("oracle", "population", "true-blanket")
#: What the methods of each family are for, in the order of the advice.
PURPOSES = {
    "wrapper": "to predict",
    "causal": "for a Markov blanket",
    "filter": "for a ranking",
    "kernel": "for a ranking",
    "reference": "to compare with",
}


@dataclass(frozen=True)
class Suitability:
    """Whether a method or test suits a table, or the reason why it does not.

    `ci_test` is the test of a method: its default, or the one that is chosen for the table. `seconds` estimates the CPU
    time of one search, or of marginal tests of all features, on all rows, from the table's shape. A target with many
    neighbours takes longer. `purpose` is what a method is for; empty for a test.
    """

    id: str
    ci_test: str | None
    reason: str | None
    seconds: float | None
    purpose: str = ""


def what_suits(spec: Mapping[str, Any]) -> tuple[Plan, list[Suitability], list[Suitability]]:
    """Return a plan of all methods on all rows of a data set, its CI tests and its methods, from fast to slow."""
    names = [name for name in discover("blanketflow.selectors") if name not in _OF_TRUTH]
    tests = [name for name in discover("blanketflow.ci") if name not in _OF_TRUTH]
    plan = make_plan(
        {
            "datasets": {"table": dict(spec)},
            "splits": {"evaluation": 0},
            "folds": 0,
            "ci_tests": {name: {"type": name} for name in tests},
            "selectors": {name: {"method": name} for name in names},
        },
        Path,  # no code is digested here
    )
    facts = plan.facts["table"]
    reasons = {skip.selector: skip.reason for skip in plan.skipped}
    methods = [
        Suitability(
            name,
            plan.config.test_id("table", name),
            reasons.get(name),
            None if name in reasons else _search_seconds(plan, name),
            PURPOSES[look_up("blanketflow.selectors", name, "method").card.family],
        )
        for name in names
    ]
    return plan, sorted((_test(facts, name) for name in tests), key=_order), sorted(methods, key=_order)


def _test(facts: Facts, name: str) -> Suitability:
    test = get_ci_test(name)
    reason = why_not_test(facts, test)
    return Suitability(name, None, reason, None if reason else marginal_seconds(test, facts))


def _search_seconds(plan: Plan, name: str) -> float:
    test = plan.test_id("table", name)
    tested = plan.estimates.work_seconds("ci_test", {"dataset": "table", "test": test}) if test else 0.0
    return tested + plan.estimates.work_seconds("grow_shrink", {"dataset": "table", "selector": name})


def _order(suits: Suitability) -> tuple[bool, float, str]:
    return suits.reason is not None, suits.seconds or 0.0, suits.id
