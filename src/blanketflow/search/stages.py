"""The stages of a search on one fold, grow and shrink, with checks of their results."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..ci.engines import columns_of
from ..ci.tests_made import Count, Tally
from ..core.column import TargetColumn
from ..core.errors import WrongAnswerError, shown
from ..core.limits import LimitReached
from ..core.messages import STEPS
from ..moves.steps import Answer, Step, Steps, standing
from ..selectors.base import Method, Problem
from ..selectors.stand_ins import with_stand_ins
from ..targets import get_target_kind
from .isolated import stages_isolated
from .problems import in_columns, in_groups, with_included, with_roles_by_time


def run_grow(method: Method, problem: Problem, isolated: bool = False) -> Steps:
    """Run the grow stage, in another process if `isolated`; return admissions and interleaved removals in order.

    Raises `LimitReached` if a limit is reached and the method is not anytime; otherwise sets the problem's status.
    """
    if isolated:
        return stages_isolated(problem, lambda: [run_grow(method, problem)])[0]
    problem.begin_stage()
    parts: list[Step | Steps] = []
    try:
        grown = method.grow(problem) if problem.features else ()  # none is left where all have one value
        for found in checked_steps(grown, "grow", problem):
            parts.append(found)
            _tell_step(problem, "grow", found)
    except LimitReached as limit:
        if not method.anytime:
            raise
        problem.say("timeout", f"grow stopped: {limit}")
    steps = Steps.of(parts)
    candidates = standing(steps)
    say_what_was_not_tested(method, problem, candidates)
    problem.tell(f"grow: {len(candidates)} candidates, {problem.n_tests:,} CI tests")
    return in_columns(problem, steps)


def run_shrink(method: Method, problem: Problem, candidates: Steps, isolated: bool = False) -> Steps:
    """Run the shrink stage like `run_grow`; return one decision per feature, kept if a limit came first."""
    if isolated:
        return stages_isolated(problem, lambda: [run_shrink(method, problem, candidates)])[0]
    problem.begin_stage()
    candidates = in_groups(problem, candidates)
    parts: list[Step | Steps] = []
    try:
        for found in checked_steps(method.shrink(problem, candidates), "shrink", problem):
            parts.append(found)
            _tell_step(problem, "shrink", found)
    except LimitReached as limit:
        if not method.anytime:
            raise
        problem.say("timeout", f"shrink stopped: {limit}")
        decided = set(Steps.of(parts).feature.tolist())
        parts += [replace(step, kept=True) for step in candidates if step.feature not in decided]
    check_answers(problem)
    decisions = Steps.of(parts)
    say_what_was_not_tested(method, problem, decisions[decisions.kept])
    decisions = with_included(problem, decisions)
    if problem.finds_stand_ins and method.card.family != "reference":
        decisions = with_stand_ins(problem, decisions)
    decisions = with_roles_by_time(problem, decisions)
    problem.tell(f"shrink: {decisions.kept.sum()} of {len(candidates)} kept, {problem.n_tests:,} CI tests")
    problem.answers[:] = [replace(a, features=tuple(problem.columns(a.features))) for a in problem.answers]
    return in_columns(problem, decisions)


def _tell_step(problem: Problem, stage: str, found: Step | Steps) -> None:
    if problem.tell.says(STEPS):
        for step in found if isinstance(found, Steps) else (found,):
            did = "removes" if not step.kept else "admits" if stage == "grow" else "keeps"
            problem.tell(f"{stage}: {did} {step.feature}, p = {step.p_value:.2g}", STEPS)


def checked_steps(steps: Any, stage: str, problem: Problem) -> Iterator[Step | Steps]:
    """Yield the steps of a method's grow or shrink, or blocks of them, as they come; a later step may revert an
    earlier one.

    Raises `WrongAnswerError` if one is not a step on a feature of the table, or keeps a feature that is already kept.
    """
    known, members = frozenset(problem.features), set()
    for found in _each(steps, stage):
        if isinstance(found, Steps) and _is_sound(found, known, members):
            members.update(found.feature[found.kept].tolist())
            members.difference_update(found.feature[~found.kept].tolist())
            yield found
            continue
        for step in found if isinstance(found, Steps) else (found,):
            _check_step(step, stage, known, problem.target)
            if step.kept and step.feature in members:
                raise WrongAnswerError(f"{stage} returned feature {shown(step.feature)} twice")
            (members.add if step.kept else members.discard)(step.feature)
            yield step


def check_answers(problem: Problem) -> None:
    """Raise `WrongAnswerError` unless all Markov blankets of a method consist of features of the table."""
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
    return (steps,) if isinstance(steps, Steps) else steps


def _is_sound(steps: Steps, known: frozenset[str], members: set[str]) -> bool:
    """Return whether nothing can be wrong with a block of steps; otherwise each one is checked."""
    names = set(steps.feature.tolist())
    texts = {type(text) for column in (steps.role, steps.group) for text in column.tolist()}
    given = {type(name) for names in steps.given.tolist() for name in names or ()}
    return bool(
        len(names) == len(steps)
        and names <= known
        and not members & names
        and texts | given <= {str}
        and np.isfinite(steps.importance).all()
        and ((steps.p_value >= 0) & (steps.p_value <= 1)).all()
        and not np.isnan(steps.statistic).any()
    )


def _check_step(step: Any, stage: str, known: frozenset[str], target: str) -> None:
    if not isinstance(step, Step):
        raise WrongAnswerError(f"{stage} returned {shown(step)} among its steps, which is not a Step")
    _check_feature(step.feature, f"{stage} returned", known, target)
    wrong = _what_is_wrong(step)
    if wrong:
        raise WrongAnswerError(f"{stage} returned for feature {shown(step.feature)} {wrong}")


def _what_is_wrong(step: Step) -> str:
    """Return what is wrong with a step's fields; empty if nothing."""
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


