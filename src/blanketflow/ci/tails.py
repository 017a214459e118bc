"""Survival functions with their logarithms, so that strong effects keep their order where p underflows to 0."""

from __future__ import annotations

import numpy as np


def chi2_tail(statistic: np.ndarray, dof: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of chi-square statistics; p = 1 where there are no degrees of freedom.

    Examples
    --------
    >>> p, log_p = chi2_tail(np.array([3.841458820694124]), np.array([1.0]))
    >>> round(float(p[0]), 12)
    0.05
    """
    from scipy.special import gammaincc

    has_dof = dof > 0
    half_dof, half_statistic = np.where(has_dof, dof, 2.0) / 2.0, np.where(has_dof, statistic, 0.0) / 2.0
    p = np.where(has_dof, gammaincc(half_dof, half_statistic), 1.0)
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    tiny = p < 1e-290
    if np.any(tiny):
        log_p[tiny] = _log_gamma_tail(half_dof[tiny], half_statistic[tiny])
    return p, log_p


def _log_gamma_tail(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return log Q(a, x) for x far above a, by Lentz's evaluation of Legendre's continued fraction."""
    from scipy.special import gammaln

    b = x + 1.0 - a
    c = np.full_like(x, 1e300)
    d = 1.0 / b
    fraction = d.copy()
    for i in range(1, 200):
        step = -i * (i - a)
        b = b + 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        fraction *= c * d
        if np.all(np.abs(c * d - 1.0) < 1e-15):
            break
    return a * np.log(x) - x - gammaln(a) + np.log(fraction)


def normal_two_sided(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of |Z| >= |z| for a standard normal Z."""
    from scipy.special import log_ndtr, ndtr

    low = -np.abs(z)
    return 2.0 * ndtr(low), np.minimum(np.log(2.0) + log_ndtr(low), 0.0)


def student_t_greater(t: np.ndarray, dof: float) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of T >= t for Student's T; t may be infinite."""
    from scipy.special import betaln, stdtr

    p = stdtr(dof, -t)
    with np.errstate(divide="ignore", over="ignore"):
        log_p = np.log(p)
        # Leading term of the incomplete beta function where the tail underflows.
        a = dof / 2.0
        leading = a * (np.log(dof) - 2.0 * np.log(np.abs(t))) - np.log(2.0 * a) - betaln(a, 0.5)
    return p, np.where((p < 1e-290) & np.isfinite(t), leading, log_p)
