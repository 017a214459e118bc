"""IAMB-FDR: every step of IAMB corrects for the tests of all features given the current blanket."""

from __future__ import annotations

from collections.abc import Iterator

from ...ci.multiple_testing import rejected
from ...ci.resolution import why_a_correction_admits_none
from ...search.steps import Step, step
from ...search.strength import strength_of
from ..base import Problem
from .corrected_members import log_p_of, tests_of_members, weakest_to_leave, without
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
        held = tests_of_members(problem, members)
        others = [feature for feature in problem.features if feature not in members]
        if not others or (max_k is not None and len(members) > max_k):
            others = []
        results = [*held, *(test.test_many(others, target, given=members) if others else ())]
        log_p = log_p_of(problem, results, alpha)
        is_rejected = rejected(log_p, alpha, correction)
        leaving = weakest_to_leave(problem, members, held, is_rejected)
        if leaving is not None:
            yield step(members[leaving], held[leaving], without(members, members[leaving]), kept=False)
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
