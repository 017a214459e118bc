"""Stand-ins: features that could replace members of an answer, and the choice among equivalent features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ..ci import get_ci_test
from ..ci.base import BoundTest, CITest
from ..ci.choice import choose_test, described
from ..ci.effect import NATS
from ..ci.missing import with_incomplete
from ..ci.tests_made import Tally
from ..core.column import SparseColumns
from ..core.results import CIResult, CIResults, StandIn
from ..core.table import is_complex
from ..moves.steps import Step, Steps, objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .base import Problem

#: Bins for nonlinear relations; with more, tables would be too sparse.
FEW_BINS = 3


def with_stand_ins(problem: Problem, decisions: Sequence[Step]) -> Steps:
    """Return the decisions with the stand-ins of each kept feature, after exchanging members for preferred equivalents.

    The method's own test is used if it measures information and there are enough rows, else the one that ``ci_test:
    auto`` chooses. These tests count neither as the method's nor towards its limits. Groups of features have no
    stand-ins, nor does anything if only counts of the rows are known, unless any table can be counted and the rows are
    at hand for other tests.
    """
    steps = Steps.of(decisions)
    kept = _kept_columns(problem, steps)
    if not kept.any() or not (problem.table.has_rows or problem.table.rows_at_hand):
        return steps
    features = [feature for feature in problem.features if feature not in problem.feature_groups]

    def found_by(test: BoundTest, steps: Steps) -> dict[str, list[StandIn]] | None:
        known = problem.marginal if test is own and len(features) == len(problem.features) else None
        members = np.flatnonzero(_kept_columns(problem, steps))
        in_order = steps[members[np.argsort(-steps.importance[members], kind="stable")]]
        return stand_ins_of(test, problem.target, features, in_order, known)

    with _uncounted(problem) as own:
        for test in _measuring(problem, own):
            if (found := found_by(test, steps)) is None:
                continue
            if instead := _first_of_equals(problem, test, set(steps.feature[kept].tolist()), found):
                steps = _exchanged(steps, instead)
                found = found_by(test, steps) or {}
            told = [tuple(found.get(name, ())) for name in steps.feature.tolist()]
            return steps.with_columns(stand_ins=np.where(steps.kept, objects(told), steps.stand_ins))
    return steps


def _kept_columns(problem: Problem, steps: Steps) -> np.ndarray:
    """Return which steps keep a single column, (n,)."""
    groups = problem.feature_groups
    return steps.kept & ~np.array([name in groups for name in steps.feature.tolist()], bool) if groups else steps.kept


def _first_of_equals(
    problem: Problem, test: BoundTest, kept: set[str], found: Mapping[str, Sequence[StandIn]]
) -> dict[str, str]:
    """Return the stand-ins that replace members: with fewer missing cells, then cheaper, then first by name.

    Only a cheaper stand-in may have less information.
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


def _exchanged(decisions: Steps, instead: Mapping[str, str]) -> Steps:
    """Return decisions in which features and their replacements swap names."""
    renamed = instead | {taken: member for member, taken in instead.items()}

    def named(d: Step) -> Step:
        given = None if d.given is None else tuple(instead.get(name, name) for name in d.given)
        return replace(d, feature=renamed.get(d.feature, d.feature), given=given)

    return Steps.of(map(named, decisions))


def _measuring(problem: Problem, own: BoundTest | None) -> Iterator[BoundTest]:
    """Yield bound tests that measure information, in order of preference."""
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
        chosen = get_ci_test("g2", bins=FEW_BINS) if known.bends and not known.target_kind else linear
    if own is None or chosen.card.id != own.card.id:
        chosen = with_incomplete(chosen, own.test_config.incomplete if own else None)
        yield chosen.bind(table, seed=problem.seed, target=problem.target)


@contextmanager
def _uncounted(problem: Problem) -> Iterator[BoundTest | None]:
    """Yield the bound test, or None if the method has none, and restore its counts and limits afterwards."""
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


