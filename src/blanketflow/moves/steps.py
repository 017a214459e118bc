"""Steps of a search: the record of admissions and removals, decisions on test results, and tiers of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..ci.base import BoundTest
from ..core.numerics import comparable, comparable_number
from ..core.results import CIResult, CIResults, StandIn

#: Roles that a feature can have in a blanket.
PARENT_OR_CHILD, SPOUSE, MEMBER = "parent_or_child", "spouse", "member"
#: Roles of a parent or child where time tells which.
PARENT, CHILD = "parent", "child"
#: The role of a feature that is in an answer because it was asked for.
INCLUDED = "included"
#: Up to this many members of a set, the conditioning sets of tests of each member given the others are recorded.
MOST_LISTED = 500


@dataclass(frozen=True)
class Step:
    """One decision about one feature.

    Attributes
    ----------
    feature : str
        Name of the feature.
    statistic, p_value : float
        Result of the test that decided.
    importance : float
        Larger is more important; comparable only within one selector.
    given : tuple of str or None
        The conditioning set of that test. None means all other members at that time, if these are `MOST_LISTED` or
        more, because recording them each time would take too much space.
    role : str
        ``parent_or_child``, or ``parent`` or ``child`` where tiers tell which; ``spouse``, ``member`` (of the blanket,
        role unknown), or ``included`` (asked for, not found).
    kept : bool
        False for a removal.
    group : str
        Name of the feature's group, if the method forms groups.
    stand_ins : tuple of StandIn
        Features that keep most of its information, of features that stay; the largest share first.

    Examples
    --------
    >>> Step("age", p_value=0.001, importance=6.9, given=("sex",)).listed
    ['sex']
    """

    feature: str
    statistic: float = 0.0
    p_value: float = 1.0
    importance: float = 0.0
    given: tuple[str, ...] | None = ()
    role: str = MEMBER
    kept: bool = True
    group: str = ""
    stand_ins: tuple[StandIn, ...] = ()

    @property
    def listed(self) -> list[str] | None:
        """The conditioning set as stored in artefacts and frames."""
        return None if self.given is None else list(self.given)


@dataclass(frozen=True)
class Answer:
    """One of several Markov blankets that a method found.

    Attributes
    ----------
    features : tuple of str
        The features, most important first.
    count : int
        How often the blanket was found.
    """

    features: tuple[str, ...]
    count: int = 1


def standing(steps: Iterable[Step]) -> list[Step]:
    """Return the admissions that no later step removed, in the order of admission.

    Examples
    --------
    >>> [s.feature for s in standing([Step("a"), Step("b"), Step("a", kept=False), Step("c")])]
    ['b', 'c']
    """
    members: dict[str, Step] = {}
    for decision in steps:
        members.pop(decision.feature, None)
        if decision.kept:
            members[decision.feature] = decision
    return list(members.values())


def step(
    feature: str,
    result: CIResult,
    given: Iterable[str] = (),
    *,
    importance: float | None = None,
    kept: bool = True,
    role: str = MEMBER,
) -> Step:
    """Return the step that a test result decides; importance is log(1/p) unless given."""
    # The logarithm of a p-value of exactly 0 is minus infinity, which is replaced by a large finite number.
    own = -max(result.log_p, -1e300)
    importance = own if importance is None else importance
    return Step(feature, result.statistic, result.p_value, importance, tuple(given), role, kept)


def strongest_first(results: CIResults) -> np.ndarray:
    """Return candidate positions ordered by log p, then statistic per degree of freedom, then column order.

    Both are rounded in their last bits, so that float noise does not decide between equivalent columns.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(3)
    >>> p = np.array([0.5, 0.01, 0.5])
    >>> strongest_first(CIResults(np.array([1.0, 9.0, 2.0]), p, np.log(p), one, one, one)).tolist()
    [1, 2, 0]
    """
    per_dof = comparable(np.abs(results.statistic) / np.maximum(results.dof, 1.0))
    return np.lexsort((np.arange(len(results)), -per_dof, comparable(results.log_p)))


def is_dependent(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result admits a feature: p <= alpha, and the result is not undecided."""
    return result.log_p <= math.log(alpha) and counts(test, result)


