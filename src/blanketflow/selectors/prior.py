"""A search within what is known before it: excluded features leave the question, included ones stay in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..ci.base import CITest
from ..core.prior import PriorKnowledge
from ..search.steps import INCLUDED, Step
from ..search.tiers import role_by_time
from .base import Method, Problem
from .feature_groups import check_feature_groups, with_feature_groups


def with_prior(problem: Problem, method: Method, test: CITest | None, prior: PriorKnowledge, where: str) -> Problem:
    """Return a problem without the excluded features, with the included ones noted, and groups as single features.

    The excluded features leave the table too, so that no method can condition on them. Raises as `PriorKnowledge.of`
    does, and `UnsupportedError` if the method or the test takes no groups of features.
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


def with_included(problem: Problem, decisions: Sequence[Step]) -> list[Step]:
    """Return a method's decisions with every included feature kept, and add these features to its several answers.

    One that the method removed keeps the test of its removal; the role of both says that it was not found.
    """
    missing = dict.fromkeys(problem.included)
    for decision in decisions:
        if decision.kept:
            missing.pop(decision.feature, None)
    problem.answers[:] = [
        replace(answer, features=(*answer.features, *(f for f in problem.included if f not in answer.features)))
        for answer in problem.answers
    ]
    decided = [replace(d, kept=True, role=INCLUDED) if d.feature in missing else d for d in decisions]
    known = {decision.feature for decision in decisions}
    return decided + [problem.including(feature) for feature in missing if feature not in known]


def with_roles_by_time(problem: Problem, decisions: Sequence[Step]) -> list[Step]:
    """Return decisions with parents told from children where tiers tell which."""
    return [replace(d, role=role_by_time(d.feature, d.role, problem.target, problem.tiers)) for d in decisions]
