"""The strength of a dependence, and the decision of a result at a significance level."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..ci.base import BoundTest
from ..core.numerics import comparable, comparable_number
from ..core.results import CIResult, CIResults


def strongest_first(results: CIResults) -> np.ndarray:
    """Return candidate positions ordered by log p, then statistic per degree of freedom, then column order.

    Both are rounded in their last bits, so that float noise does not decide between equivalent columns.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(3)
    >>> p = np.array([0.5, 0.01, 0.5])
    >>> strongest_first(CIResults(np.array([1.0, 9.0, 2.0]), p, np.log(p), one, one, one)).tolist()
    [1, 2, 0]
    """
    per_dof = comparable(np.abs(results.statistic) / np.maximum(results.dof, 1.0))
    return np.lexsort((np.arange(len(results)), -per_dof, comparable(results.log_p)))


def is_dependent(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result admits a feature: p <= alpha, and the result is not undecided."""
    return result.log_p <= math.log(alpha) and counts(test, result)


def first_dependent(test: BoundTest, results: CIResults, alpha: float) -> int | None:
    """Return the position of the first result that admits a feature, None if none does."""
    return next(all_dependent(test, results, alpha), None)


def all_dependent(test: BoundTest, results: CIResults, alpha: float) -> Iterator[int]:
    """Yield the positions of the results that admit a feature."""
    limit = math.log(alpha)
    for i, log_p in enumerate(results.log_p.tolist()):
        if log_p <= limit and counts(test, results[i]):
            yield i


def is_independent(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result removes a feature: p > alpha, and the result is not undecided."""
    return result.log_p > math.log(alpha) and counts(test, result)


def separates(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result removes a feature in a search over many conditioning sets.

    Like `is_independent`, except for tests with ``unreliable: auto``, whose unreliable results do not count here. A
    search for a separating set sooner or later reaches a set for which there are too few rows, and then every feature
    would be removed.
    """
    return is_independent(test, result, alpha) and (result.reliable or test.unreliable != "auto")


def decisions(test: BoundTest, results: CIResults, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return for many results what `is_dependent` and `separates` say of each, shape (m,)."""
    is_small = results.log_p <= math.log(alpha)
    is_dependent = is_small & results.reliable if test.unreliable == "undecided" else is_small
    return is_dependent, ~is_small & results.reliable if test.unreliable in ("auto", "undecided") else ~is_small


def strengths_of(results: CIResults) -> list[tuple[float, float]]:
    """Return the strength of each of many results, as `strength_of` of one."""
    per_dof = comparable(np.abs(results.statistic) / np.maximum(results.dof, 1.0))
    return [*zip((-comparable(results.log_p)).tolist(), per_dof.tolist(), strict=True)]


def strength_of(result: CIResult) -> tuple[float, float]:
    """Return the key by which dependences are compared: -log p, then statistic per degree of freedom.

    Larger is stronger. Both are rounded in their last bits, so that float noise does not decide.
    """
    per_dof = abs(result.statistic) / max(result.dof, 1.0)
    return -comparable_number(result.log_p), comparable_number(per_dof)


def counts(test: BoundTest, result: CIResult) -> bool:
    """Return whether a result decides anything: not if it is unreliable and such results are undecided."""
    return result.reliable or test.unreliable != "undecided"
