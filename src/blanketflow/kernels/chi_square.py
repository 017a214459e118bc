"""The upper tail of the chi-square distribution and its logarithm, for many statistics at once.

SciPy's function underflows below 1e-308 without a logarithm, and its import takes longer than most jobs' tests.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: Relative size of the last term at which a series or continued fraction ends.
PRECISION = 1e-15
#: Up to this many degrees of freedom, and this far out, a tail is a short sum.
MOST_SUMMED, FARTHEST_SUM = 60, 600.0


@njit
def _log_prefactor(a, x):
    """Return log(x^a e^-x / Gamma(a + 1)), without cancellation for large a."""
    if a < 30.0:
        return a * math.log(x) - x - math.lgamma(a + 1.0)
    inverse = 1.0 / a
    stirling = inverse * (1 / 12 - inverse**2 * (1 / 360 - inverse**2 * (1 / 1260 - inverse**2 / 1680)))
    u = (x - a) / a
    return a * (math.log1p(u) - u) - 0.5 * math.log(2.0 * math.pi * a) - stirling


@njit
def _lower_series(a, x):
    """Return the sum over k of x^k / ((a + 1) ... (a + k)), which converges fast for x below a."""
    term, total, k = 1.0, 1.0, 0.0
    while term > PRECISION * total:
        k += 1.0
        term *= x / (a + k)
        total += term
    return total


@njit
def _upper_fraction(a, x):
    """Return Gamma(a, x) / (x^a e^-x) by Legendre's continued fraction (Lentz), for x above a + 1."""
    b = x + 1.0 - a
    c = 1e300
    d = 1.0 / b
    fraction = d
    change, k = 2.0, 0.0
    while abs(change - 1.0) > PRECISION:
        k += 1.0
        step = -k * (k - a)
        b += 2.0
        d = 1.0 / (step * d + b)
        c = b + step / c
        change = c * d
        fraction *= change
    return fraction


@njit
def _log_finite_sum(dof, x):
    """Return log Q(dof / 2, x) for a small whole number of degrees of freedom and x below `FARTHEST_SUM`."""
    if dof % 2 == 0:
        total, term, k = 1.0, 1.0, 1.0
        while k < dof / 2:
            term *= x / k
            total += term
            k += 1.0
        return math.log(total) - x
    root = math.sqrt(x)
    total, term, k = 0.0, 2.0 * root / math.sqrt(math.pi), 1.5
    while k - 0.5 <= (dof - 1) / 2:
        total += term
        term *= x / k
        k += 1.0
    return math.log(math.exp(x) * math.erfc(root) + total) - x


@njit
def log_tail(statistic, dof):
    """Return log P(chi-square of dof >= statistic), 0 without degrees of freedom."""
    a, x = 0.5 * dof, 0.5 * statistic
    if a <= 0.0 or x <= 0.0:
        return 0.0
    if x == np.inf:
        return -np.inf
    if x < a + 1.0:
        return math.log1p(-min(math.exp(_log_prefactor(a, x)) * _lower_series(a, x), 1.0))
    if dof <= MOST_SUMMED and x < FARTHEST_SUM and dof == math.floor(dof):
        return _log_finite_sum(int(dof), x)
    return min(_log_prefactor(a, x) + math.log(a * _upper_fraction(a, x)), 0.0)


@njit("void(float64[::1], float64[::1], float64[::1], float64[::1])", cache=True, nogil=True)
def upper_tails(statistics, dofs, p_value, log_p):
    """Fill P(chi-square of dof >= statistic) and its logarithm, arrays of shape (m,); statistics may be infinite."""
    for i in range(len(statistics)):
        log_p[i] = log_tail(statistics[i], dofs[i])
        p_value[i] = math.exp(log_p[i])  # as other kernels do: NumPy's exponential may differ in the last bit
