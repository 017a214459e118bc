"""Backward moves: how false positives leave a candidate set."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .steps import Step, step
from .strength import is_independent


def remove_until_stable(test: BoundTest, target: str, members: Sequence[str], alpha: float) -> list[Step]:
    """Remove any member that is independent of the target given the others, until none is.

    Members are visited in the order given; after a removal the visits begin again.

    Returns
    -------
    list of Step
        Removals in order, then the members kept, each with its test given the other members.
    """
    kept, removals = list(members), []
    removed = True
    while removed:
        removed = False
        for feature in kept:
            others = [other for other in kept if other != feature]
            result = test.test(feature, target, given=others)
            if is_independent(test, result, alpha):
                removals.append(step(feature, result, others, kept=False))
                kept = others
                removed = True
                break
    final = []
    for feature in kept:
        others = [other for other in kept if other != feature]
        final.append(step(feature, test.test(feature, target, given=others), others))
    return removals + final


def remove_in_one_pass(test: BoundTest, target: str, least_first: Sequence[Step], alpha: float) -> list[Step]:
    """Visit members once and remove those independent of the target given the others; the last one standing stays.

    Parameters
    ----------
    least_first : sequence of Step
        Admissions, least important first; their importance is passed on.

    Returns
    -------
    list of Step
        One decision a member, in the order of the visits. A member that stands alone keeps its admission's test.
    """
    current = [admission.feature for admission in least_first]
    decisions = []
    for admission in least_first:
        others = [feature for feature in current if feature != admission.feature]
        if not others:
            decisions.append(admission)
            continue
        result = test.test(admission.feature, target, given=others)
        removed = is_independent(test, result, alpha)
        decisions.append(step(admission.feature, result, others, importance=admission.importance, kept=not removed))
        if removed:
            current = others
    return decisions
