"""Groups of features in a search: a method sees each as one feature, and its decisions are on all of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..ci.base import CITest
from ..ci.feature_groups import bind_groups, variables
from ..core.errors import ParameterError, UnsupportedError
from ..core.registry import is_foreign
from ..core.results import CIResult, CIResults
from ..search.steps import Step
from ..search.tiers import Tiers
from .apart import results_apart
from .base import Method, Problem

#: The columns of each group, by its name.
Groups = Mapping[str, tuple[str, ...]]


def why_no_feature_groups(
    method: Method | type[Method], test: CITest | None, min_effect: float | None = None
) -> str | None:
    """Return why features cannot stay together in groups, or None if they can."""
    if not method.takes_feature_groups:
        return f"{method.card.id} works on single columns, so that feature_groups cannot stay together"
    if test is not None and method.needs != "p-value" and not test.joins_columns:
        return f"{test.card.id} measures {method.needs} of single columns, and not of feature_groups; g2 does"
    if min_effect and test is not None and type(test).effects_of_sets is not CITest.effects_of_sets:
        return f"min_effect cannot be compared with what {test.card.id} says of feature_groups; lr-mixed and g2 can"
    return None


def why_a_group_is_never_admitted(method: Method, test: CITest | None, groups: Groups) -> str | None:
    """Return why a method can never admit a group whose columns are tested one by one; None if it can.

    The p-value of such a group is that of its best column times their number, and no p-value may be small enough.
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
    """Raise `UnsupportedError` if groups cannot stay together, and `ParameterError` if one is never admitted."""
    if groups and (reason := why_no_feature_groups(method, test, min_effect)):
        raise UnsupportedError(f"{where}: {reason}. Remove feature_groups, or choose another method or CI test.")
    if reason := why_a_group_is_never_admitted(method, test, groups):
        raise ParameterError(f"{where}: {reason}.")


def tiers_of_variables(tiers: Tiers, groups: Groups) -> dict[str, int]:
    """Return the tiers with each group by its name."""
    of_first = {members[0]: name for name, members in groups.items()}
    return {of_first.get(name, name): at for name, at in tiers.items()}


def with_feature_groups(problem: Problem, test: CITest | None, groups: Groups) -> Problem:
    """Return a problem whose features are the groups, and the columns in no group; included and tiers follow.

    Groups are tested given nothing here, which costs one test each; columns keep their results.
    """
    if not groups:
        return problem
    names = variables(problem.features, groups)
    grouped = replace(
        problem,
        features=names,
        marginal=None,
        included=tuple(variables(problem.included, groups)),
        tiers=tiers_of_variables(problem.tiers, groups),
        feature_groups=groups,
    )
    if test is None or problem.marginal is None:
        return grouped
    grouped.bind = lambda table: bind_groups(test, table, groups, problem.seed, problem.target)
    table = problem.read_table()
    grouped.read_table = lambda: table

    def work() -> tuple[CIResults, None]:
        bound = grouped.bind(table)
        bound.require(problem.min_effect)
        return bound.test_many(list(groups), problem.target), None

    of_groups = (results_apart(work) if is_foreign(test) else work())[0]
    grouped.n_inner_tests = len(groups)
    known: dict[str, CIResult] = dict(zip(problem.features, problem.marginal, strict=True))
    known |= dict(zip(groups, of_groups, strict=True))
    grouped.marginal = CIResults.from_rows(known[name] for name in names)
    return grouped


def in_columns(problem: Problem, steps: Sequence[Step]) -> list[Step]:
    """Return steps with each step on a group as one step on each of its columns."""
    if not problem.feature_groups:
        return list(steps)
    return [
        replace(s, feature=column, given=None if s.given is None else tuple(problem.columns(s.given)))
        for s in steps
        for column in problem.columns([s.feature])
    ]


def in_groups(problem: Problem, candidates: Sequence[Step]) -> list[Step]:
    """Return candidates that `in_columns` made, with one step on each group."""
    if not problem.feature_groups:
        return list(candidates)
    found: dict[str, Step] = {}
    for s in candidates:
        name = variables([s.feature], problem.feature_groups)[0]
        given = None if s.given is None else tuple(variables(s.given, problem.feature_groups))
        found.setdefault(name, replace(s, feature=name, given=given))
    return list(found.values())
