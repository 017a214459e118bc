"""Multiple-testing corrections. Searches correct log p, so that p-values that underflow keep their order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

#: No correction, two for the false discovery rate, one for any false rejection.
NONE, BH, BY, BONFERRONI = "none", "bh", "by", "bonferroni"
CORRECTIONS = (NONE, BH, BY, BONFERRONI)
#: Tolerance, relative to p: levels are sums of logarithms, and a p-value equal to its level must not exceed it.
ROUNDING = 1e-12


def log_level(rank: Any, n_tests: int, alpha: float, correction: str) -> Any:
    """Return the logarithm of the level for the k-th smallest of `n_tests` p-values, k = `rank` from 1 on.

    The level is alpha (``none``), alpha / n (``bonferroni``), alpha k / n (``bh``), or alpha k / n divided by 1 + 1/2 +
    .. + 1/n (``by``); it does not decrease with k. See `rejected` for the error rates.
    """
    zero = 0.0 * rank
    if correction == NONE:
        return math.log(alpha) + zero
    level = math.log(alpha) - math.log(n_tests) + ROUNDING + (np.log(rank) if correction in (BH, BY) else zero)
    return level - math.log(np.sum(1.0 / np.arange(1, n_tests + 1))) if correction == BY else level


def rejected(log_p: np.ndarray, alpha: float, correction: str) -> np.ndarray:
    """Return which of m hypotheses are rejected at alpha after a correction, given log p-values. O(m log m).

    ``bh`` (Benjamini, Hochberg 1995, 10.1111/j.2517-6161.1995.tb02031.x) controls the false discovery rate for
    independent or positively dependent p-values, ``by`` (Benjamini, Yekutieli 2001, 10.1214/aos/1013699998) under any
    dependence. ``bonferroni`` controls the probability of any false rejection. Equal p-values are rejected together.

    >>> log_p = np.log([0.001, 0.02, 0.03, 0.9])
    >>> [int(rejected(log_p, 0.05, how).sum()) for how in ("none", "bh", "by", "bonferroni")]
    [3, 3, 1, 1]
    """
    if not len(log_p):
        return np.zeros(0, dtype=bool)
    levels = log_level(np.arange(1, len(log_p) + 1), len(log_p), alpha, correction)
    meets = np.flatnonzero(np.sort(log_p) <= levels)
    return log_p <= levels[meets[-1]] if len(meets) else np.zeros(len(log_p), dtype=bool)


def smallest_levels(log_p: np.ndarray, correction: str) -> np.ndarray:
    """Return for each hypothesis the smallest level at which `rejected` rejects it, (m,), at most 1. O(m log m).

    Also called adjusted p-values. A level chosen by looking at them has no guarantee.

    >>> log_p = np.log([0.001, 0.02, 0.03, 0.9])
    >>> smallest_levels(log_p, "bh").round(3).tolist(), smallest_levels(log_p, "bonferroni").round(3).tolist()
    ([0.004, 0.04, 0.04, 0.9], [0.004, 0.08, 0.12, 1.0])
    """
    order = np.argsort(log_p, kind="stable")
    level_of_1 = log_level(np.arange(1, len(log_p) + 1), max(len(log_p), 1), 1.0, correction)
    needed = np.minimum.accumulate((log_p[order] - level_of_1)[::-1])[::-1]
    found = np.empty(len(log_p))
    found[order] = np.exp(np.minimum(needed, 0.0))
    return found


def fewest_rejected(smallest_p: float, n_tests: int, alpha: float, correction: str) -> int | None:
    """Return how many of `n_tests` p-values must equal the smallest (above 0) to reject any; None if never.

    >>> [fewest_rejected(2.0**-5, 1000, 0.05, how) for how in ("none", "bh", "by", "bonferroni")]
    [1, 625, None, None]
    """
    levels = log_level(np.arange(1, n_tests + 1), n_tests, alpha, correction)
    fewest = int(np.searchsorted(levels, math.log(smallest_p))) + 1
    return fewest if fewest <= n_tests else None


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values with Holm's correction, which controls the family-wise error under any dependence. O(m log m).

    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.

    >>> holm([0.01, 0.04, 0.03, 0.005])
    [0.03, 0.06, 0.06, 0.02]
    """
    order = np.argsort(p_values, kind="stable")
    raised = np.sort(p_values) * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected.tolist()