#: A search is unreliable if more than this share of its tests could not be made.
MOST_NOT_MADE = 0.25
#: Or if it admitted so many features, conditioning on all, that there are fewer rows for each.
ROWS_PER_ADMITTED = 5


def say_what_was_not_tested(method: Method, problem: Problem, kept: Steps) -> None:
    """Set the status ``unreliable`` if the answer after a stage, `kept`, is due to too few rows.

    That is, if nothing is kept and some features could not be tested; if more than `MOST_NOT_MADE` of the features, of
    the conditional tests, or of the tests of a forward search's last round could not be made; or if repeatedly
    admitting the strongest of many features ended because the admitted ones explain the target by chance, with hardly
    more rows than features (`ROWS_PER_ADMITTED`). Methods that only measure information, and tests with ``unreliable:
    use``, are not checked.
    """
    if method.needs != "p-value" or problem.marginal is None:
        return
    for reason in _reasons(problem, kept):
        if getattr(problem.test.test_config, "unreliable", None) != "use":
            problem.say("unreliable", reason)


def _reasons(problem: Problem, kept: Steps) -> Iterator[str]:
    n_features, n_untested = len(problem.marginal), int((~problem.marginal.reliable).sum())
    if n_untested and (not kept or n_untested > MOST_NOT_MADE * n_features):
        yield f"{n_untested} of {n_features} features could not be tested: there are too few {_counted(problem)}"
    tally = problem.test.tally if "test" in vars(problem) else Tally()
    for count, given in ((tally.all, "given other features"), (tally.last_round, "given those that it had admitted")):
        if count is None or count.n_not_made <= MOST_NOT_MADE * count.n_asked:
            continue
        share = f"{count.n_not_made / count.n_asked:.0%} of the" if count.n_made else "none of the"
        could = "could not be made" if count.n_made else "could be made"
        few = f"there are too few {_counted(problem)}{_needed(problem, count)}"
        said = f"{share} {count.n_asked:,} tests {given} {could}: {few}"
        if count is tally.last_round:
            said = f"the search ended for want of rows: {said}"
        yield said if tally.all.n_made or not kept else f"not separated: {said}"
    needed = ROWS_PER_ADMITTED * tally.n_admitted
    if needed and hasattr(problem.test.engine, "rows_needed") and needed > problem.table.n_rows:
        yield (
            f"{tally.n_admitted} features were admitted, for which there are too few rows (at least {needed:,} are "
            f"needed, there are {problem.table.n_rows:,}): a smaller alpha admits fewer"
        )


def _needed(problem: Problem, count: Count) -> str:
    """Return how many rows the smallest of the tests not made needs, if known."""
    if count.first is None:
        return ""
    candidate, (target, *given) = count.first
    n_rows = problem.test.rows_needed(candidate, target, tuple(given))
    count_rows = getattr(problem.test.engine, "n_complete", lambda _: problem.table.n_rows)
    there_are = count_rows((*columns_of(candidate), target, *given))
    rows = "" if _counted(problem) == "rows" else " rows"
    return "" if n_rows is None else f" (at least {n_rows:,}{rows} are needed, there are {there_are:,})"


def _counted(problem: Problem) -> str:
    """Return in words what the tests of the target have too few of: rows, or events."""
    target = problem.table[problem.target]
    return get_target_kind(target.target_kind).counted if isinstance(target, TargetColumn) else "rows"
