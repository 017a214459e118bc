"""Generalised linear models by Newton's method: counts, positive numbers and shares.

All losses are convex in the linear predictor, so that Newton's method with step halving reaches the minimum or, where
that is at infinity, its limit: each step then divides the distance to it by e. The dispersion a of negative binomial
counts, with variance m + a m^2, is a further parameter, log a. References: McCullagh, Nelder (1989), Generalized
Linear Models, doi:10.1007/978-1-4899-3242-6; Lawless (1987), Canadian Journal of Statistics 15, 209-225,
doi:10.2307/3314912.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .logistic import _dot, _solve

#: Families: counts and positive numbers have a log link, shares a logit link.
POISSON, GAMMA, FRACTIONAL, NEGATIVE_BINOMIAL = 0, 1, 2, 3
#: The iteration ends if the next step would lower twice the loss by at most this.
CONVERGED = 1e-12
MAX_STEPS = 100
MAX_HALVINGS = 40
#: Counts are added one by one up to this; larger ones by the integral, with an error below 1e-11 (Euler, Maclaurin).
ONE_BY_ONE = 1000
#: Largest step of log a, and its bounds.
MOST, LEAST_LOG, MOST_LOG = 3.0, -30.0, 20.0


@njit
def _loss(family, y, offset, design, coefficients, dispersion, predictors, scores, weights):
    """Fill the linear predictors and the first and second derivatives of the log likelihood; return minus itself.

    Terms without coefficients are left out.
    """
    for i in range(len(y)):
        predictors[i] = offset[i]
    for j in range(design.shape[0]):
        for i in range(len(y)):
            predictors[i] += coefficients[j] * design[j, i]
    total, lost = 0.0, 0.0
    for i in range(len(y)):
        if family == POISSON:
            mean = math.exp(predictors[i])
            term = mean - y[i] * predictors[i]
            scores[i], weights[i] = y[i] - mean, mean
        elif family == GAMMA:  # y holds logarithms, and the term is 0 at its smallest
            rest = y[i] - predictors[i]
            above = math.expm1(rest)
            term = above - rest
            scores[i], weights[i] = above, above + 1.0
        elif family == FRACTIONAL:
            small = math.exp(-abs(predictors[i]))
            mean = (1.0 if predictors[i] >= 0.0 else small) / (1.0 + small)
            term = math.log1p(small) + max(predictors[i], 0.0) - y[i] * predictors[i]
            scores[i], weights[i] = y[i] - mean, small / (1.0 + small) ** 2
        else:
            mean = math.exp(predictors[i])
            spread = 1.0 + dispersion * mean
            term = (y[i] + 1.0 / dispersion) * math.log1p(dispersion * mean) - y[i] * predictors[i]
            scores[i] = (y[i] - mean) / spread
            weights[i] = (1.0 + dispersion * y[i]) * mean / spread / spread
        larger = total + term
        lost += (total - larger) + term if abs(total) >= abs(term) else (term - larger) + total
        total = larger
    return total + lost


@njit
def _fill(design, scores, weights, gradient, hessian, weighted):
    for j in range(design.shape[0]):
        gradient[j] = _dot(scores, design[j])
        for i in range(len(weights)):
            weighted[i] = weights[i] * design[j, i]
        for k in range(j + 1):
            hessian[j, k] = _dot(weighted, design[k])


@njit("float64(int64, float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1])", cache=True, nogil=True)
def fit_means(family, design, y, offset, coefficients, scores):
    """Return the smallest loss: minus the log likelihood, without terms free of coefficients and for dispersion 1.

    `design`, (columns, n), must contain a row of ones; its other rows should be orthogonal with variance 1. `y`, (n,),
    are counts, logarithms of positive numbers, or shares. `coefficients` are the start and are overwritten. `scores`,
    (n,), is filled with the derivatives of the log likelihood by the linear predictor.
    """
    n_columns, n = design.shape
    predictors, weights, weighted = np.empty(n), np.empty(n), np.empty(n)
    gradient, step, trial = np.empty(n_columns), np.empty(n_columns), np.empty(n_columns)
    hessian = np.empty((n_columns, n_columns))
    loss = _loss(family, y, offset, design, coefficients, 1.0, predictors, scores, weights)
    for _ in range(MAX_STEPS):
        _fill(design, scores, weights, gradient, hessian, weighted)
        for j in range(n_columns):
            step[j] = gradient[j]
        _solve(hessian, step)
        if _dot(gradient, step) <= CONVERGED:
            break
        size, reached = 1.0, loss
        for _ in range(MAX_HALVINGS):
            for j in range(n_columns):
                trial[j] = coefficients[j] + size * step[j]
            reached = _loss(family, y, offset, design, trial, 1.0, predictors, scores, weights)
            if reached <= loss + 1e-13 * abs(loss):  # a larger increase is not a rounding error
                break
            size *= 0.5
        for j in range(n_columns):
            coefficients[j] = trial[j]
        loss = reached
    return loss


@njit
def _own_terms(y, above, dispersion, derivatives):
    """Return the sum of log(1 + a k) over k below each count; fill its first and second derivatives by log a.

    `above` holds how many counts exceed 0, 1, 2 ...; only those up to `ONE_BY_ONE`.
    """
    total, first, second = 0.0, 0.0, 0.0
    for k in range(len(above)):
        share = dispersion * k / (1.0 + dispersion * k)
        total += above[k] * math.log1p(dispersion * k)
        first += above[k] * share
        second += above[k] * share * (1.0 - share)
    low = float(ONE_BY_ONE)
    for i in range(len(y)):
        if y[i] > low:
            high, a = y[i], dispersion
            log_low, log_high = math.log1p(a * low), math.log1p(a * high)
            slope_low, slope_high = a / (1.0 + a * low), a / (1.0 + a * high)
            total += ((1.0 + a * high) * log_high - (1.0 + a * low) * log_low) / a - (high - low)
            total += (log_low - log_high) / 2.0 + (slope_high - slope_low) / 12.0
            first += (high - low) - (log_high - log_low) / a + (slope_low * low - slope_high * high) / 2.0
            first += (slope_high / (1.0 + a * high) - slope_low / (1.0 + a * low)) / 12.0
            second += (log_high - log_low + 1.0 / (1.0 + a * high) - 1.0 / (1.0 + a * low)) / a
    derivatives[0], derivatives[1] = first, second
    return total


@njit
def _dispersion_step(y, design, weighted, hessian, gradient, derivatives, dispersion, predictors, step):
    """Fill the step of all coefficients and, last, of log a; return twice the gain to second order.

    `hessian` and `gradient` are of the coefficients. Where the likelihood is not concave in log a, that goes one up or
    down.
    """
    n_columns, n = design.shape
    slope, curvature = derivatives[0], -derivatives[1]
    for i in range(n):
        mean = math.exp(predictors[i])
        spread = 1.0 + dispersion * mean
        inner, outer = math.log1p(dispersion * mean) / dispersion, mean / spread
        # (y + 1 / a) log(1 + a m) by log a: d is its first derivative, and dd the second.
        d = dispersion * (y[i] + 1.0 / dispersion) * outer - inner
        dd = dispersion * y[i] * outer / spread + inner - outer - dispersion * outer * outer
        slope -= d
        curvature += dd
        weighted[i] = dispersion * (y[i] - mean) * mean / spread / spread  # minus the score by log a
    mixed, by_coefficients = np.empty(n_columns), np.empty(n_columns)
    for j in range(n_columns):
        mixed[j] = by_coefficients[j] = _dot(weighted, design[j])
        step[j] = gradient[j]
    factor = hessian.copy()
    _solve(factor, step[:n_columns])
    _solve(hessian, by_coefficients)
    gain = _dot(gradient, step[:n_columns])
    rest, left = curvature - _dot(mixed, by_coefficients), slope - _dot(mixed, step[:n_columns])
    along = left / rest if rest > 0.0 else math.copysign(1.0, left)
    along = min(max(along, -MOST), MOST)
    for j in range(n_columns):
        step[j] -= along * by_coefficients[j]
    step[n_columns] = along
    return gain + abs(along * left)


@njit(
    "float64(float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])",
    cache=True,
    nogil=True,
)
def fit_negative_binomial(design, y, offset, above, coefficients, scores):
    """Return the smallest loss of counts, as `fit_means`, with their dispersion; `coefficients` end with log a.

    `above[k]`, (min(largest, `ONE_BY_ONE`),), is the number of counts above k.
    """
    n_columns, n = design.shape
    predictors, weights, weighted = np.empty(n), np.empty(n), np.empty(n)
    gradient, step, trial = np.empty(n_columns), np.empty(n_columns + 1), np.empty(n_columns + 1)
    hessian, derivatives = np.empty((n_columns, n_columns)), np.empty(2)
    a = math.exp(coefficients[n_columns])
    loss = _loss(NEGATIVE_BINOMIAL, y, offset, design, coefficients, a, predictors, scores, weights)
    loss -= _own_terms(y, above, a, derivatives)
    for _ in range(MAX_STEPS):
        _fill(design, scores, weights, gradient, hessian, weighted)
        if _dispersion_step(y, design, weighted, hessian, gradient, derivatives, a, predictors, step) <= CONVERGED:
            break
        size, reached = 1.0, loss
        for _ in range(MAX_HALVINGS):
            for j in range(n_columns + 1):
                trial[j] = coefficients[j] + size * step[j]
            trial[n_columns] = min(max(trial[n_columns], LEAST_LOG), MOST_LOG)
            a = math.exp(trial[n_columns])
            reached = _loss(NEGATIVE_BINOMIAL, y, offset, design, trial, a, predictors, scores, weights)
            reached -= _own_terms(y, above, a, derivatives)
            if reached <= loss + 1e-13 * abs(loss):  # a larger increase is not a rounding error
                break
            size *= 0.5
        for j in range(n_columns + 1):
            coefficients[j] = trial[j]
        loss = reached
    return loss
