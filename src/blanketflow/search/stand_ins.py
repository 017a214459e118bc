"""Which features could stand in for a member of an answer: they keep most of its information about the target.

The information of X about T is I(X;T|C), where C are other members of the answer. F keeps the share
1 - I(X;T|C,F) / I(X;T|C) of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..ci.base import BoundTest, CITest
from ..ci.effect import NATS
from ..core.results import CIResult, CIResults
from ..core.stand_ins import StandIn
from .steps import Step

#: Features that keep less of a member's information are not listed, nor are those that say much less or much more.
LISTED = 0.8
#: The p-value, corrected for the number of features, above which a member says nothing about the target by itself.
SAYS_SOMETHING = 0.05
#: Most members given which the information of another one is taken.
MOST_GIVEN = 3
#: Tests that are made for all members of an answer, the most important first.
MOST_TESTS = 100_000
#: Of a standard normal: 95 % are between minus this and this.
Z = 1.959964
#: Information that is less than this share of a member's is rounding.
ROUNDING = 1e-9


def measures_information(test: BoundTest | CITest) -> bool:
    """Return whether the statistics of a test tell the conditional mutual information."""
    return test.card.effect.startswith(NATS) or "mutual-information" in test.card.measures


def stand_ins_of(
    test: BoundTest, target: str, features: Sequence[str], members: Iterable[Step], marginal: CIResults | None = None
) -> dict[str, list[StandIn]] | None:
    """Return for each member of an answer the other features that keep most of its information, the most first.

    Features are looked at that say about as much of the target as the member does, given nothing. A member that says
    something only given others, such as a spouse, is looked at given these. Costs one test for each such feature and
    member, and for a spouse one for each feature. After `MOST_TESTS` the members that are left have no stand-ins.

    Parameters
    ----------
    test : BoundTest
        A test that `measures_information`.
    target : str
        The target.
    features : sequence of str
        All features.
    members : iterable of Step
        The admissions of the members, the most important first.
    marginal : CIResults, optional
        The results of this test for all features and the target given nothing, if they are known.

    Returns
    -------
    dict of str to list of StandIn, or None
        By member. Members for which there is none are left out. None if there are too few rows for some of the tests.

    Examples
    --------
    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> a, noise, e = np.random.default_rng(0).normal(size=(3, 200))
    >>> bound = get_ci_test("fisher-z").bind(np.column_stack([a, 1.8 * a + 32, noise, a + e]))
    >>> stand_ins_of(bound, "x3", ["x0", "x1", "x2"], [Step("x0")])
    {'x0': [StandIn(feature='x1', share=1.0, low=1.0, high=1.0)]}
    """
    found: dict[str, list[StandIn]] = {}
    ordered, most = list(members), test.n_tests + MOST_TESTS
    known = test.test_many(test.table.positions(features), target) if marginal is None else marginal
    alone, place = _information(test, known), {feature: at for at, feature in enumerate(features)}
    for member in ordered:
        if test.n_tests > most:
            break
        own = known[place[member.feature]]
        rows = _of_member(test, target, features, alone, own, member, [other.feature for other in ordered])
        if rows is None:
            return None
        if rows:
            found[member.feature] = sorted(rows, key=lambda row: -round(row.share, 9))
    return found


def _of_member(
    test: BoundTest,
    target: str,
    features: Sequence[str],
    alone: np.ndarray,
    own: CIResult,
    member: Step,
    members: Sequence[str],
) -> list[StandIn] | None:
    name = member.feature
    given: tuple[str, ...] = ()
    if not own.reliable:
        return None
    if own.p_value * len(features) > SAYS_SOMETHING:
        given = member.given or ()
        if {name, target} & set(given):  # the test that admitted it is of another pair
            return []
        if not 0 < len(given) <= MOST_GIVEN or not (own := test.test(name, target, given=given)).reliable:
            return []
        if own.p_value > SAYS_SOMETHING:
            return []
        asked = [feature for feature in features if feature not in given]
        of_asked = dict(
            zip(asked, _information(test, test.test_many(asked, target, given=given)).tolist(), strict=True)
        )
        alone = np.array([of_asked.get(feature, 0.0) for feature in features])
    size = float(_information(test, CIResults.from_rows([own]))[0])
    at = np.flatnonzero((alone >= LISTED * size) & (alone * LISTED <= size))
    likely = [feature for feature in (features[i] for i in at.tolist()) if feature != name and feature not in given]
    if not likely:
        return []
    if not given:
        others = tuple(other for other in members if other != name and other not in likely)[:MOST_GIVEN]
        of_given = test.test(name, target, given=others)
        if of_given.reliable and of_given.p_value <= SAYS_SOMETHING:
            rows = _shares(test, target, name, likely, others, of_given)
            if rows is not None:
                return rows
        # It says nothing that others do not say, or there are too few rows to tell.
    return _shares(test, target, name, likely, given, own)


def _shares(
    test: BoundTest, target: str, name: str, likely: Sequence[str], given: tuple[str, ...], own: CIResult
) -> list[StandIn] | None:
    whole, rows = Information(test, own), []
    for feature in likely if whole.estimate > 0.0 else ():
        result = test.test(name, target, given=(feature, *given))
        if not result.reliable:
            return None
        row = StandIn(feature, *share_kept(Information(test, result), whole))
        rows += [row] if row.share >= LISTED else []
    return rows


def says_as_much(test: BoundTest, target: str, feature: str, other: str) -> bool:
    """Return whether neither of two features says anything that the other does not, but for rounding."""
    size = float(_information(test, test.test_many([feature], target))[0])
    beyond = (test.test_many([x], target, given=[z]) for x, z in ((feature, other), (other, feature)))
    return all(float(_information(test, results)[0]) <= ROUNDING * size for results in beyond)


def _information(test: BoundTest, results: CIResults) -> np.ndarray:
    """Return the conditional mutual information of some results in nats, shape (m,)."""
    config = test.test_config
    return config.effects(results) if test.card.effect.startswith(NATS) else config.mutual_information(results)


class Information:
    """The information that a test measured: its `plain` estimate, one without bias, and its 95 % interval.

    2n times the plain estimate is distributed as a noncentral chi-square with the test's degrees of freedom k and the
    noncentrality 2n I, which is k too large on average. For the interval the square root of this statistic less
    (k - 1) / 2 counts as normal with variance 1 and mean sqrt(2n I + (k - 1) / 2) (Sankaran, 1963, Biometrika 50,
    199-204).
    """

    def __init__(self, test: BoundTest, result: CIResult) -> None:
        n = max(float(result.n), 1.0)
        k = max(float(result.dof), 0.0) if test.card.effect.startswith(NATS) else 1.0
        self.plain = float(_information(test, CIResults.from_rows([result]))[0])
        statistic, shift = 2 * n * self.plain, (k - 1) / 2
        if statistic <= 2 * n * ROUNDING * ROUNDING:  # nothing at all, as of an exact copy
            self.estimate = self.low = self.high = 0.0
            return
        root = np.sqrt(max(statistic - shift, 0.0))
        bounds = [max(np.sign(r) * r * r - shift, 0.0) / (2 * n) for r in (root - Z, root + Z)]
        self.low, self.high = map(float, bounds)
        self.estimate = max(statistic - k, 0.0) / (2 * n)


def share_kept(left: Information, whole: Information) -> tuple[float, float, float]:
    """Return 1 - left / whole and its 95 % interval, each 0 to 1.

    The interval of the ratio is made from the intervals of both as if they were independent (Donner, Zou, 2012,
    Statistical Methods in Medical Research 21, 347-359). What is left and the whole rise and fall together, which makes
    it too wide.
    """
    a, b = left.estimate, whole.estimate
    lower, upper = 0.0, np.inf
    if a > 0 and left.low > 0:
        below = whole.high * (2 * b - whole.high)
        root = np.sqrt(max((a * b) ** 2 - left.low * (2 * a - left.low) * below, 0.0))
        lower = (a * b - root) / below if below > 0 else left.low / whole.high
    if whole.low > 0:
        above = whole.low * (2 * b - whole.low)
        root = np.sqrt(max((a * b) ** 2 - left.high * (2 * a - left.high) * above, 0.0))
        upper = (a * b + root) / above
    share, low, high = (float(min(max(1.0 - ratio, 0.0), 1.0)) for ratio in (a / b, upper, lower))
    return share, min(low, share), max(high, share)