#: Minimum share of a member's information for a listed stand-in; candidates also need a similar amount of it.
LISTED = 0.8
#: Corrected p-value above which a member has no marginal information on the target.
SAYS_SOMETHING = 0.05
#: Maximum conditioning set for a member's information.
MOST_GIVEN = 3
#: Maximum tests for all members of an answer.
MOST_TESTS = 100_000
#: Standard normal quantile of a 95 % interval.
Z = 1.959964
#: Smaller shares of a member's information are rounding.
ROUNDING = 1e-9


def measures_information(test: BoundTest | CITest) -> bool:
    """Return whether the statistic of a test determines conditional mutual information."""
    return test.card.effect.startswith(NATS) or "mutual-information" in test.card.measures


def stand_ins_of(
    test: BoundTest, target: str, features: Sequence[str], members: Iterable[Step], marginal: CIResults | None = None
) -> dict[str, list[StandIn]] | None:
    """Return, by member of an answer, the other features that keep most of its information, best first.

    Candidates are features with about as much marginal information on the target as the member. A member that is
    informative only given others, such as a spouse, is examined given these. Costs one test per candidate and member,
    and for a spouse one per feature. After `MOST_TESTS` the remaining members get no stand-ins. None if there are too
    few rows for some tests. `test` must have `measures_information`; `marginal` are its results for all features, if
    known.

    >>> import numpy as np
    >>> from blanketflow.ci import get_ci_test
    >>> a, noise, e = np.random.default_rng(0).normal(size=(3, 200))
    >>> bound = get_ci_test("fisher-z").bind(np.column_stack([a, 1.8 * a + 32, noise, a + e]))
    >>> stand_ins_of(bound, "x3", ["x0", "x1", "x2"], [Step("x0")])
    {'x0': [StandIn(feature='x1', share=1.0, low=1.0, high=1.0)]}
    """
    found: dict[str, list[StandIn]] = {}
    ordered, most = Steps.of(members), test.n_tests + MOST_TESTS
    known = test.test_many(test.table.positions(features), target) if marginal is None else marginal
    alone, place, names = _information(test, known), {f: at for at, f in enumerate(features)}, ordered.feature.tolist()
    places = np.array([place[name] for name in names], dtype=np.int64)
    # Members without information on the target, alone or given others, have no stand-ins.
    says_nothing = known.reliable[places] & (known.p_value[places] * len(features) > SAYS_SOMETHING)
    says_nothing &= ~np.array([bool(given) for given in ordered.given.tolist()], dtype=bool)
    for at in np.flatnonzero(~says_nothing).tolist():
        if test.n_tests > most:
            break
        member, own = ordered[at], known[int(places[at])]
        rows = _of_member(test, target, features, alone, own, member, names)
        if rows is None:
            return None
        if rows:
            found[member.feature] = sorted(rows, key=lambda row: -round(row.share, 9))
    return found


def _of_member(
    test: BoundTest,
    target: str,
    features: Sequence[str],
    alone: np.ndarray,
    own: CIResult,
    member: Step,
    members: Sequence[str],
) -> list[StandIn] | None:
    name = member.feature
    given: tuple[str, ...] = ()
    if not own.reliable:
        return None
    if own.p_value * len(features) > SAYS_SOMETHING:
        given = member.given or ()
        if {name, target} & set(given):  # the test that admitted it is of another pair
            return []
        if not 0 < len(given) <= MOST_GIVEN or not (own := test.test(name, target, given=given)).reliable:
            return []
        if own.p_value > SAYS_SOMETHING:
            return []
        asked = [feature for feature in features if feature not in given]
        of_asked = dict(
            zip(asked, _information(test, test.test_many(asked, target, given=given)).tolist(), strict=True)
        )
        alone = np.array([of_asked.get(feature, 0.0) for feature in features])
    size = float(_information(test, CIResults.from_rows([own]))[0])
    at = np.flatnonzero((alone >= LISTED * size) & (alone * LISTED <= size))
    likely = [feature for feature in (features[i] for i in at.tolist()) if feature != name and feature not in given]
    if not likely:
        return []
    if not given:
        others = tuple(islice((other for other in members if other != name and other not in likely), MOST_GIVEN))
        of_given = test.test(name, target, given=others)
        if of_given.reliable and of_given.p_value <= SAYS_SOMETHING:
            rows = _shares(test, target, name, likely, others, of_given)
            if rows is not None:
                return rows
        # No information beyond the others, or too few rows.
    return _shares(test, target, name, likely, given, own)


