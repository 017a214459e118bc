"""The features that could stand in for the members of any method's answer, and which of equals is taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ci import get_ci_test
from ..ci.choice import choose_test, described
from ..ci.missing.incomplete_rows import with_incomplete
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

#: Bins where relations bend: with more, tables would be too thin.
FEW_BINS = 3


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

    def found_by(test: BoundTest, steps: Sequence[Step]) -> dict[str, list[StandIn]] | None:
        known = problem.marginal if test is own and len(features) == len(problem.features) else None
        members = (d for d in steps if d.kept and d.feature not in problem.feature_groups)
        return stand_ins_of(test, problem.target, features, sorted(members, key=lambda d: -d.importance), known)

    with _uncounted(problem) as own:
        for test in _measuring(problem, own):
            if (found := found_by(test, decisions)) is None:
                continue
            told = list(decisions)
            if instead := _first_of_equals(problem, test, {d.feature for d in kept}, found):
                told = _exchanged(told, instead)
                found = found_by(test, told) or {}
            return [replace(d, stand_ins=tuple(found.get(d.feature, ()))) if d.kept else d for d in told]
    return list(decisions)


def _first_of_equals(
    problem: Problem, test: BoundTest, kept: set[str], found: Mapping[str, Sequence[StandIn]]
) -> dict[str, str]:
    """Return the stand-ins that are taken for members: with fewer missing cells, then cheaper, then first by name.

    For fewer missing cells nothing is given up that is seen, and by name nothing at all. A cheaper one may say less, as
    far as stand-ins do.
    """
    if not found or problem.answers:  # several answers name the features as they were found
        return {}
    place, costs, gaps = {f: at for at, f in enumerate(problem.features)}, problem.costs, problem.read_gaps()

    def comes_first(row: StandIn, member: str, taken: str) -> bool:
        fewer = gaps.get(taken, 0) - gaps.get(row.feature, 0)
        saved = costs.get(taken, 0.0) - costs.get(row.feature, 0.0)
        if fewer:
            return fewer > 0 and row.high == 1.0
        if saved:
            return saved > 0
        return place[row.feature] < place[taken] and says_as_much(test, problem.target, member, row.feature)

    instead: dict[str, str] = {}
    for member in (name for name in found if name not in problem.included):
        for row in found[member]:
            taken = instead.get(member, member)
            if row.is_sure and row.feature not in kept and comes_first(row, member, taken):
                kept.discard(taken)
                kept.add(row.feature)
                instead[member] = row.feature
    return instead


def _exchanged(decisions: Sequence[Step], instead: Mapping[str, str]) -> list[Step]:
    """Return decisions in which features are called by those that are taken instead, and the other way round."""
    renamed = instead | {taken: member for member, taken in instead.items()}

    def named(d: Step) -> Step:
        given = None if d.given is None else tuple(instead.get(name, name) for name in d.given)
        return replace(d, feature=renamed.get(d.feature, d.feature), given=given)

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
    known, has_design = described(features, table[problem.target]), is_complex(table.design)
    chosen = choose_test(known, table.n_rows, has_design=has_design).configured()
    if not measures_information(chosen):  # splines do not: bins follow relations that bend, and lines all others
        linear = choose_test(known, table.n_rows, no_spline="it measures no information").configured()
        chosen = get_ci_test("g2", bins=FEW_BINS) if known.bends else linear
    if own is None or chosen.card.id != own.card.id:
        chosen = with_incomplete(chosen, own.test_config.incomplete if own else None)
        yield chosen.bind(table, seed=problem.seed, target=problem.target)


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
