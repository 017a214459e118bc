"""Forward moves: how features enter a candidate set."""

from __future__ import annotations

from collections.abc import Sequence

from ..ci.base import BoundTest
from .steps import Step, step
from .strength import is_dependent


def scan_until_stable(
    test: BoundTest, target: str, ordered: Sequence[str], alpha: float, max_k: int | None = None
) -> list[Step]:
    """Admit any feature that depends on the target given those admitted, scan after scan, until a scan admits none.

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
        Largest conditioning set: the scan ends once the set is larger.

    Returns
    -------
    list of Step
        Admissions in order.
    """
    admitted: list[Step] = []
    members: list[str] = []
    grew = True
    while grew:
        grew = False
        for feature in ordered:
            if feature in members:
                continue
            if max_k is not None and len(members) > max_k:
                return admitted
            result = test.test(feature, target, given=members)
            if is_dependent(test, result, alpha):
                admitted.append(step(feature, result, members))
                members.append(feature)
                grew = True
    return admitted
