"""The features that could stand in for the members of any method's answer, and which of equals is taken."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ci.choice import choose_test, described
from ..ci.tally import Tally
from ..core.design import is_complex
from ..core.stand_ins import StandIn
from ..core.summed_table import SummedTable
from ..core.wide_columns import SparseColumns
from ..search.stand_ins import measures_information, says_as_much, stand_ins_of
from ..search.steps import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..ci.base import BoundTest
    from .base import Problem


def with_stand_ins(problem: Problem, decisions: Sequence[Step]) -> list[Step]:
    """Return decisions with the stand-ins of each feature that is kept, and the first of equals in place of another.

    They are found by the method's own test, if it measures information and there are enough rows for it, and else by
    the one that ``ci_test: auto`` takes for the table. These tests neither count as tests of the method nor against its
    limits. Groups of features have no stand-ins, and are none; nor are there any where only counts of the rows are
    known, whose tables are agreed on before.
    """
    kept = [d for d in decisions if d.kept and d.feature not in problem.feature_groups]
    if not kept or isinstance(problem.table, SummedTable):
        return list(decisions)
    features = [feature for feature in problem.features if feature not in problem.feature_groups]
    members = sorted(kept, key=lambda d: -d.importance)
    with _uncounted(problem) as own:
        for test in _measuring(problem, own):
            known = problem.marginal if test is own and len(features) == len(problem.features) else None
            found = stand_ins_of(test, problem.target, features, members, known)
            if found is not None:
                of = {name: tuple(rows) for name, rows in found.items()}
                told = [replace(d, stand_ins=of.get(d.feature, ())) if d.kept else d for d in decisions]
                return _with_first_of_equals(problem, test, told)
    return list(decisions)


def _with_first_of_equals(problem: Problem, test: BoundTest, decisions: list[Step]) -> list[Step]:
    """Return decisions in which of features with the same information the first one is kept."""
    place = {feature: at for at, feature in enumerate(problem.features)}
    kept = {d.feature for d in decisions if d.kept} | set(problem.included)
    instead: dict[str, str] = {}
    for member in (d for d in decisions if d.kept and d.feature not in problem.included):
        for row in member.stand_ins:
            is_first = place[row.feature] < place[instead.get(member.feature, member.feature)]
            if not (row.is_sure and is_first) or row.feature in kept:
                continue
            if says_as_much(test, problem.target, member.feature, row.feature):
                kept.discard(instead.get(member.feature, member.feature))
                kept.add(row.feature)
                instead[member.feature] = row.feature
    if not instead or problem.answers:  # several answers name the features as they were found
        return decisions
    returned = {other: name for name, other in instead.items()}
    renamed = instead | returned

    def exchanged(rows: Sequence[StandIn]) -> tuple[StandIn, ...]:
        return tuple(row._replace(feature=returned.get(row.feature, row.feature)) for row in rows)

    def named(d: Step) -> Step:
        given = None if d.given is None else tuple(instead.get(name, name) for name in d.given)
        return replace(d, feature=renamed.get(d.feature, d.feature), given=given, stand_ins=exchanged(d.stand_ins))

    return [named(d) for d in decisions]


def _measuring(problem: Problem, own: BoundTest | None) -> Iterator[BoundTest]:
    """Yield bound tests that measure information, to be tried in turn."""
    if own is not None and measures_information(own):
        yield own
    if problem.feature_groups or (own is not None and own.card.id == "oracle"):  # d-separation knows no information
        return
    table = problem.table
    if isinstance(table.columns, SparseColumns):  # another test may have to read all cells
        return
    features = table.select([name for name in table.names if name != problem.target])
    choice = choose_test(described(features, table[problem.target]), table.n_rows, has_design=is_complex(table.design))
    if own is None or choice.test != own.card.id:
        yield choice.configured().bind(table, seed=problem.seed, target=problem.target)


@contextmanager
def _uncounted(problem: Problem) -> Iterator[BoundTest | None]:
    """Give the problem's bound test, and forget what it has spent; None if the method has no test."""
    if problem.marginal is None:
        yield None
        return
    if "test" not in vars(problem):  # the method read the marginal results alone: no need to cache them
        fresh = problem.bind(problem.table)
        fresh.require(problem.min_effect)
        yield fresh
        return
    bound = problem.test
    n_tests, allowance, tally = bound.n_tests, bound.allowance, bound.tally
    bound.allowance, bound.tally = None, Tally()
    try:
        yield bound
    finally:
        bound.n_tests, bound.allowance, bound.tally = n_tests, allowance, tally
