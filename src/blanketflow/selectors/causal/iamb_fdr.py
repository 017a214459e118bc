"""IAMB-FDR: every step of IAMB corrects for the tests of all features given the current blanket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...ci.multiple_testing import rejected
from ...ci.resolution import why_a_correction_admits_none
from ...core.results import CIResult
from ...search.neighbours import strength_of
from ...search.steps import INCLUDED, MEMBER, Step, step
from ...search.strength import counts, is_dependent
from ..base import Problem
from .inter_iamb import say_cycle


def admit_and_remove(problem: Problem, alpha: float, correction: str, max_k: int | None) -> Iterator[Step]:
    """Admit and remove one feature at a time, until the members are the features that the correction rejects.

    Each step tests all features given the members, a member given the other members, and corrects these p-values as one
    family. Of the members that are not rejected the weakest leaves; if there is none, the strongest feature that is
    rejected enters. With more than `max_k` members none enters. Included features never leave.

    On finite samples this can cycle. It ends when a set of members occurs for the second time, and the problem says so.
    """
    test, target = problem.test, problem.target
    yield from problem.admit_included()
    members = list(problem.included)
    seen: set[frozenset[str]] = set()
    while frozenset(members) not in seen:
        seen.add(frozenset(members))
        held = _tests_of_members(problem, members)
        others = [feature for feature in problem.features if feature not in members]
        if not others or (max_k is not None and len(members) > max_k):
            others = []
        results = [*held, *(test.test_many(others, target, given=members) if others else ())]
        log_p = _log_p(problem, results, alpha)
        is_rejected = rejected(log_p, alpha, correction)
        leaving = _weakest_to_leave(problem, members, held, is_rejected)
        if leaving is not None:
            yield step(members[leaving], held[leaving], _without(members, members[leaving]), kept=False)
            del members[leaving]
            continue
        entering = [i for i in range(len(members), len(results)) if is_rejected[i]]
        if not entering:
            if others:
                test.tally.end_round(len(members))
            if not members and (why := why_a_correction_admits_none(test.test_config, log_p, alpha, correction)):
                problem.say("unreliable", why)
            return
        best = max(entering, key=lambda i: strength_of(results[i]))  # the first one on ties
        feature = others[best - len(members)]
        yield step(feature, results[best], members)
        members.append(feature)
    say_cycle(problem, members)


def remove(problem: Problem, candidates: Sequence[str], alpha: float, correction: str) -> Iterator[Step]:
    """Remove the weakest member that the correction does not reject, until it rejects all; then decide on the members.

    Features that are not members count as p = 1, so that the family is that of `admit_and_remove`. What that search
    ended with by itself stays.
    """
    members = list(candidates)
    while True:
        held = _tests_of_members(problem, members)
        is_rejected = rejected(_log_p(problem, held, alpha), alpha, correction)
        leaving = _weakest_to_leave(problem, members, held, is_rejected)
        if leaving is None:
            break
        yield step(members[leaving], held[leaving], _without(members, members[leaving]), kept=False)
        del members[leaving]
    for i, feature in enumerate(members):
        was_asked_for = feature in problem.included and not is_rejected[i] and counts(problem.test, held[i])
        role = INCLUDED if was_asked_for else MEMBER
        yield step(feature, held[i], _without(members, feature), role=role)


def _without(members: Sequence[str], feature: str) -> list[str]:
    return [member for member in members if member != feature]


def _tests_of_members(problem: Problem, members: Sequence[str]) -> list[CIResult]:
    return [problem.test.test(member, problem.target, given=_without(members, member)) for member in members]


def _log_p(problem: Problem, results: Sequence[CIResult], alpha: float) -> np.ndarray:
    """Return one log p per feature of the problem: of the results, 0 where p > alpha, which no correction rejects."""
    log_p = np.zeros(len(problem.features))
    log_p[: len(results)] = [result.log_p if is_dependent(problem.test, result, alpha) else 0.0 for result in results]
    return log_p


def _weakest_to_leave(
    problem: Problem, members: Sequence[str], held: Sequence[CIResult], is_rejected: np.ndarray
) -> int | None:
    """Return the position of the weakest member that leaves, None if all stay."""
    leaving = [
        i
        for i, member in enumerate(members)
        if not is_rejected[i] and member not in problem.included and counts(problem.test, held[i])
    ]
    return min(leaving, key=lambda i: strength_of(held[i]), default=None)
