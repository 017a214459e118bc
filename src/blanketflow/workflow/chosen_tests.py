"""Replaces ``auto`` by a CI test for each data set of a plan, before any job starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

from ..ci import CITest
from ..ci.choice import AUTO, OF_FOLD, Choice, choose_test, why_no_spline
from ..config.typed import ChosenTest, Config, Selector
from ..core.rows import FORWARD, LEAVE_GROUP_OUT
from ..core.table import COUNTS, SAMPLING
from .peek import Facts


def with_chosen_tests(config: Config, facts: Mapping[str, Facts]) -> Config:
    """Return a configuration in which each data set has a test for ``auto``; an equal configured test is reused."""
    ci_tests, chosen = dict(config.ci_tests), {}
    for dataset in config.datasets:
        asking = [
            s for s in config.selectors.values() if s.ci_test == AUTO and dataset in (s.datasets or config.datasets)
        ]
        if asking:
            n_rows = min(smallest_fold(facts[dataset], config, selector) for selector in asking)
            spec = config.datasets[dataset]
            are_weighted = spec.get("weights_are") == COUNTS
            has_design = spec["groups"] is not None or spec.get("weights_are") == SAMPLING
            of = OF_FOLD if n_rows < facts[dataset].n_rows else ""
            reasons = {why_no_spline(selector.method.tests_sets(), selector.min_effect) for selector in asking}
            of_rows = facts[dataset], n_rows, of, are_weighted, has_design
            choices = [choose_test(*of_rows, no_spline) for no_spline in sorted(reasons)]
            first, *others = [ChosenTest(_entered(choice, ci_tests), choice.reason) for choice in choices]
            chosen[dataset] = replace(first, without_spline=next((t for t in others if t.id != first.id), None))
    types = {name: test.card.id for name, test in ci_tests.items()} | config.test_types
    return replace(config, ci_tests=ci_tests, test_types=types, chosen=chosen)


def smallest_fold(facts: Facts, config: Config, selector: Selector) -> int:
    """Return the approximate number of rows of a selector's smallest fold."""
    n_rows, evaluation, n_folds = facts.n_rows, config.splits["evaluation"], selector.folds
    n_rows -= ceil(n_rows * (selector.confirm or 0.0))
    if evaluation == FORWARD:
        n_rows //= config.splits["parts"]
    elif evaluation:
        n_parts = (facts.n_groups or 2) if evaluation == LEAVE_GROUP_OUT else evaluation
        n_rows -= facts.n_test if evaluation == 1 else ceil(n_rows / n_parts)
    if n_folds:
        n_rows = n_rows // n_folds if selector.fold_rows == "part" else n_rows - ceil(n_rows / n_folds)
    return n_rows


def _entered(choice: Choice, ci_tests: dict[str, CITest]) -> str:
    """Return the id of an equal configured test, or add the test under a free id."""
    test, test_id = choice.configured(), choice.test_id
    equal = (
        name for name, known in ci_tests.items() if type(known) is type(test) and known.options() == test.options()
    )
    if (known := next(equal, None)) is not None:
        return known
    while test_id in ci_tests:
        test_id += "-auto"
    ci_tests[test_id] = test
    return test_id
