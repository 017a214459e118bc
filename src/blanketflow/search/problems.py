"""The problem passed to a method, with prior knowledge: excluded features are removed, included ones stay in the
answer.

A method sees each feature group as one feature, and its decisions apply to all columns of the group.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..ci.base import CITest
from ..ci.effect import without_small
from ..ci.feature_groups import bind_groups, variables
from ..core.prior import PriorKnowledge
from ..core.registry import is_foreign
from ..core.results import CIResult, CIResults
from ..moves.steps import INCLUDED, Step, Steps, Tiers, objects, role_by_time
from ..selectors.base import Method, Problem
from ..selectors.compatibility import Groups, check_feature_groups
from .isolated import results_isolated


def with_min_effect(problem: Problem, test: CITest | None, min_effect: float | None) -> Problem:
    """Return a problem in which all effects below `min_effect`, marginal ones too, count as independent."""
    if not min_effect or test is None or problem.marginal is None:
        return problem
    marginal = without_small(problem.marginal, test.effects(problem.marginal), min_effect)
    return replace(problem, marginal=marginal, min_effect=min_effect)


def with_prior(problem: Problem, method: Method, test: CITest | None, prior: PriorKnowledge, where: str) -> Problem:
    """Return a problem without the excluded features, with the included ones marked, and groups as single features.

    Excluded features are removed from the table, so that no method can condition on them. Raises like
    `PriorKnowledge.of`, and `UnsupportedError` if the method or the test does not support groups.
    """
    if not prior or not method.obeys_prior:
        return problem
    known = prior.of(problem.features, where, problem.target)
    check_feature_groups(where, method, test, known.feature_groups, problem.min_effect)
    left_out = set(known.excluded)
    kept = np.array([i for i, feature in enumerate(problem.features) if feature not in left_out])
    names = [problem.features[i] for i in kept.tolist()]
    read, columns = problem.read_table, [*names, problem.target]
    within = replace(
        problem,
        features=names,
        marginal=None if problem.marginal is None else problem.marginal.take(kept),
        read_table=(lambda: read().select(columns)) if known.excluded else read,
        included=known.included,
        tiers=known.tiers,
        costs=known.costs,
    )
    return with_feature_groups(within, test, known.feature_groups)


def with_feature_groups(problem: Problem, test: CITest | None, groups: Groups) -> Problem:
    """Return a problem whose features are the groups, and the columns in no group, with included and tiers converted.

    Groups are tested marginally here, one test each; columns keep their results.
    """
    if not groups:
        return problem
    names = variables(problem.features, groups)
    grouped = replace(
        problem,
        features=names,
        marginal=None,
        included=tuple(variables(problem.included, groups)),
        tiers=tiers_of_variables(problem.tiers, groups),
        feature_groups=groups,
    )
    if test is None or problem.marginal is None:
        return grouped
    grouped.bind = lambda table: bind_groups(test, table, groups, problem.seed, problem.target)
    table = problem.read_table()
    grouped.read_table = lambda: table

    def work() -> tuple[CIResults, None]:
        bound = grouped.bind(table)
        bound.require(problem.min_effect)
        return bound.test_many(list(groups), problem.target), None

    of_groups = (results_isolated(work) if is_foreign(test) else work())[0]
    grouped.n_inner_tests = len(groups)
    known: dict[str, CIResult] = dict(zip(problem.features, problem.marginal, strict=True))
    known |= dict(zip(groups, of_groups, strict=True))
    grouped.marginal = CIResults.from_rows(known[name] for name in names)
    return grouped


def tiers_of_variables(tiers: Tiers, groups: Groups) -> dict[str, int]:
    """Return the tiers with groups in place of their columns."""
    of_first = {members[0]: name for name, members in groups.items()}
    return {of_first.get(name, name): at for name, at in tiers.items()}


def in_columns(problem: Problem, steps: Steps) -> Steps:
    """Return steps with each step on a group replaced by one step per column."""
    if not problem.feature_groups:
        return steps
    return Steps.of(
        replace(s, feature=column, given=None if s.given is None else tuple(problem.columns(s.given)))
        for s in steps
        for column in problem.columns([s.feature])
    )


def in_groups(problem: Problem, candidates: Steps) -> Steps:
    """Return candidates from `in_columns` with one step per group."""
    if not problem.feature_groups:
        return candidates
    found: dict[str, Step] = {}
    for s in candidates:
        name = variables([s.feature], problem.feature_groups)[0]
        given = None if s.given is None else tuple(variables(s.given, problem.feature_groups))
        found.setdefault(name, replace(s, feature=name, given=given))
    return Steps.of(found.values())


def with_included(problem: Problem, decisions: Steps) -> Steps:
    """Return decisions and answers with every included feature; a removed one has the test of its removal."""
    if not problem.included:
        return decisions
    missing = dict.fromkeys(problem.included)
    for feature in decisions.feature[decisions.kept].tolist():
        missing.pop(feature, None)
    problem.answers[:] = [
        replace(answer, features=(*answer.features, *(f for f in problem.included if f not in answer.features)))
        for answer in problem.answers
    ]
    decided = [replace(d, kept=True, role=INCLUDED) if d.feature in missing else d for d in decisions]
    known = {decision.feature for decision in decisions}
    return Steps.of(decided + [problem.including(feature) for feature in missing if feature not in known])


def with_roles_by_time(problem: Problem, decisions: Steps) -> Steps:
    """Return decisions with roles parent or child where tiers tell which."""
    if not problem.tiers:
        return decisions
    roles = [role_by_time(d.feature, d.role, problem.target, problem.tiers) for d in decisions]
    return decisions.with_columns(role=objects(roles))
