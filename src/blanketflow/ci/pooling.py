"""Pooling of one test's results on several imputed copies of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..core.results import CIResults
from .tails import chi2_tail, chi2_upper_quantile, f_greater, normal_two_sided

#: From these denominator degrees of freedom on, F is a chi-square over its degrees of freedom to all relevant digits.
INFINITE_DOF = 1e8


def pooled_p_values(copies: Sequence[CIResults]) -> CIResults:
    """Pool p-values of m >= 2 copies by D2; a result is reliable if all copies' are.

    Each p-value is converted to its chi-square statistic w. With k degrees of freedom and r = (1 + 1/m) var(sqrt w), D2
    = (mean(w) / k - r (m + 1) / (m - 1)) / (1 + r) is compared with F on k and (m - 1) (1 + 1/r)^2 / k^(3/m) degrees of
    freedom. Statistic and degrees of freedom are means, so the effect size is its mean.

    Li, Meng, Raghunathan, Rubin (1991) Significance levels from repeated p-values with multiply-imputed data,
    Statistica Sinica 1, 65-92.

    >>> one = np.ones(1)
    >>> def of(w):
    ...     p, log_p = chi2_tail(w * one, 4 * one)
    ...     return CIResults(w * one, p, log_p, 4 * one, 100 * one, one > 0)
    >>> found = pooled_p_values([of(w) for w in (2.25, 3.95, 6.24, 5.27, 2.81)])
    >>> found.p_value.round(3)  # by hand r = 0.2070, D2 = 0.5928, with 4 and 59.2 degrees of freedom
    array([0.669])
    """
    m = len(copies)
    dof = _mean(copies, "dof")
    w = chi2_upper_quantile(np.array([one.log_p for one in copies]), dof)
    between = _between(np.sqrt(w))
    divisor = np.where(dof > 0, dof, 1.0)
    d2 = np.maximum((w.mean(axis=0) / divisor - between * (m + 1) / (m - 1)) / (1.0 + between), 0.0)
    p_value, log_p = _f_tail(d2, dof, _residual_dof(between, m) / divisor ** (3 / m))
    pooled = CIResults(_mean(copies, "statistic"), p_value, log_p, dof, copies[0].n, _all_reliable(copies))
    return _without_untested(pooled, copies)


def pooled_likelihood_ratios(copies: Sequence[CIResults], stacked: CIResults) -> CIResults:
    """Pool likelihood ratios of contingency tables by D3, with `stacked` copies in place of averaged parameters.

    With m >= 2 copies, k degrees of freedom, the mean d of the copies' statistics, and the statistic d' of the stacked
    copies divided by m: r = (m + 1) / (k (m - 1)) (d - d'), and d' / (k (1 + r)) is compared with F on k and v degrees
    of freedom, v = 4 + (t - 4) (1 + (1 - 2/t) / r)^2 for t = k (m - 1) > 4, else t (1 + 1/k) (1 + 1/r)^2 / 2. Statistic
    and degrees of freedom are means.

    Meng, Rubin (1992), Biometrika 79, 103-111, doi:10.1093/biomet/79.1.103; stacking: Chan, Meng (2022), Statistica
    Sinica 32, 1489-1514, doi:10.5705/ss.202019.0314.

    >>> one = np.ones(1)
    >>> def of(d, n=100):
    ...     return CIResults(d * one, one * 0.1, np.log(one * 0.1), one, n * one, one > 0)
    >>> found = pooled_likelihood_ratios([of(6.0), of(4.0), of(8.0)], of(3 * 4.5, 300))
    >>> found.p_value.round(3), found.statistic  # by hand r = 3, d' / (1 + r) = 1.125, with 1 and 32 / 9 degrees
    (array([0.356]), array([6.]))
    """
    m, dof, mean = len(copies), _mean(copies, "dof"), _mean(copies, "statistic")
    k = np.where(dof > 0, dof, 1.0)
    of_stack, t = stacked.statistic / m, k * (m - 1)
    excess = mean - of_stack
    between = np.where(excess > 1e-9 * (1.0 + mean), (m + 1) / t * excess, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # of the branch that is not taken
        rest = np.where(
            t > 4, 4 + (t - 4) * (1 + (1 - 2 / t) / between) ** 2, t * (1 + 1 / k) * (1 + 1 / between) ** 2 / 2
        )
    p_value, log_p = _f_tail(of_stack / (k * (1.0 + between)), dof, rest)
    return _without_untested(CIResults(mean, p_value, log_p, dof, copies[0].n, _all_reliable(copies)), copies)


def pooled_z(copies: Sequence[CIResults]) -> CIResults:
    """Pool Fisher's z by Rubin's rules.

    A copy's z = arctanh(r) is statistic / sqrt(dof), with variance 1 / dof. The mean z over m copies has variance T = U
    + (1 + 1/m) B, for the variances U within and B between copies, and Student's t distribution with (m - 1) (1 +
    1/r)^2 degrees of freedom, r = (1 + 1/m) B / U. The statistic is mean z / sqrt(T) and `dof` is 1 / T, so that
    tanh(statistic / sqrt(dof)) is the mean effect.

    Rubin (1987) Multiple Imputation for Nonresponse in Surveys, Wiley, doi:10.1002/9780470316696.

    >>> one = np.ones(1)
    >>> def of(z):
    ...     return CIResults(z * 10 * one, one, one, 100 * one, 103 * one, one > 0)
    >>> found = pooled_z([of(0.1), of(0.2), of(0.3)])
    >>> (1 / found.dof).round(4), (found.statistic / np.sqrt(found.dof)).round(4)  # 0.01 + 4/3 0.01; the mean
    (array([0.0233]), array([0.2]))
    """
    tested = np.all([one.dof > 0 for one in copies], axis=0)
    dofs = np.array([np.where(one.dof > 0, one.dof, 1.0) for one in copies])
    z = np.array([one.statistic for one in copies]) / np.sqrt(dofs)
    within = (1.0 / dofs).mean(axis=0)
    between = _between(z) / within
    dof = np.where(tested, 1.0 / (within * (1.0 + between)), 0.0)
    statistic = z.mean(axis=0) * np.sqrt(dof)
    p_value, log_p = _f_tail(statistic**2, tested.astype(float), _residual_dof(between, len(copies)))
    plain = np.flatnonzero(tested & (between == 0.0))
    p_value[plain], log_p[plain] = normal_two_sided(statistic[plain])
    return CIResults(statistic, p_value, log_p, dof, copies[0].n, _all_reliable(copies) & tested)


def pooled_z_of_p_values(copies: Sequence[CIResults]) -> CIResults:
    """Pool two-sided p-values and signs by Rubin's rules, for tests whose p-value uses more than the statistic.

    Each p-value is converted to z with the sign of the statistic and variance 1. All else is as in `pooled_z`.

    >>> one = np.ones(1)
    >>> def of(z, p):
    ...     return CIResults(z * one, p * one, np.log(p * one), 97 * one, 100 * one, one > 0)
    >>> found = pooled_z_of_p_values([of(2.9, 0.0455), of(2.9, 0.0455), of(-1.0, 1.0)])
    >>> found.p_value.round(3)  # by hand z is 2, 2 and 0, r = 16 / 9, t = 0.8 with 4.88 degrees of freedom
    array([0.461])
    """
    m, one = len(copies), np.ones(len(copies[0].p_value))
    z = np.array([np.copysign(np.sqrt(chi2_upper_quantile(c.log_p, one)), c.statistic) for c in copies])
    between = _between(z)
    tested = np.all([c.dof > 0 for c in copies], axis=0)
    squared = z.mean(axis=0) ** 2 / (1.0 + between)
    p_value, log_p = _f_tail(squared, tested.astype(float), _residual_dof(between, m))
    return _without_untested(replace(pooled_z(copies), p_value=p_value, log_p=log_p), copies)


def _mean(copies: Sequence[CIResults], name: str) -> np.ndarray:
    return np.mean([getattr(one, name) for one in copies], axis=0)


def _all_reliable(copies: Sequence[CIResults]) -> np.ndarray:
    return np.all([one.reliable for one in copies], axis=0)


def _between(values: np.ndarray) -> np.ndarray:
    """Return (1 + 1/m) times the variance between m copies, (m, number of tests), ignoring rounding."""
    variance = np.var(values, axis=0, ddof=1)
    return np.where(variance > (1e-12 * np.abs(values).max(axis=0)) ** 2, (1.0 + 1.0 / len(values)) * variance, 0.0)


def _residual_dof(between: np.ndarray, m: int) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return (m - 1) * (1.0 + 1.0 / between) ** 2


def _f_tail(f: np.ndarray, dof: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of F >= f; p = 1 without degrees of freedom."""
    p_value, log_p = chi2_tail(f * dof, dof)
    finite = np.flatnonzero(rest < INFINITE_DOF)
    p_value[finite], log_p[finite] = f_greater(f[finite], dof[finite], rest[finite])
    return p_value, log_p


def _without_untested(pooled: CIResults, copies: Sequence[CIResults]) -> CIResults:
    """Return results with p = 1 where a copy had too few rows for the test."""
    untested = np.any([~one.reliable & (one.log_p == 0.0) for one in copies], axis=0)
    p_value, log_p = np.where(untested, 1.0, pooled.p_value), np.where(untested, 0.0, pooled.log_p)
    return replace(pooled, p_value=p_value, log_p=log_p)
