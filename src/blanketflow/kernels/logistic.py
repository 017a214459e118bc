"""Multinomial logistic regression by Newton's method, with the deviance to full precision for any data.

For separated classes the maximum is at infinity, but the deviance has a limit, and each Newton step divides the
distance to it by e. Steps are zero in singular directions of the Hessian.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: The iteration ends if the next step would lower the deviance by at most this.
CONVERGED = 1e-12
MAX_STEPS = 100
MAX_HALVINGS = 40
#: Pivots of the Hessian below this share of its diagonal are rounding errors.
SINGULAR = 1e-14


@njit(fastmath={"reassoc", "contract"})
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@njit
def _deviance(design, classes, coefficients, case_weights, probabilities):
    """Fill the probabilities of classes 1 .. k and return the deviance, summed with Neumaier's compensation."""
    n_others, n = probabilities.shape
    for a in range(n_others):
        probabilities[a] = 0.0
        for j in range(design.shape[0]):
            for i in range(n):
                probabilities[a, i] += coefficients[a, j] * design[j, i]
    total, compensation = 0.0, 0.0
    for i in range(n):
        best, highest = -1, 0.0  # class 0 has the linear predictor 0
        for a in range(n_others):
            if probabilities[a, i] > highest:
                best, highest = a, probabilities[a, i]
        own = probabilities[classes[i] - 1, i] if classes[i] > 0 else 0.0
        others = 0.0 if best < 0 else math.exp(-highest)  # relative to the most probable class
        for a in range(n_others):
            if a == best:
                probabilities[a, i] = 1.0
            else:
                probabilities[a, i] = math.exp(probabilities[a, i] - highest)
                others += probabilities[a, i]
        for a in range(n_others):
            probabilities[a, i] /= 1.0 + others
        term = case_weights[i] * (highest - own + math.log1p(others))
        larger = total + term
        compensation += (total - larger) + term if total >= term else (term - larger) + total
        total = larger
    return 2.0 * (total + compensation)


@njit
def _solve(matrix, vector):
    """Overwrite `vector` by the solution of a symmetric system (Cholesky, lower half), 0 in singular directions."""
    size = len(vector)
    for j in range(size):
        diagonal = matrix[j, j]
        pivot = diagonal - _dot(matrix[j, :j], matrix[j, :j])
        root = math.sqrt(pivot) if pivot > SINGULAR * diagonal else 0.0
        matrix[j, j] = root
        for i in range(j + 1, size):
            rest = matrix[i, j] - _dot(matrix[i, :j], matrix[j, :j])
            matrix[i, j] = rest / root if root > 0.0 else 0.0
    for j in range(size):
        rest = vector[j] - _dot(matrix[j, :j], vector[:j])
        vector[j] = rest / matrix[j, j] if matrix[j, j] > 0.0 else 0.0
    for j in range(size - 1, -1, -1):
        rest = vector[j]
        for i in range(j + 1, size):
            rest -= matrix[i, j] * vector[i]
        vector[j] = rest / matrix[j, j] if matrix[j, j] > 0.0 else 0.0


@njit
def _newton_step(design, classes, case_weights, probabilities, step, hessian, weights, weighted):
    """Fill the Newton step; return the decrease of the deviance to second order."""
    n_others, n = probabilities.shape
    n_columns = design.shape[0]
    gradient = np.empty(n_others * n_columns)
    for a in range(n_others):
        for i in range(n):
            weights[i] = case_weights[i] * ((1.0 if classes[i] == a + 1 else 0.0) - probabilities[a, i])
        for j in range(n_columns):
            gradient[a * n_columns + j] = _dot(weights, design[j])
        for b in range(a + 1):
            for i in range(n):
                weights[i] = case_weights[i] * (probabilities[a, i] * ((1.0 if a == b else 0.0) - probabilities[b, i]))
            for j in range(n_columns):
                for i in range(n):
                    weighted[i] = weights[i] * design[j, i]
                for k in range(j + 1):
                    value = _dot(weighted, design[k])
                    hessian[a * n_columns + j, b * n_columns + k] = value
                    hessian[a * n_columns + k, b * n_columns + j] = value
    for i in range(len(step)):
        step[i] = gradient[i]
    _solve(hessian, step)
    return _dot(gradient, step)


@njit("float64(float64[:, ::1], int64[::1], float64[:, ::1], float64[::1])", cache=True, nogil=True)
def fit_logistic(design, classes, coefficients, case_weights):
    """Return the smallest deviance, -2 log likelihood, of classes 0 .. r - 1, (n,), regressed on `design`, (columns,
    n).

    `design` must contain a row of ones; its other rows should be orthogonal with variance 1. `coefficients`, (r - 1,
    columns), against class 0, are the start and are overwritten. `case_weights`, (n,), multiply the terms of the rows.
    """
    n_others, n_columns = coefficients.shape
    n = design.shape[1]
    probabilities, trial = np.empty((n_others, n)), np.empty((n_others, n_columns))
    weights, weighted = np.empty(n), np.empty(n)
    step = np.empty(n_others * n_columns)
    hessian = np.empty((len(step), len(step)))
    deviance = _deviance(design, classes, coefficients, case_weights, probabilities)
    for _ in range(MAX_STEPS):
        if _newton_step(design, classes, case_weights, probabilities, step, hessian, weights, weighted) <= CONVERGED:
            break
        size = 1.0
        for _ in range(MAX_HALVINGS):
            for a in range(n_others):
                for j in range(n_columns):
                    trial[a, j] = coefficients[a, j] + size * step[a * n_columns + j]
            reached = _deviance(design, classes, trial, case_weights, probabilities)
            if reached <= deviance * (1.0 + 1e-13):  # a larger increase is not a rounding error
                break
            size *= 0.5
        for a in range(n_others):
            for j in range(n_columns):
                coefficients[a, j] = trial[a, j]
        deviance = reached
    return deviance
