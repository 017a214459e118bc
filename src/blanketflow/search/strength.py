"""How strong a dependence is, and what a result says at a significance level."""

from __future__ import annotations

import math

import numpy as np

from ..ci.base import BoundTest
from ..core.results import CIResult, CIResults
from ..core.ties import comparable


def strongest_first(results: CIResults) -> np.ndarray:
    """Return candidate positions by log p, then statistic per degree of freedom, then column order.

    Both are compared without their last bits, so that float noise does not decide between columns that say the same.

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
    """Whether a result admits: p <= alpha, and reliable unless the test's rule is to use it as it is."""
    return result.log_p <= math.log(alpha) and _counts(test, result)


def is_independent(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Whether a result removes: p > alpha. An undecided result neither admits nor removes."""
    return result.log_p > math.log(alpha) and _counts(test, result)


def separates(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Whether a result takes a feature out of a search over many conditioning sets.

    As `is_independent`, but for tests whose rule on unreliable results is ``auto``: a search that asks for a separating
    set finds one too few rows to test with sooner or later, and then everything would leave.
    """
    return is_independent(test, result, alpha) and (result.reliable or test.unreliable != "auto")


def _counts(test: BoundTest, result: CIResult) -> bool:
    return result.reliable or test.unreliable != "undecided"
