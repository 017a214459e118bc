"""From the risks of B repeats to a p-value: are permuted risks larger than the original ones?"""

from __future__ import annotations

import numpy as np

from .tails import student_t_greater

#: Pure leaves make risk differences multiples of one constant; rounding keeps float noise from deciding ties.
DECIMALS = 12


def risk_differences(risks: np.ndarray, permuted_risks: np.ndarray) -> np.ndarray:
    """Return permuted minus original risks, shape (m, B), rounded to 1e-12."""
    return np.round(permuted_risks - risks, DECIMALS)


def wilcoxon(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of the one-sided Wilcoxon signed-rank test, zero differences split.

    All sign flips are counted for up to 13 repeats; above that the normal approximation without continuity correction
    is used. All differences zero gives p = 1.

    Parameters
    ----------
    differences : ndarray of shape (m, B)
        As `risk_differences` returns them.

    Examples
    --------
    >>> p, _ = wilcoxon(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))
    >>> float(p[0]) == 2.0**-5
    True
    """
    from ..kernels.signed_rank import signed_rank_greater

    p_value, log_p = np.empty(len(differences)), np.empty(len(differences))
    signed_rank_greater(np.ascontiguousarray(differences), p_value, log_p)
    return p_value, log_p


def corrected_t(differences: np.ndarray, test_share: float) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of the one-sided corrected resampled t-test (Nadeau, Bengio 2003, 10.1023/A:1024068626366).

    Parameters
    ----------
    differences : ndarray of shape (m, B)
        As `risk_differences` returns them.
    test_share : float
        Test rows over training rows of a repeat.
    """
    n_repeats = differences.shape[1]
    mean = differences.mean(axis=1)
    variance = differences.var(axis=1, ddof=1)
    # Equal differences have no spread: their sign alone decides.
    no_spread = variance <= np.finfo(float).eps * mean**2
    scale = np.sqrt((1.0 / n_repeats + test_share) * np.where(no_spread, 1.0, variance))
    t = np.where(no_spread, np.where(mean > 0, np.inf, -np.inf), mean / scale)
    return student_t_greater(t, n_repeats - 1)
