"""One test of one column, without arrays for its result where the engine can do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import ParameterError
from ..core.results import CIResult
from .engines import Candidate

if TYPE_CHECKING:
    from .bound import BoundTest

#: What a query is told that names a column twice.
SAME_COLUMN = "a test needs X, Y and the conditioning set to be different columns."


def one_result(bound: BoundTest, candidate: Candidate, target: int, given: tuple[int, ...]) -> CIResult:
    """Return the result for one column, which counts as a test, by the engine's own way for that if it has one.

    Raises `ParameterError` if a column occurs twice, and `LimitReached` if the bound test's allowance is used up.
    """
    evaluate = getattr(bound.engine, "evaluate_one", None)
    if evaluate is None or type(candidate) is not int or bound.min_effect:
        return bound._compute([candidate], target, given)[0]
    if candidate == target or candidate in given or target in given:
        raise ParameterError(SAME_COLUMN)
    bound.spend(1)
    return evaluate(candidate, target, given)