def first_dependent(test: BoundTest, results: CIResults, alpha: float) -> int | None:
    """Return the position of the first result that admits a feature, None if none does."""
    return next(all_dependent(test, results, alpha), None)


def all_dependent(test: BoundTest, results: CIResults, alpha: float) -> Iterator[int]:
    """Yield the positions of the results that admit a feature."""
    limit = math.log(alpha)
    for i, log_p in enumerate(results.log_p.tolist()):
        if log_p <= limit and counts(test, results[i]):
            yield i


def is_independent(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result removes a feature: p > alpha, and the result is not undecided."""
    return result.log_p > math.log(alpha) and counts(test, result)


def separates(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result removes a feature in a search over many conditioning sets.

    Like `is_independent`, except for tests with ``unreliable: auto``, whose unreliable results do not count here. A
    search for a separating set sooner or later reaches a set for which there are too few rows, and then every feature
    would be removed.
    """
    return is_independent(test, result, alpha) and (result.reliable or test.unreliable != "auto")


def decisions(test: BoundTest, results: CIResults, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return for many results what `is_dependent` and `separates` say of each, shape (m,)."""
    is_small = results.log_p <= math.log(alpha)
    is_dependent = is_small & results.reliable if test.unreliable == "undecided" else is_small
    return is_dependent, ~is_small & results.reliable if test.unreliable in ("auto", "undecided") else ~is_small


def strengths_of(results: CIResults) -> list[tuple[float, float]]:
    """Return the strength of each of many results, as `strength_of` of one."""
    per_dof = comparable(np.abs(results.statistic) / np.maximum(results.dof, 1.0))
    return [*zip((-comparable(results.log_p)).tolist(), per_dof.tolist(), strict=True)]


def strength_of(result: CIResult) -> tuple[float, float]:
    """Return the key by which dependences are compared: -log p, then statistic per degree of freedom.

    Larger is stronger. Both are rounded in their last bits, so that float noise does not decide.
    """
    per_dof = abs(result.statistic) / max(result.dof, 1.0)
    return -comparable_number(result.log_p), comparable_number(per_dof)


def counts(test: BoundTest, result: CIResult) -> bool:
    """Return whether a result decides anything: not if it is unreliable and such results are undecided."""
    return result.reliable or test.unreliable != "undecided"


#: The tier of each column that has one, the earliest 0.
Tiers = Mapping[str, int]
#: Nothing is known of time.
NO_TIERS: Tiers = {}


def may_separate(given: Iterable[str], x: str, y: str, tiers: Tiers) -> bool:
    """Return whether a set has to be tried to separate two columns: not if one of it is later than both.

    The parents of one of two columns that are no neighbours separate them, and none of them is later.

    Examples
    --------
    >>> tiers = {"smoking": 0, "cancer": 1, "cough": 2}
    >>> may_separate(["cough"], "smoking", "cancer", tiers), may_separate(["cancer"], "smoking", "cough", tiers)
    (False, True)
    """
    if x not in tiers or y not in tiers:
        return True
    last = max(tiers[x], tiers[y])
    return all(tiers.get(z, last) <= last for z in given)


def may_be_child(child: str, parent: str, tiers: Tiers) -> bool:
    """Return whether a column can be the child of another: not if it is earlier."""
    return child not in tiers or parent not in tiers or tiers[child] >= tiers[parent]


def role_by_time(feature: str, role: str, target: str, tiers: Tiers) -> str:
    """Return the role of a feature: ``parent`` or ``child`` of a neighbour that is earlier or later than the target.

    Examples
    --------
    >>> role_by_time("smoking", "parent_or_child", "cancer", {"smoking": 0, "cancer": 1})
    'parent'
    """
    if role != PARENT_OR_CHILD or feature not in tiers or target not in tiers or tiers[feature] == tiers[target]:
        return role
    return PARENT if tiers[feature] < tiers[target] else CHILD
