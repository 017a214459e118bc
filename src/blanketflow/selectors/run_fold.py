"""Running a method on a table: the stages of one fold, the same for the library and the workflow."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..ci.base import BoundTest, CITest
from ..core.errors import DataError, ParameterError, UnsupportedError, WrongAnswerError, shown
from ..core.limits import NO_LIMITS, LimitReached, Limits
from ..core.prior import NOTHING, PriorKnowledge
from ..core.progress_lines import SILENT, STEPS, Teller
from ..core.registry import is_foreign
from ..core.results import CIResults
from ..core.seeds import derive_seed
from ..core.summed_table import SummedTable
from ..core.table import Column, Table
from ..core.whole_numbers import counted_from_least
from ..search.steps import Answer, Step, standing
from .apart import results_apart, runs_apart, stages_apart
from .base import Method, Problem, members, worst_status
from .feature_groups import in_columns, in_groups
from .min_effect import check_min_effect, with_min_effect
from .prior import with_included, with_prior, with_roles_by_time
from .reliable import refused_by, say_what_was_not_tested, why_refused
from .stand_ins import with_stand_ins


@dataclass
class FoldOutcome:
    """What one fold's stages returned; `grown` has interleaved removals too, `candidates` does not."""

    marginal: CIResults | None
    grown: list[Step]
    decisions: list[Step]
    n_tests: int
    status: str = "ok"
    reason: str = ""
    answers: list[Answer] = field(default_factory=list)
    verdict: dict[str, Any] = field(default_factory=dict)

    @property
    def candidates(self) -> list[Step]:
        """What shrink was given."""
        return standing(self.grown)

    @property
    def members(self) -> list[Step]:
        """The features that shrink kept, most important first."""
        return members(self.decisions)


def check_pair(method: Method, test: CITest | None) -> None:
    """Raise `UnsupportedError` unless the test measures what the method needs, also of sets of columns if needed."""
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


def why_no_weights(method: Method | type[Method], test: CITest | None, confirm: bool = False) -> str | None:
    """Return why rows cannot have weights, or None if they can."""
    if confirm:
        return "confirm leaves single rows out, so that rows cannot have weights"
    for one in (method, test):
        if one is not None and one.draws_rows:
            return f"{one.card.id} draws, permutes or compares single rows, so that rows cannot have weights"
    return None


def check_choice(method: Method) -> None:
    """Raise `UnsupportedError` unless a test can be chosen for the method: all tests that are chosen give p-values."""
    if method.needs != "p-value":
        raise UnsupportedError(
            f"{method.card.id} needs a test that measures {method.needs}, and auto chooses among tests by their "
            "p-values. Name a test, such as g2."
        )


def check_resolution(method: Method, test: CITest | None, n_features: int) -> None:
    """Raise `ParameterError` if no p-value that the test can give is small enough for the method to admit a feature."""
    reason = test.why_not(method, n_features) if test is not None else None
    if reason:
        raise ParameterError(f"{reason}.")


def test_marginally(bound: BoundTest, target: str) -> CIResults:
    """Test every feature of the bound table against the target given nothing: the ci_test stage."""
    return bound.test_many(_features(bound, target), target)


def test_by_repeats(
    bound: BoundTest, target: str, known: np.ndarray | None = None
) -> tuple[CIResults, np.ndarray] | None:
    """Do the same, and return what the repeats found as well, (d, n_repeats); None for a test without repeats.

    `known`, (d, repeats), is what the first repeats found on the same table and with the same seed. They are not
    computed again; the results are equal, bit by bit, to results without `known`.
    """
    engine = bound.engine
    if not hasattr(engine, "marginal_differences"):
        return None
    features, n_repeats = _features(bound, target), bound.test_config.n_repeats
    known = np.empty((len(features), 0)) if known is None else known[:, :n_repeats]
    differences = known
    if known.shape[1] < n_repeats:
        fresh = engine.marginal_differences(features, bound.table.position(target), first_repeat=known.shape[1])
        differences = np.hstack([known, fresh])
    return engine.judge(differences), differences


def test_stage(
    test: CITest, table: Table, seed: int, target: str, known: np.ndarray | None = None
) -> tuple[CIResults, np.ndarray | None]:
    """Bind a test to a table and run the ci_test stage: results, and what the repeats found where there are any.

    A plug-in test, or a test with a plug-in model, works in a process of its own. `known` is as in `test_by_repeats`.
    """

    def work() -> tuple[CIResults, np.ndarray | None]:
        bound = test.bind(table, seed=seed, target=target)
        repeats = test_by_repeats(bound, target, known)
        return (test_marginally(bound, target), None) if repeats is None else repeats

    return results_apart(work) if is_foreign(test) else work()


def _features(bound: BoundTest, target: str) -> np.ndarray:
    """Return the positions of all columns but the target's."""
    features = np.delete(np.arange(len(bound.table)), bound.table.position(target))
    if not len(features):
        raise DataError("the table has no features besides the target.")
    return features


def fold_seed(*identity: str | int) -> int:
    """Return the seed of one fold, from (base seed, data set, split, fold)."""
    return derive_seed(*identity, "fold")


