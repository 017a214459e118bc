"""The search for the blankets of many columns by one test, distributed over processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ..ci.base import BoundTest
from ..ci.feature_groups import bind_groups, variables
from ..ci.tests_made import n_different
from ..core.limits import NO_LIMITS, LimitReached
from ..core.messages import SILENT, STEPS, Teller, say_once, with_warnings
from ..core.prior import Known
from ..core.results import CIResults
from ..core.table import Table
from ..moves.steps import Step
from ..selectors.base import Method, Problem
from ..selectors.causal.neighbours_and_spouses import Found, ParentsAndChildren
from .problems import tiers_of_variables
from .run_fold import fold_seed, run_problem
from .search import Search

#: Blankets and statuses.
Answers = tuple[dict[str, list[Step]], dict[str, tuple[str, str]]]
#: Number of tests without a key, and keys of the others: processes make some of these twice.
Asked = tuple[int, np.ndarray]


@dataclass(frozen=True)
class EveryTarget:
    """A search for the blankets of columns of `table` by one bound test.

    `table` has no missing cells unless the test supports them; `latent` columns are used only as targets. A `doubt`
    makes all answers unreliable.
    """

    search: Search
    table: Table
    latent: frozenset[str]
    known: Known
    tell: Teller = SILENT
    doubt: str = ""

    @property
    def method(self) -> Method:
        """The method."""
        return self.search.method

    def dealt(self, targets: list[str], n: int) -> tuple[Answers, int]:
        """Return the results and the number of different tests, with the targets distributed over n processes.

        Divide-and-conquer methods first search for parents and children: distributed, with results for all processes.
        """
        if n == 1:
            bound = self._bound()
            answers, warned = with_warnings(self._of, bound, targets, {}, {})
            say_once("blankets", warned)
            return answers, bound.n_tests
        dealt = [targets[part::n] for part in range(n)]
        near: Found = {}
        marginal: list[dict[str, CIResults]] = [{} for _ in dealt]
        asked: list[Asked] = []
        with Parallel(n_jobs=n) as pool:
            if self._can_share():
                first = pool(delayed(with_warnings)(self.neighbours, part) for part in dealt)
                say_once("blankets", *(warned for _, warned in first))
                marginal = [tests for (_, tests, _), _ in first]
                for (found, _, own), _ in first:
                    near |= found
                    asked.append(own)
            parts = pool(
                delayed(with_warnings)(self.of, part, near, tests) for part, tests in zip(dealt, marginal, strict=True)
            )
        say_once("blankets", *(warned for _, warned in parts))
        blankets = {target: steps for ((members, _), _), _ in parts for target, steps in members.items()}
        statuses = {target: status for ((_, own), _), _ in parts for target, status in own.items()}
        asked += [own for (_, own), _ in parts]
        n_tests = sum(n_apart for n_apart, _ in asked) + n_different([keys for _, keys in asked])
        return (blankets, statuses), n_tests

    def of(self, targets: list[str], near: Found, marginal: dict[str, CIResults]) -> tuple[Answers, Asked]:
        """Return the results, reusing earlier searches for parents and children and marginal tests."""
        bound = self._bound()
        return self._of(bound, targets, near, marginal), bound.asked()

    def _of(self, bound: BoundTest, targets: list[str], near: Found, marginal: dict[str, CIResults]) -> Answers:
        groups = self.known.feature_groups
        found: dict[str, list[Step]] = {}
        statuses: dict[str, tuple[str, str]] = {}
        shared: dict[Any, Any] = {}
        for target in targets:
            problem = self._problem(bound, target, shared)
            problem.read_table, problem.feature_groups = (lambda: self.table), groups
            problem.tell = self.tell.of(target) if self.tell.says(STEPS) else SILENT
            _see_marginal_tests(problem, bound, marginal.get(target))
            if near and isinstance(self.method, ParentsAndChildren):
                self.method.neighbourhoods(problem).know(near)
            try:
                outcome = run_problem(self.method, problem)
            except LimitReached as limit:
                statuses[target] = ("timeout", str(limit))
            else:
                found[target] = list(outcome.members)
                statuses[target] = (outcome.status, outcome.reason)
            self.tell(f"{target}: {len(found.get(target, []))} in its blanket, {statuses[target][0]}")
        return found, statuses

    def neighbours(self, columns: list[str]) -> tuple[Found, dict[str, CIResults], Asked]:
        """Return the parents and children of some columns by their own searches, and marginal tests."""
        bound, marginal, shared = self._bound(), {}, {}
        for column in columns:
            problem = self._problem(bound, column, shared)
            marginal[column] = bound.test_many(problem.features, column)
            near = self.method.neighbourhoods(problem)
            near.found(column)
        return near.known, marginal, bound.asked()

    def _can_share(self) -> bool:
        """Whether a column's search is the same for all targets, and cannot end early."""
        is_free = self.search.limits == NO_LIMITS and not self.latent and not self.known.included
        return is_free and isinstance(self.method, ParentsAndChildren)

    def _bound(self) -> BoundTest:
        bound = bind_groups(self.search.test, self.table, self.known.feature_groups, self.search.seed)
        bound.require(self.search.min_effect or 0.0)
        return bound

    def _problem(self, bound: BoundTest, target: str, shared: dict[Any, Any]) -> Problem:
        groups = self.known.feature_groups
        columns = [name for name in self.table.names if name not in self.latent]
        features = [name for name in variables(columns, groups) if name != target]
        seed = fold_seed(self.search.seed, "0")
        problem = Problem(
            features, target, None, seed, lambda: bound.table, lambda _: bound, self.search.limits, shared
        )
        problem.min_effect, problem.finds_stand_ins = bound.min_effect, False
        problem.say("unreliable" if self.doubt else "ok", self.doubt)
        problem.included = tuple(name for name in variables(self.known.included, groups) if name != target)
        problem.tiers = tiers_of_variables(self.known.tiers, groups)
        return problem


def _see_marginal_tests(problem: Problem, bound: BoundTest, known: CIResults | None) -> None:
    bound.allowance = None  # the marginal tests do not count as part of a search
    features, target = problem.features, problem.target
    if known is None:
        known = bound.test_many(features, target)
    else:
        bound.remember(features, target, known)
    _ = problem.test  # read first: given marginal results, it would cache them a second time
    problem.marginal = known
    table = bound.table if len(features) + 1 == len(bound.table) else bound.table.select([*features, target])
    if doubts := bound.test_config.doubts(table, target, problem.marginal):
        problem.say("unreliable", doubts)
