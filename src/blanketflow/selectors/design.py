"""What a test makes of the design of a sample: rows of one group."""

from __future__ import annotations

from ..ci.base import CITest
from ..core.design import ENOUGH_CLUSTERS


def why_groups_are_ignored(test: CITest, n_groups: int | None) -> str:
    """Return in words why p-values of rows in groups may be too small; empty if they are not.

    `n_groups` is None if it is not known.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> why_groups_are_ignored(get_ci_test("cpi", permute="clusters"), 40)
    ''
    >>> why_groups_are_ignored(get_ci_test("cpi", permute="clusters"), 12)[:19]
    'there are 12 groups'
    """
    if not test.knows_clusters:
        return (
            f"rows of one group stay together, but p-values of {test.card.id} take all rows as independent: they may "
            "be too small. mi-permutation, ppi, cpi and hsic have permute for such rows"
        )
    if n_groups is not None and n_groups < ENOUGH_CLUSTERS:
        return (
            f"there are {n_groups} groups, and rates of false positives where groups are exchanged were measured from "
            f"{ENOUGH_CLUSTERS} on: with fewer p-values may be too small"
        )
    return ""
