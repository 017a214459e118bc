"""The logarithm of the incomplete beta function in the tail where the function itself underflows."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: Relative size of the last change at which a continued fraction ends, and its most steps: sqrt(max(a, b)) do.
PRECISION, MOST_STEPS = 1e-15, 10_000


@njit("void(float64[::1], float64[::1], float64[::1], float64[::1])", cache=True, nogil=True)
def log_tails(a, b, ratio, log_p):
    """Fill log I_x(a, b) at x = 1 / (1 + ratio) far below a / (a + b), by Lentz's continued fraction; all (m,)."""
    for at in range(len(a)):
        p, q, r = a[at], b[at], ratio[at]
        x = 1.0 / (1.0 + r)
        log_beta = math.lgamma(p) + math.lgamma(q) - math.lgamma(p + q)
        log_front = q * math.log(r) - (p + q) * math.log1p(r) - math.log(p) - log_beta
        c, d = 1.0, 1.0 / (1.0 - (p + q) * x / (p + 1.0))
        fraction, i, change = d, 0, 2.0
        while abs(change - 1.0) >= PRECISION and i < MOST_STEPS:
            i += 1
            even = i * (q - i) * x / ((p + 2 * i - 1.0) * (p + 2 * i))
            odd = -(p + i) * (p + q + i) * x / ((p + 2 * i) * (p + 2 * i + 1.0))
            d, c = 1.0 / (1.0 + even * d), 1.0 + even / c
            change = c * d
            d, c = 1.0 / (1.0 + odd * d), 1.0 + odd / c
            change *= c * d
            fraction *= change
        log_p[at] = log_front + math.log(fraction) if r < np.inf else -np.inf