def run_grow(method: Method, problem: Problem, apart: bool = False) -> list[Step]:
    """Run the grow stage, `apart` in a process of its own; return admissions and interleaved removals in order.

    Raises `LimitReached` if a limit is reached and the method is not anytime; else the problem's status says so.
    """
    if apart:
        return stages_apart(problem, lambda: [run_grow(method, problem)])[0]
    problem.begin_stage()
    steps: list[Step] = []
    try:
        grown = method.grow(problem) if problem.features else ()  # none is left where all have one value
        for found in checked_steps(grown, "grow", problem):
            steps.append(found)
            _tell_step(problem, "grow", found)
    except LimitReached as limit:
        if not method.anytime:
            raise
        problem.say("timeout", f"grow stopped: {limit}")
    say_what_was_not_tested(method, problem, standing(steps))
    problem.tell(f"grow: {len(standing(steps))} candidates, {problem.n_tests:,} CI tests")
    return in_columns(problem, steps)


def run_shrink(method: Method, problem: Problem, candidates: list[Step], apart: bool = False) -> list[Step]:
    """Run the shrink stage and return one decision per feature; raises as `run_grow` does.

    After a limit is reached, a candidate without a decision is kept.
    """
    if apart:
        return stages_apart(problem, lambda: [run_shrink(method, problem, candidates)])[0]
    problem.begin_stage()
    candidates = in_groups(problem, candidates)
    decisions: list[Step] = []
    try:
        for found in checked_steps(method.shrink(problem, candidates), "shrink", problem):
            decisions.append(found)
            _tell_step(problem, "shrink", found)
    except LimitReached as limit:
        if not method.anytime:
            raise
        problem.say("timeout", f"shrink stopped: {limit}")
        decided = {decision.feature for decision in decisions}
        decisions += [replace(step, kept=True) for step in candidates if step.feature not in decided]
    check_answers(problem)
    say_what_was_not_tested(method, problem, [decision for decision in decisions if decision.kept])
    decisions = with_included(problem, decisions)
    if problem.finds_stand_ins and method.card.family != "reference":
        decisions = with_stand_ins(problem, decisions)
    decisions = with_roles_by_time(problem, decisions)
    kept = [decision for decision in decisions if decision.kept]
    problem.tell(f"shrink: {len(kept)} of {len(candidates)} kept, {problem.n_tests:,} CI tests")
    problem.answers[:] = [replace(a, features=tuple(problem.columns(a.features))) for a in problem.answers]
    return in_columns(problem, decisions)


def _tell_step(problem: Problem, stage: str, step: Step) -> None:
    """Say what a stage decided about one feature, if a line per step was asked for."""
    if problem.tell.says(STEPS):
        did = "removes" if not step.kept else "admits" if stage == "grow" else "keeps"
        problem.tell(f"{stage}: {did} {step.feature}, p = {step.p_value:.2g}", STEPS)


def run_fold(
    method: Method,
    test: CITest | None,
    features: Table,
    target: Column,
    seed: int,
    limits: Limits = NO_LIMITS,
    tell: Teller = SILENT,
    prior: PriorKnowledge = NOTHING,
    where: str = "table",
    groups: np.ndarray | None = None,
    min_effect: float | None = None,
    n_jobs: int = 1,
    finds_stand_ins: bool = True,
    gaps: Mapping[str, int] | None = None,
) -> FoldOutcome:
    """Run ci_test, grow and shrink on one fold's rows.

    The features are searched in the order of their names, unless the method follows that of the table.

    Raises `ParameterError` if nothing could be admitted, `prior` does not suit the features, or `min_effect` the method
    and the test; `where` says whose. `n_jobs` processes may share the work of a method that can be shared. `gaps` says
    how many cells of which features were missing.
    """
    check_resolution(method, test, prior.of(features.names, where, target.name).n_candidates(len(features)))
    check_min_effect(where, method, test, min_effect)
    features = counted_from_least(features if method.follows_order() else features.in_order_of_names())
    table = features.with_column(target)
    apart, bind = runs_apart(method, test, limits), not_bound
    marginal, bound = None, None
    # The bound test of sums says which tests were refused, so it is kept, unless it is a plug-in.
    if test is not None and apart and (is_foreign(test) or not isinstance(table, SummedTable)):
        marginal = test_stage(test, table, seed, target.name)[0]
        bind = partial(test.bind, seed=seed, target=target.name)
    elif test is not None:
        bound = test.bind(table, seed=seed, target=target.name)
        marginal = test_marginally(bound, target.name)
        # Without the excluded features there is another table to bind.
        known = bound
        bind = partial(test.bind, seed=seed, target=target.name) if prior.exclude else lambda _: known
    if marginal is not None:
        tell(f"{len(features):,} features tested given nothing, {features.n_rows:,} rows")
    problem = Problem(features.names, target.name, marginal, seed, lambda: table, bind, limits, tell=tell)
    problem.read_groups, problem.n_jobs, problem.finds_stand_ins = (lambda: groups), n_jobs, finds_stand_ins
    problem.read_gaps = lambda: gaps or {}
    problem = with_min_effect(problem, test, min_effect)
    problem = with_prior(problem, method, test, prior, where)
    problem = problem.of_varying() if method.keeps_untested else problem
    n_tests = problem.n_tests + (len(marginal) if marginal is not None else 0)
    if test is not None and marginal is not None and (doubts := test.doubts(table, target.name, marginal)):
        problem.say("unreliable", doubts)
    outcome = run_problem(method, problem, apart)
    if isinstance(table, SummedTable):
        refused = problem.refused | refused_by(bound) | refused_by(vars(problem).get("test"))
        if why := why_refused(refused):
            outcome.status, outcome.reason = worst_status([("unreliable", why), (outcome.status, outcome.reason)])
    outcome.n_tests += n_tests
    return outcome


