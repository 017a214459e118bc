"""What is proved of stability selection: how many features of low selection probability it keeps in expectation.

Let p_k be the probability that the base selector takes feature k on half the rows. Of a complementary pair of halves,
1{A takes k and B takes k} >= 1{A takes k} + 1{B takes k} - 1, so a share of halves of at least t means a share of pairs
in which both take k of at least 2 t - 1. The halves are disjoint, hence independent, and that share has the expectation
p_k^2. By Markov's inequality k is kept with probability at most p_k^2 / (2 t - 1). Summed over the features with p_k at
most q / p, where the p_k of all features sum up to q at most, this is at most q^2 / ((2 t - 1) p).

Shah, Samworth (2013), theorem 1 with theta = q / p, doi:10.1111/j.1467-9868.2011.01034.x.
"""

from __future__ import annotations

import math

#: Numbers of features are compared up to this rounding.
ROUNDING = 1e-9


def worst_case_bound(n_selected: int, n_features: int, threshold: float) -> float:
    """Return the most features kept in expectation whose selection probability is at most n_selected / n_features.

    `n_selected` is q, the most features selected on one half; `threshold` is above 0.5. Whatever the number of pairs.

    Examples
    --------
    >>> worst_case_bound(10, 100, 0.75)
    2.0
    """
    return n_selected**2 / ((2 * threshold - 1) * n_features)


def most_selected(bound: float, n_features: int, threshold: float) -> int:
    """Return the largest q, at most all features, for which `worst_case_bound` is at most `bound`; 0 if there is none.

    Examples
    --------
    >>> most_selected(2.0, 100, 0.75), most_selected(1.99, 100, 0.75), most_selected(0.01, 100, 0.75)
    (10, 9, 0)
    """
    return min(n_features, math.isqrt(math.floor(bound * (2 * threshold - 1) * n_features + ROUNDING)))
