"""Which members of a set a correction rejects, each tested given all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...ci.multiple_testing import rejected
from ...core.results import CIResult
from ...moves.steps import INCLUDED, MEMBER, Step, step
from ...moves.strength import counts, is_dependent, strength_of
from ..base import Problem


def remove(problem: Problem, candidates: Sequence[str], alpha: float, correction: str) -> Iterator[Step]:
    """Remove the weakest member that the correction does not reject, until it rejects all; then decide on the members.

    Each member is tested given the others, and its p-value corrected for as many tests as there are features. Features
    that are not members count as p = 1. Included features never leave.
    """
    members = list(candidates)
    while True:
        held = tests_of_members(problem, members)
        is_rejected = rejected(log_p_of(problem, held, alpha), alpha, correction)
        leaving = weakest_to_leave(problem, members, held, is_rejected)
        if leaving is None:
            break
        yield step(members[leaving], held[leaving], without(members, members[leaving]), kept=False)
        del members[leaving]
    for i, feature in enumerate(members):
        was_asked_for = feature in problem.included and not is_rejected[i] and counts(problem.test, held[i])
        role = INCLUDED if was_asked_for else MEMBER
        yield step(feature, held[i], without(members, feature), role=role)


def without(members: Sequence[str], feature: str) -> list[str]:
    """Return the members but one."""
    return [member for member in members if member != feature]


def tests_of_members(problem: Problem, members: Sequence[str]) -> list[CIResult]:
    """Test each member given the others."""
    return [problem.test.test(member, problem.target, given=without(members, member)) for member in members]


def log_p_of(problem: Problem, results: Sequence[CIResult], alpha: float) -> np.ndarray:
    """Return one log p per feature of the problem: of the results, 0 where p > alpha, which no correction rejects."""
    log_p = np.zeros(len(problem.features))
    log_p[: len(results)] = [result.log_p if is_dependent(problem.test, result, alpha) else 0.0 for result in results]
    return log_p


def weakest_to_leave(
    problem: Problem, members: Sequence[str], held: Sequence[CIResult], is_rejected: np.ndarray
) -> int | None:
    """Return the position of the weakest member that leaves, None if all stay."""
    leaving = [
        i
        for i, member in enumerate(members)
        if not is_rejected[i] and member not in problem.included and counts(problem.test, held[i])
    ]
    return min(leaving, key=lambda i: strength_of(held[i]), default=None)