def not_bound(table: Table) -> BoundTest:
    """Refuse to bind a test where there is none."""
    raise RuntimeError("this method was configured without a CI test")


def run_problem(method: Method, problem: Problem, apart: bool = False) -> FoldOutcome:
    """Run grow and shrink on a problem, `apart` in a process of its own; `n_tests` leaves the marginal ones out."""
    before = problem.n_tests

    def both() -> list[list[Step]]:
        grown = run_grow(method, problem)
        return [grown, run_shrink(method, problem, standing(grown))]

    grown, decisions = stages_apart(problem, both, n_stages=2) if apart else both()
    n_tests = problem.n_tests - before
    said = (problem.status, problem.reason, list(problem.answers), problem.verdict)
    return FoldOutcome(problem.marginal, grown, decisions, n_tests, *said)


def checked_steps(steps: Any, stage: str, problem: Problem) -> Iterator[Step]:
    """Yield the steps of a method's grow or shrink, as they come. A later step may take back an earlier one.

    Raises `WrongAnswerError` if one is not a step about a feature of the table, or keeps a feature that is kept
    already.
    """
    known, members = frozenset(problem.features), set()
    for step in _each(steps, stage):
        _check_step(step, stage, known, problem.target)
        if step.kept and step.feature in members:
            raise WrongAnswerError(f"{stage} returned feature {shown(step.feature)} twice")
        (members.add if step.kept else members.discard)(step.feature)
        yield step


def check_answers(problem: Problem) -> None:
    """Raise `WrongAnswerError` unless all Markov blankets that a method found consist of features of the table."""
    known = frozenset(problem.features)
    for answer in problem.answers:
        if not isinstance(answer, Answer) or not isinstance(answer.count, numbers.Integral):
            raise WrongAnswerError(f"one of the answers is {shown(answer)}, which is not an Answer")
        for feature in answer.features:
            _check_feature(feature, "one of the answers holds", known, problem.target)
        if len(set(answer.features)) < len(answer.features):
            raise WrongAnswerError(f"one of the answers holds a feature twice: {shown(list(answer.features))}")


def _each(steps: Any, stage: str) -> Iterable[Any]:
    if isinstance(steps, str | bytes) or not isinstance(steps, Iterable):
        raise WrongAnswerError(f"{stage} returned {shown(steps)}, but must return a list of steps")
    return steps


def _check_step(step: Any, stage: str, known: frozenset[str], target: str) -> None:
    if not isinstance(step, Step):
        raise WrongAnswerError(f"{stage} returned {shown(step)} among its steps, which is not a Step")
    _check_feature(step.feature, f"{stage} returned", known, target)
    wrong = _what_is_wrong(step)
    if wrong:
        raise WrongAnswerError(f"{stage} returned for feature {shown(step.feature)} {wrong}")


def _what_is_wrong(step: Step) -> str:
    """Return what is wrong with a step's fields; nothing if they are as they must be."""
    if not _is_number(step.importance) or not math.isfinite(step.importance):
        return f"the importance {shown(step.importance)}, which is not a finite number"
    if not _is_number(step.p_value) or not 0 <= step.p_value <= 1:
        return f"the p-value {shown(step.p_value)}, which is not between 0 and 1"
    if not _is_number(step.statistic) or math.isnan(step.statistic):
        return f"the statistic {shown(step.statistic)}, which is not a number"
    if not isinstance(step.kept, bool | np.bool_):
        return f"kept={shown(step.kept)}, which is neither true nor false"
    if not (isinstance(step.role, str) and isinstance(step.group, str)):
        return f"role {shown(step.role)} and group {shown(step.group)}: both must be text"
    if step.given is not None and not all(isinstance(name, str) for name in step.given):
        return f"the conditioning set {shown(step.given)}, which does not consist of names"
    return ""


def _check_feature(feature: Any, where: str, known: frozenset[str], target: str) -> None:
    if not isinstance(feature, str) or feature not in known:
        what = "the target" if feature == target else "not a feature of the table"
        raise WrongAnswerError(f"{where} {shown(feature)}, which is {what}")


def _is_number(value: Any) -> bool:
    return type(value) is float or isinstance(value, numbers.Real)  # the usual case, and the fast one
