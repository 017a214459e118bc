"""Checks of what a method and its CI test support: ``why_...`` return the reason against it, ``check_...`` raise it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..ci.base import CITest
from ..ci.choice import AUTO, OF_FURTHER_KINDS, Described
from ..ci.effect import MIN_EFFECT, why_p_values_do_not_select
from ..ci.missing import incomplete_rule, why_not_incomplete, with_incomplete
from ..ci.rates import families_of, invalid_in, of_test
from ..core.cards import EXACT, IMPUTATIONS, REGRESSION, TASKS, is_further_kind
from ..core.column import TargetColumn
from ..core.errors import ParameterError, UnsupportedError
from ..core.registry import discover
from ..core.results import CIResults
from ..core.table import ENOUGH_CLUSTERS, SAMPLING, Column
from ..targets import knows_clusters, why_few
from .base import Method

#: With a larger share of rows that equal earlier ones, a test at level 0.05 rejects more than 7 % of true nulls.
MOST_REPEATED = 0.15
#: The columns of each group of features, by its name.
Groups = Mapping[str, tuple[str, ...]]


def check_pair(method: Method, test: CITest | None) -> None:
    """Raise `UnsupportedError` unless the test measures what the method needs, of column sets if needed."""
    if test is None:
        return
    if method.needs not in test.card.measures:
        raise UnsupportedError(
            f"{method.card.id} needs a test that measures {method.needs}, which {test.card.id} does not. "
            "See blanketflow.list_ci_tests()."
        )
    if method.tests_sets() and not test.card.column_sets:
        raise UnsupportedError(
            f"{method.card.id} needs a test of sets of columns with these options, but {test.card.id} tests one column "
            "at a time. Choose a test with column_sets in blanketflow.list_ci_tests(), or m: 1."
        )


def why_no_target(method: Method, test: CITest | None, task: str) -> str | None:
    """Return why a kind of target is not supported, or None.

    Searches by p-values take what their CI test takes. Other methods read a target of a further kind as a number, see
    `as_numbers`, if they do regression.

    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.selectors.causal.iamb import IAMB
    >>> why_no_target(IAMB(), get_ci_test("g2"), "survival")
    'g2 does not test survival targets: set ci_test to auto, lr-mixed, spline or gcm'
    """
    if task in TASKS:
        return None if task in method.card.tasks else f"{method.card.id} does not do {task}"
    if reads_as_number(method, test):
        if REGRESSION in method.card.tasks:
            return None
        return f"{method.card.id} does not do {task}: choose a search by p-values, such as iamb or hiton-mb"
    if test is None or method.needs_complete_rows():
        what = f"{method.card.id} reads rows beside its CI test, and does not do {task}"
        return f"{what}: choose another search by p-values, such as iamb or hiton-mb"
    if test.card.accepts(task):
        return None
    *others, last = AUTO, *OF_FURTHER_KINDS
    return f"{test.card.id} does not test {task} targets: set ci_test to {', '.join(others)} or {last}"


def reads_as_number(method: Method, test: CITest | None) -> bool:
    """Return whether a method reads a target of a further kind as a number: it decides by no p-values of a CI test."""
    return test is None or method.needs != "p-value"


def check_choice(method: Method) -> None:
    """Raise `UnsupportedError` unless the method can use ``auto``, which chooses among tests with p-values."""
    if method.needs != "p-value":
        raise UnsupportedError(
            f"{method.card.id} needs a test that measures {method.needs}, and auto chooses among tests by their "
            "p-values. Name a test, such as g2."
        )


def check_resolution(method: Method, test: CITest | None, n_features: int) -> None:
    """Raise `ParameterError` if the test's smallest p-value is too large to admit any feature."""
    reason = test.why_not(method, n_features) if test is not None else None
    if reason:
        raise ParameterError(f"{reason}.")


def why_no_weights(method: Method | type[Method], test: CITest | None, confirm: bool = False) -> str | None:
    """Return why row weights are not supported, or None."""
    if confirm:
        return "confirm leaves single rows out, so that rows cannot have weights"
    for one in (method, test):
        if one is not None and one.draws_rows:
            return f"{one.card.id} draws, permutes or compares single rows, so that rows cannot have weights"
    return None


#: Measures that are not available within strata, in words.
_NOT_WITHIN = {"entropy": "entropy", "hsic": "HSIC"}


def why_no_sampling_weights(method: Method, test: CITest | None, confirm: bool = False) -> str | None:
    """Return why sampling weights are not supported, or None.

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


def why_weights_are_refused(
    weights_are: str | None, method: Method, test: CITest | None, confirm: bool = False
) -> str | None:
    """Return why weights of this kind are not supported, or None."""
    if weights_are is None:
        return None
    why_no = why_no_sampling_weights if weights_are == SAMPLING else why_no_weights
    return why_no(method, test, confirm)


def why_no_strata(method: Method, test: CITest | None, confirm: bool = False) -> str | None:
    """Return why tests within strata are not supported, or None. References ignore strata.

    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.selectors.causal.res import SRS
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


