"""The checked, typed configuration that the plan uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..ci.base import CITest
from ..ci.choice import AUTO, why_no_spline
from ..ci.missing import incomplete_rule, with_incomplete
from ..core.prior import PriorKnowledge
from ..selectors.base import Method


@dataclass(frozen=True)
class Selector:
    """A configured selector.

    `method_name` is the method in the config: an id, or ``package.module:Class``. `ci_test` is an id in
    `Config.ci_tests`, ``auto`` or None. `folds`, `fold_rows`, `aggregate` and `grain` are its own or the config's.
    `time_limit` and `max_tests` limit each stage on one fold. `datasets` limits its data sets. `include`, `exclude`,
    `tiers`, `feature_groups` and `costs` add to those of the data set. `min_effect` is in the unit of the CI test, and
    `supplied` is the external stage (grow or shrink), if any.
    """

    id: str
    method: Method
    method_name: str
    ci_test: str | None
    folds: int
    fold_rows: str
    aggregate: Any
    grain: str
    time_limit: float | None = None
    max_tests: int | None = None
    datasets: list[str] | None = None
    include: list[str] | None = None
    exclude: list[str] | None = None
    tiers: list[list[str]] | None = None
    feature_groups: dict[str, list[str]] | None = None
    costs: dict[str, float] | None = None
    min_effect: float | None = None
    confirm: float | None = None
    confirm_splits: int = 1
    supplied: str | None = None


@dataclass(frozen=True)
class ChosenTest:
    """The test chosen by ``auto`` for a data set: its id in `Config.ci_tests`, and the reason.

    `without_spline` is the test for searches that ``spline`` does not suit, if different.
    """

    id: str
    reason: str
    without_spline: ChosenTest | None = None

    @property
    def told(self) -> str:
        """The reason, with the test of other searches."""
        others = f". Searches that it does not suit have {self.without_spline.id}" if self.without_spline else ""
        return self.reason + others


@dataclass(frozen=True)
class Config:
    """The checked configuration with defaults.

    `chosen` has the test of ``auto`` by data set, and `targets` the data set of each target by that of all targets.
    """

    output: str
    allow_foreign_files: bool
    seed: int
    datasets: dict[str, dict[str, Any]]
    splits: dict[str, Any]
    ci_tests: dict[str, CITest]
    test_types: dict[str, str]
    selectors: dict[str, Selector]
    models: list[str]
    metrics: list[str] | str
    supplied: Any
    grain: str
    job_seconds: float
    chunks: int | None
    folds: int
    fold_rows: str
    aggregate: Any
    tables: dict[str, dict[str, Any]]
    chosen: Mapping[str, ChosenTest] = field(default_factory=dict)
    targets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def parts(self, dataset: str) -> list[str]:
        """Return the data sets, one per target, of a configured data set."""
        return list(self.targets.get(dataset, {"": dataset}).values())

    def test_id(self, dataset: str, selector: str) -> str | None:
        """Return the id of a selector's CI test on a data set; None if its method uses none."""
        search = self.selectors[selector]
        if search.ci_test != AUTO:
            return search.ci_test
        return self.chosen_test(dataset, selector).id

    def chosen_test(self, dataset: str, selector: str) -> ChosenTest:
        """Return the test that ``auto`` chose for a selector on a data set."""
        search, chosen = self.selectors[selector], self.chosen[dataset]
        is_without = why_no_spline(search.method.tests_sets(), search.min_effect)
        return (chosen.without_spline if is_without else None) or chosen

    def prior(self, dataset: str, selector: str) -> PriorKnowledge:
        """Return the prior knowledge of a selector on a data set."""
        return PriorKnowledge.joined(self.datasets[dataset], vars(self.selectors[selector]))

    def max_rows(self, dataset: str, decides: Method | CITest) -> int | None:
        """Return the largest number of rows for a test, or for a method without one; None for all."""
        return self.datasets[dataset].get("max_rows") if decides.card.takes_max_rows else None

    def incomplete(self, dataset: str) -> str | int | None:
        """Return the rule for missing cells of CI tests, as `incomplete_rule`."""
        spec = self.datasets[dataset]
        return incomplete_rule(dataset, spec["missing"], spec.get("imputations"))

    def tests_by_column(self, dataset: str, test_id: str) -> bool:
        """Return whether marginal results on parts of the features equal those on all."""
        return with_incomplete(self.ci_tests[test_id], self.incomplete(dataset)).column_by_column

    def test(self, dataset: str, selector: str) -> CITest | None:
        """Return a selector's CI test on a data set."""
        test_id = self.test_id(dataset, selector)
        return None if test_id is None else self.ci_tests[test_id]
