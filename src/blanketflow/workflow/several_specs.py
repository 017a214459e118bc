"""What a job is asked for that does several things on a data set: the spec and code of each, as one JSON text."""

from __future__ import annotations

from collections.abc import Iterable

from .specs import Plan, canonical_json


def tests_spec(plan: Plan, dataset: str, tests: Iterable[str]) -> str:
    """Return the specs of ci_test artefacts."""
    return canonical_json({test: plan.test_spec(dataset, test) for test in tests})


def tests_code(plan: Plan, tests: Iterable[str]) -> str:
    """Return the digests of their code."""
    return canonical_json({test: plan.code("ci_test", test=test) for test in tests})


def selectors_spec(plan: Plan, dataset: str, selectors: Iterable[str]) -> str:
    """Return for each selector its ci_test artefact, its folds, and the specs of its search and aggregation."""
    return canonical_json(
        {
            name: [
                plan.test_id(dataset, name),
                plan.folds(name),
                plan.method_spec(dataset, name),
                plan.aggregate_spec(dataset, name),
            ]
            for name in selectors
        }
    )


def selectors_code(plan: Plan, dataset: str, selectors: Iterable[str]) -> str:
    """Return the digests of the code of each search, and of the aggregation."""
    searches = {name: plan.code("grow_shrink", dataset=dataset, selector=name) for name in selectors}
    return canonical_json({"search": searches, "aggregate": plan.code("aggregate")})