def why_p_values_mislead(
    method: Method | type[Method], test: CITest | None, table: Described | None = None, n_rows: int = 0
) -> str:
    """Return why the method's p-values do not control the error rate; else nothing.

    From the test's card, and from the measured rates if the `table` and its `n_rows` are given.

    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.ci.choice import Description
    >>> from blanketflow.selectors.causal.gs import GS
    >>> bent = Description(["numeric"], 5, None, None, None, 2, bends="y with x")
    >>> why_p_values_mislead(GS(), get_ci_test("fisher-z"), bent, 300)[:29]
    'fisher-z: it rejects 100 % of'
    """
    if test is None or method.needs != "p-value":
        return ""
    measured = ""
    if table is not None and not table.target_kind:
        measured = invalid_in(of_test(test), families_of(table.kinds, table.bends, table.has_flags), n_rows)
    told = "; ".join(filter(None, (test.misleads, measured)))
    return f"{test.card.id}: {told}" if told else ""


def why_groups_are_ignored(test: CITest, n_groups: int | None, task: str = "") -> str:
    """Return why p-values may be too small for rows in groups (`n_groups`, None if unknown); else empty.

    >>> from blanketflow.ci import get_ci_test
    >>> why_groups_are_ignored(get_ci_test("g2"), 40)
    ''
    >>> why_groups_are_ignored(get_ci_test("cpi", permute="clusters"), 12)[:19]
    'there are 12 groups'
    """
    is_of_kind, known = is_further_kind(task) and test.card.accepts(task), ""
    if is_of_kind and not knows_clusters(task):
        known = f"no test of {task} targets knows groups"
    elif not (test.knows_clusters or test.card.design_based):
        known = "fisher-z, g2, chi2 and lr-mixed know groups, and tests that permute have permute"
        known = "lr-mixed knows groups" if is_of_kind else known
    if known:
        return (
            f"rows of one group stay together, but p-values of {test.card.id} take all rows as independent: they may "
            f"be too small. {known}"
        )
    if n_groups is not None and n_groups < ENOUGH_CLUSTERS:
        groups = "there is 1 group" if n_groups == 1 else f"there are {n_groups} groups"
        return (
            f"{groups}, and rates of false positives of grouped rows were measured from "
            f"{ENOUGH_CLUSTERS} on: with fewer p-values may be too small"
        )
    return ""


def why_repeats_mislead(method: Method, test: CITest | None, repeats: np.ndarray | None) -> str:
    """Return why a method finds too much in rows of which many equal earlier ones; empty if few do.

    `repeats`, (n,), are equal for equal rows; None if there are none. Rankings and scores on rows held out do not
    depend on how often all rows were entered.
    """
    decides = method.needs == "p-value" if test is not None else not method.keeps_untested
    if repeats is None or not decides or method.card.family == "reference":
        return ""
    n_rows, n_equal = len(repeats), len(repeats) - len(np.unique(repeats))
    if n_equal <= MOST_REPEATED * n_rows:
        return ""
    return (
        f"{n_equal:,} of {n_rows:,} rows equal earlier ones, and each counts as a further case. Keep each once, for "
        "example by drop_duplicates of pandas"
    )


def notes_on_p_values(
    method: Method,
    test: CITest | None,
    min_effect: float | None,
    marginal: CIResults | None,
    n_groups: int | None,
    target: Column | None = None,
    of: str = "",
    table: Described | None = None,
) -> dict[str, str]:
    """Return notes on a search by key: ``groups``, ``misleading``, ``p-values``, ``target``, ``few``; may be empty.

    `target` has the rows of a fold, which `of` names. `table` describes a table whose test was not chosen for it.
    """
    task = target.target_kind if isinstance(target, TargetColumn) else ""
    alpha = method.options().get("alpha")
    is_alone = marginal is not None and alpha is not None and decides_by_p_values_alone(method, test, min_effect)
    many = why_p_values_do_not_select(marginal, alpha) if marginal is not None and is_alone else ""
    return {
        "groups": why_groups_are_ignored(test, n_groups, task) if n_groups and test is not None else "",
        "misleading": why_p_values_mislead(method, test, table, 0 if target is None else target.n_rows),
        "p-values": f"{test.card.id}: {many}" if many and test is not None else "",
        "target": note_on_target(method, test, task),
        "few": "" if target is None or method.card.family == "reference" else why_few(target, of),
    }


