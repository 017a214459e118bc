"""`min_effect` beside alpha: which methods and CI tests take it, and a problem without smaller effects."""

from __future__ import annotations

from dataclasses import replace

from ..ci.base import CITest
from ..ci.choice import AUTO
from ..ci.effect import MIN_EFFECT, without_small
from ..core.cards import EXACT
from ..core.errors import ParameterError
from ..core.registry import discover
from .base import Method, Problem


def takes_min_effect(method: Method | type[Method]) -> bool:
    """Return whether a method decides by the p-values of a CI test, as causal methods do."""
    return method.card.family == "causal" and method.default_test is not None and method.needs == "p-value"


def decides_by_p_values_alone(method: Method, test: CITest | None, min_effect: float | None) -> bool:
    """Return whether a search asks for no smallest effect, though it takes one."""
    return not min_effect and takes_min_effect(method) and test is not None and bool(test.card.effect)


def check_min_effect(where: str, method: Method, test: CITest | None, min_effect: float | None) -> None:
    """Raise `ParameterError` if a smallest effect is out of range, or asked of a method or test that knows none.

    The message begins with `where`. `test` is None as long as it is not chosen: all that are chosen know effects.
    """
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


def with_min_effect(problem: Problem, test: CITest | None, min_effect: float | None) -> Problem:
    """Return a problem in which all effects below `min_effect` are independent, those given nothing too."""
    if not min_effect or test is None or problem.marginal is None:
        return problem
    marginal = without_small(problem.marginal, test.effects(problem.marginal), min_effect)
    return replace(problem, marginal=marginal, min_effect=min_effect)
