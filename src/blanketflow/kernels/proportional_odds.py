"""Proportional odds regression of ordered classes by Newton's method.

The log-odds of class c or a lower one are `thresholds[c]` minus the linear predictor. With the thresholds a above and
b below a class, its probability is F(a) F(-b) (1 - exp(b - a)), where F is logistic. Each factor is exact, the last one
is the same for all rows of a class, and the log likelihood is concave. Reference: McCullagh (1980), J. R. Statist. Soc.
B 42, 109-142, doi:10.1111/j.2517-6161.1980.tb01109.x.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .logistic import _dot, _solve

#: The iteration ends if the next step would raise twice the log likelihood by at most this.
CONVERGED = 1e-12
MAX_STEPS = 100
MAX_HALVINGS = 40


@njit
def _loss(design, classes, coefficients, counts, above, below):
    """Fill F(-a) and F(b) of each row; return minus the log likelihood, infinite unless thresholds ascend."""
    n_thresholds = len(counts) - 1
    total, lost = 0.0, 0.0
    for c in range(1, n_thresholds):
        gap = coefficients[c] - coefficients[c - 1]
        if not gap > 0.0:
            return np.inf
        total -= counts[c] * math.log(-math.expm1(-gap))
    for i in range(len(classes)):
        above[i] = 0.0
    for j in range(design.shape[0]):
        for i in range(len(classes)):
            above[i] += coefficients[n_thresholds + j] * design[j, i]
    for i in range(len(classes)):
        predictor, term = above[i], 0.0
        above[i] = below[i] = 0.0
        if classes[i] < n_thresholds:
            a = coefficients[classes[i]] - predictor
            small = math.exp(-abs(a))
            above[i] = (small if a > 0.0 else 1.0) / (1.0 + small)
            term += math.log1p(small) + max(-a, 0.0)
        if classes[i] > 0:
            b = coefficients[classes[i] - 1] - predictor
            small = math.exp(-abs(b))
            below[i] = (1.0 if b > 0.0 else small) / (1.0 + small)
            term += math.log1p(small) + max(b, 0.0)
        larger = total + term
        lost += (total - larger) + term if abs(total) >= abs(term) else (term - larger) + total
        total = larger
    return total + lost


@njit
def _newton_step(design, classes, coefficients, counts, above, below, step, hessian, weighted):
    """Fill the Newton step; return the increase of twice the log likelihood to second order."""
    n_columns, n = design.shape
    n_thresholds = len(counts) - 1
    gradient = np.zeros(len(step))
    for j in range(n_thresholds):
        for k in range(j + 1):
            hessian[j, k] = 0.0
    for c in range(1, n_thresholds):
        gap = coefficients[c] - coefficients[c - 1]
        pull, bend = counts[c] / math.expm1(gap), counts[c] / (2.0 * math.sinh(gap / 2.0)) ** 2
        gradient[c] += pull
        gradient[c - 1] -= pull
        hessian[c, c] += bend
        hessian[c - 1, c - 1] += bend
        hessian[c, c - 1] -= bend
    for i in range(n):
        c = classes[i]
        if c < n_thresholds:
            gradient[c] += above[i]
            hessian[c, c] += above[i] * (1.0 - above[i])
        if c > 0:
            gradient[c - 1] -= below[i]
            hessian[c - 1, c - 1] += below[i] * (1.0 - below[i])
    for j in range(n_columns):
        row = n_thresholds + j
        for c in range(n_thresholds):
            hessian[row, c] = 0.0
        for i in range(n):
            c, x = classes[i], design[j, i]
            of_above, of_below = above[i] * (1.0 - above[i]), below[i] * (1.0 - below[i])
            gradient[row] += (below[i] - above[i]) * x
            weighted[i] = (of_above + of_below) * x
            if c < n_thresholds:
                hessian[row, c] -= of_above * x
            if c > 0:
                hessian[row, c - 1] -= of_below * x
        for k in range(j + 1):
            hessian[row, n_thresholds + k] = _dot(weighted, design[k])
    for j in range(len(step)):
        step[j] = gradient[j]
    _solve(hessian, step)
    return _dot(gradient, step)


@njit("float64(float64[:, ::1], int64[::1], float64[::1], float64[::1])", cache=True, nogil=True)
def fit_proportional_odds(design, classes, coefficients, scores):
    """Return the smallest loss, minus the log likelihood, of ordered classes 0 .. r - 1, (n,), all of them present.

    `design`, (columns, n), has no row of ones; its rows should be orthogonal with variance 1. `coefficients` are the
    start, r - 1 ascending thresholds and one per column, and are overwritten. `scores`, (n,), is filled with the
    derivatives of the log likelihood by the linear predictor.
    """
    n_columns, n = design.shape
    counts = np.zeros(len(coefficients) - n_columns + 1)
    for i in range(n):
        counts[classes[i]] += 1.0
    above, below, weighted = np.empty(n), np.empty(n), np.empty(n)
    step, trial = np.empty(len(coefficients)), np.empty(len(coefficients))
    hessian = np.empty((len(step), len(step)))
    loss = _loss(design, classes, coefficients, counts, above, below)
    for _ in range(MAX_STEPS):
        if _newton_step(design, classes, coefficients, counts, above, below, step, hessian, weighted) <= CONVERGED:
            break
        size, reached = 1.0, loss
        for _ in range(MAX_HALVINGS):
            for j in range(len(step)):
                trial[j] = coefficients[j] + size * step[j]
            reached = _loss(design, classes, trial, counts, above, below)
            if reached <= loss + 1e-13 * abs(loss):  # a larger increase is not a rounding error
                break
            size *= 0.5
        for j in range(len(step)):
            coefficients[j] = trial[j]
        loss = reached
    for i in range(n):
        scores[i] = below[i] - above[i]
    return loss
