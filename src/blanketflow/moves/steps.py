"""The record of a search: each admission and removal with its test, and the answers if there are several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..core.results import CIResult, StandIn

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
