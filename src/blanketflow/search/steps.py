"""What a search writes down: each admission and removal with the test behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..core.results import CIResult

#: Roles that a feature can have in a blanket.
PARENT_OR_CHILD, SPOUSE, MEMBER = "parent_or_child", "spouse", "member"


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
    given : tuple of str
        The conditioning set of that test.
    role : str
        ``parent_or_child``, ``spouse`` or ``member`` (of the blanket, role unknown).
    kept : bool
        False for a removal.
    """

    feature: str
    statistic: float = 0.0
    p_value: float = 1.0
    importance: float = 0.0
    given: tuple[str, ...] = ()
    role: str = MEMBER
    kept: bool = True


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
