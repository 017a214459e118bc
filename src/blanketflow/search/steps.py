"""What a search writes down: each admission and removal with the test behind it; its answers if it has several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..core.results import CIResult

#: Roles that a feature can have in a blanket.
PARENT_OR_CHILD, SPOUSE, MEMBER = "parent_or_child", "spouse", "member"
#: Members of a set that is tested each given the others, up to which every conditioning set is written down.
MOST_LISTED = 500


@dataclass(frozen=True)
class Step:
    """One decision about one feature.

    Attributes
    ----------
    feature : str
        Its name.
    statistic, p_value : float
        Outcome of the test that decided.
    importance : float
        Larger is more important; comparable within one selector only.
    given : tuple of str or None
        The conditioning set of that test. None for all others that stood then, where these are `MOST_LISTED` or more:
        written down each time, they would be more than everything else.
    role : str
        ``parent_or_child``, ``spouse`` or ``member`` (of the blanket, role unknown).
    kept : bool
        False for a removal.
    group : str
        Where a method forms groups of features: the name of this one's group.

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

    @property
    def listed(self) -> list[str] | None:
        """The conditioning set as artefacts and frames have it."""
        return None if self.given is None else list(self.given)


@dataclass(frozen=True)
class Answer:
    """One of several Markov blankets that a method found.

    Attributes
    ----------
    features : tuple of str
        Most important first.
    count : int
        How often it was found.
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
    # A p-value of exactly 0 has no logarithm: the smallest double stands for it.
    own = -max(result.log_p, -1e300)
    importance = own if importance is None else importance
    return Step(feature, result.statistic, result.p_value, importance, tuple(given), role, kept)
