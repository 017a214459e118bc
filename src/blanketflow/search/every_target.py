"""The search for the blankets of many columns by one test, distributed over processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed

from ..ci.base import BoundTest
from ..ci.feature_groups import bind_groups, variables
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

#: Largest share of columns as targets for which processes search from the neighbours that they need.
MOST_APART = 0.5
#: Blankets, statuses and the number of tests.
Answers = tuple[dict[str, list[Step]], dict[str, tuple[str, str]], int]


@dataclass(frozen=True)
class EveryTarget:
    """A search for the blankets of columns of `table` by one bound test.

    `table` has no missing cells unless the test supports them; `latent` columns are used only as targets.
    """

    search: Search
    table: Table
    latent: frozenset[str]
    known: Known
    tell: Teller = SILENT

    @property
    def method(self) -> Method:
        """The method."""
        return self.search.method

    def dealt(self, targets: list[str], n: int) -> Answers:
        """Return the results, with the targets distributed over n processes.

        Divide-and-conquer methods search from a target's neighbours first: distributed once, with results for all
        processes.
        """
        near: Found = {}
        marginal: dict[str, CIResults] = {}
        n_tests = 0
        with Parallel(n_jobs=n) as pool:
            columns = variables(self.table.names, self.known.feature_groups)
            if n > 1 and self._can_share() and len(targets) > MOST_APART * len(columns):
                first = pool(delayed(with_warnings)(self.neighbours, columns[part::n]) for part in range(n))
                say_once("blankets", *(warned for _, warned in first))
                for (found, tests, count), _ in first:
                    near, marginal, n_tests = near | found, marginal | tests, n_tests + count
            dealt = [targets[part::n] for part in range(n)]
            own = [{target: marginal[target] for target in part if target in marginal} for part in dealt]
            parts = pool(
                delayed(with_warnings)(self.of, part, near, tests) for part, tests in zip(dealt, own, strict=True)
            )
        say_once("blankets", *(warned for _, warned in parts))
        blankets = {target: steps for (members, _, _), _ in parts for target, steps in members.items()}
        statuses = {target: status for (_, own, _), _ in parts for target, status in own.items()}
        return blankets, statuses, n_tests + sum(count for (_, _, count), _ in parts)

    def of(self, targets: list[str], near: Found, marginal: dict[str, CIResults]) -> Answers:
        """Return the results, reusing earlier searches for parents and children and marginal tests."""
        bound, groups = self._bound(), self.known.feature_groups
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
        return found, statuses, bound.n_tests

    def neighbours(self, columns: list[str]) -> tuple[Found, dict[str, CIResults], int]:
        """Return the parents and children of some columns by their own searches, marginal tests, and the number of
        tests.
        """
        bound, marginal, shared = self._bound(), {}, {}
        for column in columns:
            problem = self._problem(bound, column, shared)
            marginal[column] = bound.test_many(problem.features, column)
            near = self.method.neighbourhoods(problem)
            near.found(column)
        return near.known, marginal, bound.n_tests

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
        problem.included = tuple(name for name in variables(self.known.included, groups) if name != target)
        problem.tiers = tiers_of_variables(self.known.tiers, groups)
        return problem


def _see_marginal_tests(problem: Problem, bound: BoundTest, known: CIResults | None) -> None:
    bound.allowance = None  # the marginal tests do not count as part of a search
    features, target = problem.features, problem.target
    problem.marginal = bound.test_many(features, target) if known is None else known
    table = bound.table if len(features) + 1 == len(bound.table) else bound.table.select([*features, target])
    if doubts := bound.test_config.doubts(table, target, problem.marginal):
        problem.say("unreliable", doubts)