def note_on_target(method: Method, test: CITest | None, task: str) -> str:
    """Return a note if a method reads a target of a further kind as a number; else nothing."""
    is_reference = method.card.family == "reference"
    if not is_further_kind(task) or method.card.accepts(task) or is_reference or not reads_as_number(method, test):
        return ""
    return f"{method.card.id} reads the {task} target as a number: its residuals"


def why_complete_rows(method: Method, test: CITest | None, rule: str | int | None) -> str | None:
    """Return why a method with a test does not support a rule of `incomplete_rule`, or None."""
    if rule is None:
        return None
    if method.needs_complete_rows():
        asked = IMPUTATIONS if isinstance(rule, int) else rule
        options = "" if method.learns_from == "rows" else " with these options"
        return (
            f"{method.card.id}{options} looks at the rows themselves, so that {asked} is refused: set "
            "missing to impute or drop, or choose a search by a CI test"
        )
    return None if test is None else why_not_incomplete(test, rule)


def for_missing_cells(
    where: str, method: Method, test: CITest | None, missing: str, imputations: int | None
) -> CITest | None:
    """Return the test as used on rows with missing cells.

    Raises `UnsupportedError`, starting with `where`, if the method or the test needs complete rows, and
    `ParameterError` if imputed copies are requested but nothing is imputed.
    """
    rule = incomplete_rule(where, missing, imputations)
    if reason := why_complete_rows(method, test, rule):
        raise UnsupportedError(f"{where}: {reason}.")
    return None if test is None else with_incomplete(test, rule)


def takes_min_effect(method: Method | type[Method]) -> bool:
    """Return whether a method decides by p-values of a CI test, as causal methods do."""
    return method.card.family == "causal" and method.default_test is not None and method.needs == "p-value"


def decides_by_p_values_alone(method: Method, test: CITest | None, min_effect: float | None) -> bool:
    """Return whether a search could use a smallest effect but has none."""
    return not min_effect and takes_min_effect(method) and test is not None and bool(test.card.effect)


def check_min_effect(where: str, method: Method, test: CITest | None, min_effect: float | None) -> None:
    """Raise `ParameterError`, starting with `where`, for an invalid smallest effect; `test` is None for ``auto``."""
    MIN_EFFECT.check(where, "min_effect", min_effect)
    if not min_effect:
        return
    if not takes_min_effect(method):
        raise ParameterError(f"{where}: {method.card.id} decides by no p-values of a CI test. Remove min_effect.")
    if test is not None and not test.card.effect:
        tests = discover("blanketflow.ci").items()
        others = [name for name, other in tests if other.card.effect and other.card.p_values != EXACT]
        raise ParameterError(
            f"{where}: {test.card.id} knows no size of an effect that min_effect could be compared with. Remove "
            f"min_effect, or set ci_test to {AUTO} or one of {', '.join(others)}."
        )


def why_no_feature_groups(
    method: Method | type[Method], test: CITest | None, min_effect: float | None = None
) -> str | None:
    """Return why groups of features are not supported, or None."""
    if not method.takes_feature_groups:
        return f"{method.card.id} works on single columns, so that feature_groups cannot stay together"
    if test is not None and method.needs != "p-value" and not test.joins_columns:
        return f"{test.card.id} measures {method.needs} of single columns, and not of feature_groups; g2 does"
    if min_effect and test is not None and type(test).effects_of_sets is not CITest.effects_of_sets:
        return f"min_effect cannot be compared with what {test.card.id} says of feature_groups; lr-mixed and g2 can"
    return None


def why_a_group_is_never_admitted(method: Method, test: CITest | None, groups: Groups) -> str | None:
    """Return why a group tested column by column can never be admitted; None if it can.

    Its p-value is that of its best column times the number of columns.
    """
    alpha = method.options().get("alpha")
    if alpha is None or test is None or test.joins_columns or test.card.column_sets or not groups:
        return None
    name, n = max(((name, len(members)) for name, members in groups.items()), key=lambda group: group[1])
    if n * test.smallest_p() <= alpha:
        return None
    return (
        f"{test.card.id} gives no p-value below {test.smallest_p():.2g}, and {n} times that for the {n} columns of the "
        f"feature group {name!r}, so {method.card.id} at alpha {alpha:g} never admits it: {test.to_reach(alpha / n)}"
    )


def check_feature_groups(
    where: str, method: Method, test: CITest | None, groups: Groups, min_effect: float | None = None
) -> None:
    """Raise `UnsupportedError` if groups are not supported, and `ParameterError` if a group can never be admitted."""
    if groups and (reason := why_no_feature_groups(method, test, min_effect)):
        raise UnsupportedError(f"{where}: {reason}. Remove feature_groups, or choose another method or CI test.")
    if reason := why_a_group_is_never_admitted(method, test, groups):
        raise ParameterError(f"{where}: {reason}.")
