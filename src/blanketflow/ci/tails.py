"""Survival functions and their logarithms, so that strong effects keep their order when p underflows to 0."""

from __future__ import annotations

import math

import numpy as np

#: Below it p-values come near the least float.
LEAST_LOG_P = -600.0


def chi2_tail(statistic: np.ndarray, dof: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of chi-square statistics, both of shape (m,); p = 1 without degrees of freedom.

    >>> p, log_p = chi2_tail(np.array([3.841458820694124]), np.array([1.0]))
    >>> round(float(p[0]), 12)
    0.05
    """
    from ..kernels.chi_square import upper_tails

    p_value, log_p = np.empty(len(statistic)), np.empty(len(statistic))
    upper_tails(np.ascontiguousarray(statistic, dtype=float), np.ascontiguousarray(dof, dtype=float), p_value, log_p)
    return p_value, log_p


def chi2_upper_quantile(log_p: np.ndarray, dof: np.ndarray) -> np.ndarray:
    """Return the chi-square statistics with log p-values `log_p`, (m, k), for `dof`, (k,); 0 without dof.

    >>> chi2_upper_quantile(np.log([[0.05]]), np.array([1.0])).round(6)
    array([[3.841459]])
    """
    from scipy.special import chdtri

    has_dof = np.broadcast_to(dof > 0, log_p.shape)
    dofs = np.broadcast_to(np.where(dof > 0, dof, 1.0), log_p.shape)
    found = chdtri(dofs, np.exp(np.maximum(log_p, LEAST_LOG_P)))
    tiny = np.nonzero(log_p < LEAST_LOG_P)
    if len(tiny[0]):  # Newton's method on log p, which is nearly straight there
        w, k, wanted = found[tiny], dofs[tiny], log_p[tiny]
        w = w + 2.0 * (LEAST_LOG_P - wanted)
        for _ in range(20):
            w = w + (chi2_tail(w, k)[1] - wanted) / (0.5 - (k / 2.0 - 1.0) / w)
        found[tiny] = w
    return np.where(has_dof, found, 0.0)


def weighted_chi2_tail(statistic: float, sums: tuple[float, float, float]) -> tuple[float, float]:
    """Return p and log p of a sum of independent chi-squares of one degree of freedom, times weights of at least 0.

    `sums` are those of the weights, their squares and their cubes. The sum is approximated by a multiple of a
    chi-square plus a constant with the same first three moments. Hall (1983), doi:10.1111/j.2517-6161.1983.tb01265.x;
    Buckley, Eagleson (1988), doi:10.1111/j.1467-842X.1988.tb00472.x.

    >>> [round(p, 9) for p in weighted_chi2_tail(2 * 3.841458820694124, (2.0, 4.0, 8.0))]
    [0.05, -2.995732274]
    """
    mean, squares, cubes = sums
    if not cubes > 0.0:
        return 1.0, 0.0
    dof, scale = squares**3 / cubes**2, cubes / squares
    p_value, log_p = chi2_tail(np.array([max((statistic - mean) / scale + dof, 0.0)]), np.array([dof]))
    return float(p_value[0]), float(log_p[0])


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
        # Leading term of the incomplete beta function, used if the tail underflows.
        a = dof / 2.0
        leading = a * (np.log(dof) - 2.0 * np.log(np.abs(t))) - np.log(2.0 * a) - betaln(a, 0.5)
    return p, np.where((p < 1e-290) & np.isfinite(t), leading, log_p)


def f_greater(f: np.ndarray, dof1: np.ndarray, dof2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of F >= f with dof1 and dof2 (above 0) degrees of freedom; p = 1 if dof1 is 0.

    >>> p, log_p = f_greater(np.array([4.0661805513511595]), np.array([3.0]), np.array([8.0]))
    >>> round(float(p[0]), 9)
    0.05
    """
    from scipy.special import betainc

    has_dof = dof1 > 0
    a, b = dof2 / 2.0, np.where(has_dof, dof1, 1.0) / 2.0
    ratio = np.where(has_dof, f, 0.0) * b / a
    p = np.where(has_dof, betainc(a, b, 1.0 / (1.0 + ratio)), 1.0)
    with np.errstate(divide="ignore"):
        log_p = np.log(p)
    tiny = p < 1e-290
    if np.any(tiny):
        from ..kernels.beta_tail import log_tails

        found = np.empty(np.count_nonzero(tiny))
        log_tails(np.broadcast_to(a, p.shape)[tiny], np.broadcast_to(b, p.shape)[tiny], ratio[tiny], found)
        log_p[tiny] = found
    return p, log_p


def rao_f(log_lambda: float, p: int, q: int, rest: float) -> tuple[float, float, float] | None:
    """Return Rao's F of Wilks' lambda with its p-value and log p; None without degrees of freedom.

    `log_lambda` (at most 0) is the log of the product of 1 - r^2 over the canonical correlations r of sets of `p` and
    `q` linearly independent columns; `rest` is the rows minus the rank of the given columns and the constant. If p or q
    is at most 2, F is exact for Gaussian columns; otherwise it is asymptotic. Rao (1973) Linear Statistical Inference
    and Its Applications, 2nd ed., Wiley, doi:10.1002/9780470316436, 8c.5.

    >>> f, p_value, _ = rao_f(math.log(0.5), 1, 1, 20)  # one column in each: F = r^2 / (1 - r^2) (20 - 1)
    >>> round(f, 9), round(p_value, 5)
    (19.0, 0.00034)
    """
    squares = p * p + q * q - 5
    root = math.sqrt((p * p * q * q - 4) / squares) if squares > 0 else 1.0
    dof, left = float(p * q), (rest - (p + q + 1) / 2) * root - p * q / 2 + 1
    if left <= 0 or rest < p + q:
        return None
    f = math.expm1(-log_lambda / root) * left / dof
    p_value, log_p = f_greater(np.array([f]), np.array([dof]), np.array([left]))
    return f, float(p_value[0]), float(log_p[0])
