"""Which CI tests and methods suit a table, and how long they take, by the rules and estimates of the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...ci import get_ci_test
from ...core.registry import discover, look_up
from ...workflow.cost import marginal_seconds
from ...workflow.peek import Facts
from ...workflow.plan import make_plan
from ...workflow.specs import Plan
from ...workflow.suitability import why_not_test

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