def _shares(
    test: BoundTest, target: str, name: str, likely: Sequence[str], given: tuple[str, ...], own: CIResult
) -> list[StandIn] | None:
    (whole,), left = _informations(test, [own]), list[CIResult]()
    for feature in likely if whole.estimate > 0.0 else ():
        left.append(test.test(name, target, given=(feature, *given)))
        if not left[-1].reliable:
            return None
    pairs = zip(likely, _informations(test, left), strict=False)
    rows = [StandIn(feature, *share_kept(of_feature, whole)) for feature, of_feature in pairs]
    return [row for row in rows if row.share >= LISTED]


def says_as_much(test: BoundTest, target: str, feature: str, other: str) -> bool:
    """Return whether two features have the same information on the target, up to rounding."""
    size = float(_information(test, test.test_many([feature], target))[0])
    beyond = (test.test_many([x], target, given=[z]) for x, z in ((feature, other), (other, feature)))
    return all(float(_information(test, results)[0]) <= ROUNDING * size for results in beyond)


def _information(test: BoundTest, results: CIResults) -> np.ndarray:
    """Return the conditional mutual information of results in nats, (m,)."""
    config = test.test_config
    return config.effects(results) if test.card.effect.startswith(NATS) else config.mutual_information(results)


def _informations(test: BoundTest, results: Sequence[CIResult]) -> list[Information]:
    plain = _information(test, CIResults.from_rows(results)).tolist() if results else []
    return [Information(test, result, own) for result, own in zip(results, plain, strict=True)]


class Information:
    """The information measured by a test: the `plain` estimate, an unbiased `estimate`, and its 95 % interval.

    2n times the plain estimate has a noncentral chi-square distribution with the test's degrees of freedom k and
    noncentrality 2n I; its mean is too large by k. For the interval, the square root of this statistic less (k - 1) / 2
    is taken as normal with variance 1 and mean sqrt(2n I + (k - 1) / 2) (Sankaran, 1963, Biometrika 50, 199-204).
    """

    def __init__(self, test: BoundTest, result: CIResult, plain: float) -> None:
        n = max(float(result.n), 1.0)
        k = max(float(result.dof), 0.0) if test.card.effect.startswith(NATS) else 1.0
        self.plain = plain
        statistic, shift = 2 * n * self.plain, (k - 1) / 2
        if statistic <= 2 * n * ROUNDING * ROUNDING:  # nothing at all, as of an exact copy
            self.estimate = self.low = self.high = 0.0
            return
        root = math.sqrt(max(statistic - shift, 0.0))
        bounds = [max(abs(r) * r - shift, 0.0) / (2 * n) for r in (root - Z, root + Z)]
        self.low, self.high = bounds
        self.estimate = max(statistic - k, 0.0) / (2 * n)


def share_kept(left: Information, whole: Information) -> tuple[float, float, float]:
    """Return 1 - left / whole and its 95 % interval, each 0 to 1.

    The interval of the ratio treats both estimates as independent (Donner, Zou, 2012, Statistical Methods in Medical
    Research 21, 347-359). They are positively correlated, so it is too wide.
    """
    a, b = left.estimate, whole.estimate
    lower, upper = 0.0, np.inf
    if a > 0 and left.low > 0:
        below = whole.high * (2 * b - whole.high)
        root = math.sqrt(max((a * b) ** 2 - left.low * (2 * a - left.low) * below, 0.0))
        lower = (a * b - root) / below if below > 0 else left.low / whole.high
    if whole.low > 0:
        above = whole.low * (2 * b - whole.low)
        root = math.sqrt(max((a * b) ** 2 - left.high * (2 * a - left.high) * above, 0.0))
        upper = (a * b + root) / above
    share, low, high = (float(min(max(1.0 - ratio, 0.0), 1.0)) for ratio in (a / b, upper, lower))
    return share, min(low, share), max(high, share)
