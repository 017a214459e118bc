"""Computes a p-value from the risks of B repeats: are the permuted risks larger than the original ones?"""

from __future__ import annotations

import math

import numpy as np

from ..tails import student_t_greater

#: Pure leaves make risk differences multiples of one constant; rounding keeps float noise from deciding ties.
DECIMALS = 12
#: With at most this many repeats `wilcoxon` counts all sign flips. Equals MAX_EXACT_PAIRS in kernels/signed_rank.py,
#: which the plan must not import.
MAX_EXACT_REPEATS = 13


def risk_differences(risks: np.ndarray, permuted_risks: np.ndarray) -> np.ndarray:
    """Return permuted minus original risks, shape (m, B), rounded to 1e-12."""
    return np.round(permuted_risks - risks, DECIMALS)


def wilcoxon(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p, both of shape (m,), of the one-sided Wilcoxon signed-rank test of differences, shape (m, B).

    With up to 13 repeats all sign flips are counted; with more the normal approximation without continuity correction
    is used. Zero differences are split. If all differences are zero, p = 1.

    Examples
    --------
    >>> p, _ = wilcoxon(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))
    >>> float(p[0]) == 2.0**-5
    True
    """
    from ...kernels.signed_rank import signed_rank_greater

    p_value, log_p = np.empty(len(differences)), np.empty(len(differences))
    signed_rank_greater(np.require(differences, np.float64, ["C", "W"]), p_value, log_p)
    return p_value, log_p


def smallest_p(n_repeats: int, significance: str = "wilcoxon") -> float:
    """Return the smallest p-value that a test with `n_repeats` repeats can give: it never rejects at a lower level.

    For ``wilcoxon`` this is 2^-B for up to 13 repeats, and the tail of a standard normal variable above sqrt(B) for
    more. For ``corrected-t`` it is 0, since there is no limit.

    Notes
    -----
    Equal positive differences reach it. The z of the normal approximation is at most the sum of the ranks over the root
    of their sum of squares, which by the Cauchy-Schwarz inequality is largest if all ranks are equal.

    Examples
    --------
    >>> smallest_p(5), smallest_p(5, "corrected-t")
    (0.03125, 0.0)
    >>> round(smallest_p(30), 10)
    2.16e-08
    """
    if significance == "corrected-t":
        return 0.0
    if n_repeats <= MAX_EXACT_REPEATS:
        return 2.0**-n_repeats
    return 0.5 * math.erfc(math.sqrt(n_repeats / 2.0))


def corrected_t(differences: np.ndarray, test_share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of the one-sided corrected resampled t-test (Nadeau, Bengio 2003, 10.1023/A:1024068626366).

    Differences have shape (m, B); `test_share` is the number of test rows over the number of training rows of a repeat.

    Notes
    -----
    If all differences are equal, the variance is zero and only the sign is known. The p-value is then the one of
    `wilcoxon` if they are positive, else 1.
    """
    n_repeats = differences.shape[1]
    mean = differences.mean(axis=1)
    variance = differences.var(axis=1, ddof=1)
    no_spread = variance <= np.finfo(float).eps * mean**2
    scale = np.sqrt((1.0 / n_repeats + test_share) * np.where(no_spread, 1.0, variance))
    p_value, log_p = student_t_greater(mean / scale, n_repeats - 1)
    p_value[no_spread] = np.where(mean[no_spread] > 0, smallest_p(n_repeats), 1.0)
    log_p[no_spread] = np.log(p_value[no_spread])
    return p_value, log_p
