"""What a method returns is checked before it counts as an answer: a wrong answer never passes as a good one."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..core.errors import WrongAnswerError, shown
from ..search.steps import Answer, Step
from .base import Problem


def looked_at(steps: Any, stage: str, problem: Problem) -> Iterator[Step]:
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
