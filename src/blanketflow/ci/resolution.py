"""The resolution of a test: says in words when its smallest possible p-value is too large for a method's level."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..core.parameters import Configurable
from .multiple_testing import NONE, ROUNDING, fewest_rejected, log_level

if TYPE_CHECKING:
    from .base import CITest


def why_nothing_is_admitted(test: CITest, method: Configurable, n_features: int) -> str | None:
    """Return why a method can never admit a feature with a configured test, or None if it can.

    Nothing is tested: only the test's `smallest_p` is used, and the method's options `alpha` (without it no p-value is
    too large), `correction`, and `m` and `max_k` of methods that test sets of features, whose correction counts all
    sets of a scan.
    """
    options = method.options()
    alpha, correction = options.get("alpha"), options.get("correction", NONE)
    n_tests = _n_tests(method, n_features)
    if alpha is None or n_tests == 0:
        return None

    def largest_p(correction: str) -> float:
        """Return the largest p-value that can be rejected, if all p-values are equal to it."""
        return math.exp(log_level(n_features, n_tests, alpha, correction) + ROUNDING)

    smallest = test.smallest_p()
    if smallest <= largest_p(correction):
        return None
    asked, ways = f"at alpha {alpha:g} admits no feature", test.to_reach(largest_p(correction))
    if correction != NONE:
        what = "features" if n_tests == n_features else "sets of features"
        asked = f"with correction: {correction} at alpha {alpha:g} admits none of {n_tests:,} {what}"
        others = [other for other in method.parameters()["correction"].choices if smallest <= largest_p(other)]
        ways += "".join(f", or correction: {other}" for other in others)
    return (
        f"{test.card.id} gives no p-value below {smallest:.2g}, so {method.card.id} {asked}, which needs "
        f"{largest_p(correction):.2g} or less. {ways[0].upper()}{ways[1:]}"
    )


def why_a_correction_admits_none(test: CITest, log_p: np.ndarray, alpha: float, correction: str) -> str | None:
    """Return a message if a correction rejected nothing because the test's resolution is too coarse, else None.

    This is the reason if some features have the p-value at which the test saturates, but too few of them.
    """
    least, n_tests = test.saturated_p(), len(log_p)
    n_least = int(np.count_nonzero(log_p <= math.log(least) + ROUNDING)) if least > 0 else 0
    if n_least == 0:
        return None
    fewest = fewest_rejected(least, n_tests, alpha, correction)
    level = math.exp(log_level(n_least, n_tests, alpha, correction) + ROUNDING)
    return (
        f"nothing was admitted: with correction: {correction} at alpha {alpha:g} "
        f"{f'{fewest:,}' if fewest else 'more than all'} of {n_tests:,} features would have to be as clear as "
        f"{test.card.id} can show, p = {least:.2g}, and {n_least:,} were. To admit these, {test.to_reach(level)}"
    )


def more_permutations(level: float, n_permutations: int) -> str:
    """Return in words how many permutations make 1 / (1 + n_permutations) at most `level`.

    Examples
    --------
    >>> more_permutations(0.001, 199)
    'set n_permutations to at least 999 (it is 199)'
    """
    if level < 1e-9:
        return "choose another test, since no number of permutations will do"
    return f"set n_permutations to at least {math.ceil(1.0 / level - 1e-9) - 1} (it is {n_permutations})"


def _n_tests(method: Configurable, n_features: int) -> int:
    """Return how many hypotheses a method corrects for: the features, or all sets of up to m features."""
    options = method.options()
    largest = options.get("m", 1)
    if "m" in options and options.get("max_k") is not None:
        largest = min(largest, options["max_k"] + 1)
    return sum(math.comb(n_features, size) for size in range(1, min(largest, n_features) + 1))
