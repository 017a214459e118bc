"""Forward moves: how features enter a candidate set. Each admission is yielded as soon as it is made."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..ci.base import BoundTest
from .steps import Step, step
from .strength import first_dependent, is_dependent, strongest_first


def scan_until_stable(
    test: BoundTest,
    target: str,
    ordered: Sequence[str],
    alpha: float,
    max_k: int | None = None,
    start: Sequence[str] = (),
) -> Iterator[Step]:
    """Admit any feature that depends on the target given the admitted ones, scan by scan, until a scan admits none.

    While none is admitted, features are tested in batches of one, two, four, ..., since tests given the same set are
    cheapest together. The features after an admission are tested again given it. At most half of the tests are wasted.

    Parameters
    ----------
    test : BoundTest
        The bound CI test.
    target : str
        The target.
    ordered : sequence of str
        Features in the order in which each scan visits them.
    alpha : float
        Significance level.
    max_k : int, optional
        Largest conditioning set; the scan ends once the set is larger.
    start : sequence of str
        Features that are admitted from the beginning.

    Yields
    ------
    Step
        Admissions in order.
    """
    members = list(start)
    grew = True
    while grew:
        grew = False
        waiting = [feature for feature in ordered if feature not in members]
        n_ahead = 1
        while waiting:
            if max_k is not None and len(members) > max_k:
                return
            asked = test.answerable(waiting[:n_ahead], target, members)
            results = test.test_many(asked, target, given=members)
            first = first_dependent(test, results, alpha)
            if first is None:
                waiting = waiting[n_ahead:]
                n_ahead *= 2
            else:
                yield step(asked[first], results[first], members)
                members.append(asked[first])
                waiting = waiting[waiting.index(asked[first]) + 1 :]
                n_ahead = 1
                grew = True
    test.tally.end_round(len(members))


def strongest_dependent(
    test: BoundTest,
    target: str,
    features: Sequence[str],
    members: Sequence[str],
    alpha: float,
    max_k: int | None = None,
) -> Iterator[Step]:
    """Yield an admission for each feature that depends on the target given the members, strongest first.

    Table order decides ties; members are left out. With more than `max_k` members nothing is yielded.
    """
    others = [feature for feature in features if feature not in members]
    if not others or (max_k is not None and len(members) > max_k):
        return
    results = test.test_many(others, target, given=members)
    admits = False
    for i in strongest_first(results):
        if results.log_p[i] > math.log(alpha):
            break
        result = results[i]
        if is_dependent(test, result, alpha):
            admits = True
            yield step(others[i], result, members)
    if not admits:
        test.tally.end_round(len(members))


def admit_strongest(
    test: BoundTest,
    target: str,
    features: Sequence[str],
    alpha: float,
    max_k: int | None = None,
    start: Sequence[str] = (),
) -> Iterator[Step]:
    """Admit the feature that depends most on the target given the admitted ones, until none depends on it.

    The features of `start` are admitted from the beginning.
    """
    members = list(start)
    while admission := next(strongest_dependent(test, target, features, members, alpha, max_k), None):
        yield admission
        members.append(admission.feature)
