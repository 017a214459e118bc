"""What a method and its test make of the design of a sample: sampling weights, and rows of one group."""

from __future__ import annotations

from ..ci.base import CITest
from ..core.design import ENOUGH_CLUSTERS, SAMPLING
from .base import Method
from .run_fold import why_no_weights

#: What a method may need of its test that is not measured within strata, in words.
_NOT_WITHIN = {"entropy": "entropy", "hsic": "HSIC"}


def why_no_sampling_weights(method: Method, test: CITest | None, confirm: bool = False) -> str | None:
    """Return why rows cannot have sampling weights, or None if they can.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.selectors.causal.gs import GS
    >>> why_no_sampling_weights(GS(), get_ci_test("fisher-z")) is None
    True
    >>> why_no_sampling_weights(GS(), get_ci_test("mi-permutation"))
    'mi-permutation draws, permutes or compares single rows, so that rows cannot have weights'
    """
    if reason := why_no_weights(method, test, confirm):
        return reason
    if reads := method.reads_rows():
        return f"{method.card.id} {reads}, which knows no sampling weights"
    if test is not None and not test.card.design_based:
        return f"{test.card.id} knows no sampling weights"
    return None


def why_p_values_mislead(method: Method | type[Method], test: CITest | None) -> str:
    """Return where the p-values that a method decides by are no error rates, as the test's card says; else nothing."""
    return f"{test.card.id}: {test.misleads}" if test and test.misleads and method.needs == "p-value" else ""


def why_weights_are_refused(
    weights_are: str | None, method: Method, test: CITest | None, confirm: bool = False
) -> str | None:
    """Return why rows cannot have weights of this kind, or None if they can or have none."""
    if weights_are is None:
        return None
    why_no = why_no_sampling_weights if weights_are == SAMPLING else why_no_weights
    return why_no(method, test, confirm)


def why_no_strata(method: Method, test: CITest | None, confirm: bool = False) -> str | None:
    """Return why tests cannot be made within strata, or None if they can; references need not know them.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.selectors.causal.srs import SRS
    >>> why_no_strata(SRS(), get_ci_test("g2"))
    'srs fits a sparse group lasso to rows, which knows no strata'
    """
    if method.card.family == "reference":
        return None
    if test is None:
        return f"within is for CI tests, and {method.card.id} uses none"
    if reads := method.reads_rows():
        return f"{method.card.id} {reads}, which knows no strata"
    if method.needs in _NOT_WITHIN:
        return f"{method.card.id} measures {_NOT_WITHIN[method.needs]}, which is not measured within strata"
    return "confirm does not test within strata" if confirm else None


def why_groups_are_ignored(test: CITest, n_groups: int | None) -> str:
    """Return in words why p-values of rows in groups may be too small; empty if they are not.

    `n_groups` is None if it is not known.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> why_groups_are_ignored(get_ci_test("g2"), 40)
    ''
    >>> why_groups_are_ignored(get_ci_test("cpi", permute="clusters"), 12)[:19]
    'there are 12 groups'
    """
    if not (test.knows_clusters or test.card.design_based):
        return (
            f"rows of one group stay together, but p-values of {test.card.id} take all rows as independent: they may "
            "be too small. fisher-z, g2, chi2 and lr-mixed know groups, and tests that permute have permute"
        )
    if n_groups is not None and n_groups < ENOUGH_CLUSTERS:
        groups = "there is 1 group" if n_groups == 1 else f"there are {n_groups} groups"
        return (
            f"{groups}, and rates of false positives of grouped rows were measured from "
            f"{ENOUGH_CLUSTERS} on: with fewer p-values may be too small"
        )
    return ""
