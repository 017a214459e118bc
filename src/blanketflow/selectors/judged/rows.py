"""The rows that the rankings of a portfolio share: features, target, and what models read of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ...ci.base import CITest
from ...ci.choice import choose_test, described
from ...ci.feature_groups import variables
from ...core.limits import NO_LIMITS, Limits
from ...core.prior import PriorKnowledge
from ...core.table import Column, Table
from ...models.encode import Design, design, moderate, moderated
from ..base import FoldOutcome, Method, no_search


@dataclass
class Rows:
    """Some rows of a question: features and target, and what rankings of them share.

    Parameters
    ----------
    features : Table
        The columns of the features, without missing cells; those of a group stand one behind the other.
    target : Column
        The target.
    seed : int
        Seed of the models.
    check_time : function
        Called between models and between tests; raises `LimitReached` if the time is over.
    count_tests : function
        Told how many CI tests were made.
    feature_groups : mapping of str to tuple of str
        The columns of the features that are groups.
    search : callable returning FoldOutcome
        Runs a method on a table: that of `Problem`.
    """

    features: Table
    target: Column
    seed: int
    check_time: Callable[[], None] = field(default=lambda: None)
    count_tests: Callable[[int], None] = field(default=lambda _: None)
    feature_groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    search: Callable[..., FoldOutcome] = no_search

    @cached_property
    def names(self) -> list[str]:
        """The names of the features; their positions are meant wherever features have positions."""
        return variables(self.features.names, self.feature_groups)

    @cached_property
    def design(self) -> Design:
        """What models read."""
        counts = [len(self.feature_groups.get(name, (name,))) for name in self.names]
        return design(moderate(self.features)).joined(counts)

    @cached_property
    def y(self) -> np.ndarray:
        """The target as numbers or codes, (n,)."""
        return moderated(self.target)

    @cached_property
    def test(self) -> CITest:
        """The CI test of searches that propose sets, of linear relations even where some bend.

        What they find is judged on rows held out, and each round takes many tests.
        """
        return self.suited("spline takes long")

    def suited(self, no_spline: str = "") -> CITest:
        """Return the CI test that suits these columns and rows."""
        seen = described(self.features, self.target)
        return choose_test(seen, self.features.n_rows, no_spline=no_spline).configured()

    def of(self, positions: np.ndarray) -> Rows:
        """Return the same rows with some features, by their positions."""
        names = [self.names[j] for j in positions]
        groups = {name: self.feature_groups[name] for name in names if name in self.feature_groups}
        columns = [column for name in names for column in groups.get(name, (name,))]
        return replace(self, features=self.features.select(columns), feature_groups=groups)

    def run(self, method: Method, test: CITest | None, limits: Limits = NO_LIMITS) -> FoldOutcome:
        """Return what a method finds on these rows, within the limits and the time of the whole."""
        prior, limits = PriorKnowledge(feature_groups=self.feature_groups), replace(limits, check_time=self.check_time)
        found = method, test, self.features, self.target, self.seed, limits
        return self.search(*found, prior=prior, finds_stand_ins=False)
