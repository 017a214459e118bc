"""Cox regression by Newton's method, with Efron's treatment of ties and with late entry.

Event times are counted as 0 .. m - 1 in ascending order, and row i is at risk at the event times `first[i]` to
`last[i]`. Sums over a risk set are relative to its row with the largest linear predictor, in weight and in all columns:
where the maximum is at infinity, that row has all the weight, and nothing overflows, vanishes or cancels. Without late
entry one pass adds rows as risk sets grow. With late entry a row belongs to an interval of event times, a union of few
nodes of a binary tree over them: adding rows to nodes, rather than subtracting those that have not entered, keeps all
digits. References: Efron (1977), JASA 72,
557-565, doi:10.1080/01621459.1977.10480613; Therneau, Grambsch (2000), doi:10.1007/978-1-4757-3294-8.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .logistic import _dot, _solve

#: The iteration ends if the next step would raise the log likelihood by at most half of this.
CONVERGED = 1e-12
MAX_STEPS = 100
MAX_HALVINGS = 40
#: Largest linear predictor whose risk sets are summed as they are; and most of products before their logarithm.
MOST, LARGEST = 30.0, 1e250


@njit
def _refer(design, top, scale, at, tops, scales, sums, moments, squares):
    """Make the sums `at` relative to row `top` with a larger linear predictor `scale`."""
    n_columns = design.shape[0]
    factor = math.exp(scales[at] - scale)
    if tops[at] >= 0:
        for j in range(n_columns):
            away = design[j, tops[at]] - design[j, top]
            for k in range(j + 1):
                also = design[k, tops[at]] - design[k, top]
                squares[at, j, k] += away * moments[at, k] + also * moments[at, j] + away * also * sums[at]
                squares[at, j, k] *= factor
        for j in range(n_columns):
            moments[at, j] += (design[j, tops[at]] - design[j, top]) * sums[at]
            moments[at, j] *= factor
        sums[at] *= factor
    tops[at], scales[at] = top, scale


@njit
def _add(design, i, predictor, at, tops, scales, sums, moments, squares):
    """Add row i to the sums `at`."""
    if predictor > scales[at]:
        _refer(design, i, predictor, at, tops, scales, sums, moments, squares)
        sums[at] += 1.0
    else:
        weight = math.exp(predictor - scales[at])
        sums[at] += weight
        for j in range(design.shape[0]):
            part = weight * (design[j, i] - design[j, tops[at]])
            moments[at, j] += part
            for k in range(j + 1):
                squares[at, j, k] += part * (design[k, i] - design[k, tops[at]])


@njit
def _join(design, other, at, tops, scales, sums, moments, squares):
    """Add the sums `other` to the sums `at`."""
    if scales[other] > scales[at]:
        _refer(design, tops[other], scales[other], at, tops, scales, sums, moments, squares)
    factor = math.exp(scales[other] - scales[at])
    for j in range(design.shape[0]):
        away = design[j, tops[other]] - design[j, tops[at]]
        for k in range(j + 1):
            also = design[k, tops[other]] - design[k, tops[at]]
            part = squares[other, j, k] + away * moments[other, k] + also * moments[other, j]
            squares[at, j, k] += factor * (part + away * also * sums[other])
        moments[at, j] += factor * (moments[other, j] + away * sums[other])
    sums[at] += factor * sums[other]


@njit
def _gather(design, first, last, predictors, tops, scales, sums, moments, squares):
    """Fill the sums of risk sets with late entry, those of event time k at m + k, by way of the tree."""
    m = len(sums) // 2
    for i in range(len(last)):
        low, high = first[i] + m, last[i] + 1 + m
        while low < high:
            if low & 1:
                _add(design, i, predictors[i], low, tops, scales, sums, moments, squares)
                low += 1
            if high & 1:
                high -= 1
                _add(design, i, predictors[i], high, tops, scales, sums, moments, squares)
            low >>= 1
            high >>= 1
    for node in range(2, 2 * m):  # a parent, which is complete by now, is part of both children
        if tops[node >> 1] >= 0:
            _join(design, node >> 1, node, tops, scales, sums, moments, squares)


@njit
def _sums(design, first, last, predictors):
    """Return the sums of risk sets: with late entry of all event times, else empty ones to which rows are added."""
    n_columns, is_late = design.shape[0], first.max() > 0
    n_sums = 2 * (last[0] + 1) if is_late else 1
    tops, scales, sums = np.full(n_sums, -1), np.full(n_sums, -np.inf), np.zeros(n_sums)
    moments, squares = np.zeros((n_sums, n_columns)), np.zeros((n_sums, n_columns, n_columns))
    if is_late:
        _gather(design, first, last, predictors, tops, scales, sums, moments, squares)
    return tops, scales, sums, moments, squares


@njit
def _predict(design, coefficients, predictors):
    """Fill the linear predictors of rows."""
    predictors[:] = 0.0
    for j in range(len(coefficients)):
        for i in range(len(predictors)):
            predictors[i] += coefficients[j] * design[j, i]


@njit
def _plus(total, lost, term):
    """Return a sum and what rounding has taken from it, after one more term (Neumaier)."""
    larger = total + term
    lost += (total - larger) + term if abs(total) >= abs(term) else (term - larger) + total
    return larger, lost


@njit
def _take(
    design,
    start,
    stop,
    died,
    predictors,
    at,
    tops,
    scales,
    sums,
    moments,
    squares,
    gradient,
    hessian,
    of_dead,
    squares_of_dead,
):
    """Add one event time, whose rows are start .. stop - 1, to gradient and Hessian.

    Return how many died, their weight, and minus the logarithm of the likelihood, with what rounding took from it.
    """
    n_columns, deaths, dead, total, lost = design.shape[0], 0, 0.0, 0.0, 0.0
    for j in range(n_columns):
        of_dead[j] = 0.0
        for k in range(j + 1):
            squares_of_dead[j, k] = 0.0
    for i in range(start, stop):
        if died[i]:
            above = predictors[i] - scales[at]
            total, lost = _plus(total, lost, -above)
            weight = math.exp(above)
            deaths += 1
            dead += weight
            for j in range(n_columns):
                away = design[j, i] - design[j, tops[at]]
                gradient[j] += away
                of_dead[j] += weight * away
                for k in range(j + 1):
                    squares_of_dead[j, k] += weight * away * (design[k, i] - design[k, tops[at]])
    for tied in range(deaths):
        share = tied / deaths
        rest = sums[at] - share * dead
        total, lost = _plus(total, lost, math.log(rest))
        for j in range(n_columns):
            mean = (moments[at, j] - share * of_dead[j]) / rest
            gradient[j] -= mean
            for k in range(j + 1):
                hessian[j, k] += (squares[at, j, k] - share * squares_of_dead[j, k]) / rest
                hessian[j, k] -= mean * (moments[at, k] - share * of_dead[k]) / rest
    return deaths, dead, total, lost


@njit
def _log_likelihood(design, first, last, died, predictors, scale, sums, deaths, dead, gradient, hessian):
    """Fill gradient and Hessian, and of each event time what hazards need; return the partial log likelihood."""
    tops, scales, totals, moments, squares = _sums(design, first, last, predictors)
    m, is_late, of_dead, squares_of_dead = len(deaths), len(totals) > 1, np.empty_like(gradient), np.empty_like(hessian)
    gradient[:], hessian[:] = 0.0, 0.0
    total, lost, start = 0.0, 0.0, 0
    for i in range(len(last)):
        if last[i] < 0:
            break
        if not is_late:
            _add(design, i, predictors[i], 0, tops, scales, totals, moments, squares)
        if i + 1 == len(last) or last[i + 1] != last[i]:
            k = last[i]
            at = m + k if is_late else 0
            deaths[k], dead[k], term, beside = _take(
                design,
                start,
                i + 1,
                died,
                predictors,
                at,
                tops,
                scales,
                totals,
                moments,
                squares,
                gradient,
                hessian,
                of_dead,
                squares_of_dead,
            )
            scale[k], sums[k], start = scales[at], totals[at], i + 1
            total, lost = _plus(total, lost + beside, term)
    return -(total + lost)


@njit
def _fill_hazards(first, last, died, deaths, predictors, scale, sums, dead, hazards):
    """Fill the hazard that each row has passed; those who die at a time share it with the survivors (Efron)."""
    m = len(dead)
    steps, own_steps = np.zeros(m), np.zeros(m)
    for k in range(m):
        for tied in range(deaths[k]):
            share = tied / deaths[k]
            step = 1.0 / (sums[k] - share * dead[k])
            steps[k] += step
            own_steps[k] += (1.0 - share) * step
    if first.max() > 0:
        lows, totals = np.empty(2 * m), np.empty(2 * m)
        for node in range(2 * m - 1, 0, -1):
            if node >= m:
                lows[node], totals[node] = scale[node - m], steps[node - m]
            else:
                left, right = 2 * node, 2 * node + 1
                lows[node] = min(lows[left], lows[right])
                totals[node] = totals[left] * math.exp(lows[node] - lows[left])
                totals[node] += totals[right] * math.exp(lows[node] - lows[right])
        for i in range(len(last)):
            hazards[i] = 0.0
            low, high = first[i] + m, last[i] + m + (0 if died[i] else 1)
            while low < high:
                if low & 1:
                    hazards[i] += totals[low] * math.exp(predictors[i] - lows[low])
                    low += 1
                if high & 1:
                    high -= 1
                    hazards[i] += totals[high] * math.exp(predictors[i] - lows[high])
                low >>= 1
                high >>= 1
    else:
        before, passed, k = 0.0, 0.0, -1  # relative to exp(-scale[k])
        for i in range(len(last) - 1, -1, -1):
            while k < last[i]:
                k += 1
                before = passed * math.exp(scale[k] - scale[k - 1]) if k > 0 else 0.0
                passed = before + steps[k]
            hazards[i] = (before if died[i] else passed) * math.exp(predictors[i] - scale[k]) if k >= 0 else 0.0
    for i in range(len(last)):
        if died[i]:
            hazards[i] += own_steps[last[i]] * math.exp(predictors[i] - scale[last[i]])


@njit(
    "float64(float64[:, ::1], int64[::1], int64[::1], boolean[::1], float64[::1], float64[::1])", cache=True, nogil=True
)
def fit_cox(design, first, last, died, coefficients, hazards):
    """Return the largest partial log likelihood of rows that are at risk at event times first .. last, both (n,).

    Rows are sorted by falling `last`; it is -1, or below `first`, for those never at risk. Who `died` did so at `last`.
    `design`, (columns, n), has no row of ones; its rows should be orthogonal with variance 1. `coefficients` are the
    start and are overwritten. `hazards`, (n,), is filled with the cumulative hazard of each row.
    """
    n_columns, n = design.shape
    m = last[0] + 1
    predictors, trial, step = np.empty(n), np.empty(n_columns), np.empty(n_columns)
    scale, sums, deaths, dead = np.empty(m), np.empty(m), np.zeros(m, dtype=np.int64), np.empty(m)
    gradient, hessian = np.empty(n_columns), np.empty((n_columns, n_columns))
    _predict(design, coefficients, predictors)
    reached = _log_likelihood(design, first, last, died, predictors, scale, sums, deaths, dead, gradient, hessian)
    for _ in range(MAX_STEPS if n_columns else 0):
        for j in range(n_columns):
            step[j] = gradient[j]
        _solve(hessian, step)
        if _dot(gradient, step) <= CONVERGED:
            break
        best, size = reached, 1.0
        for _ in range(MAX_HALVINGS):
            for j in range(n_columns):
                trial[j] = coefficients[j] + size * step[j]
            _predict(design, trial, predictors)
            reached = _log_likelihood(
                design, first, last, died, predictors, scale, sums, deaths, dead, gradient, hessian
            )
            if reached >= best - 1e-13 * abs(best):  # a larger decrease is not a rounding error
                break
            size *= 0.5
        for j in range(n_columns):
            coefficients[j] = trial[j]
    _fill_hazards(first, last, died, deaths, predictors, scale, sums, dead, hazards)
    return reached


@njit(
    "void(float64[:, ::1], int64[::1], int64[::1], boolean[::1], float64[::1], float64[::1], float64[::1], "
    "float64[:, :, ::1])",
    cache=True,
    nogil=True,
)
def slopes_in_time(design, first, last, died, coefficients, times, score, information):
    """Add the score, (columns,), of slopes times `times`, (m,), and sums of the information over event times.

    The lower halves of `information`, (3, columns, columns), take those with factors of 1, `times` and its square.
    """
    n_columns, n = design.shape
    gradient, hessian, predictors, start = np.empty(n_columns), np.empty((n_columns, n_columns)), np.empty(n), 0
    of_dead, squares_of_dead = np.empty(n_columns), np.empty((n_columns, n_columns))
    _predict(design, coefficients, predictors)
    tops, scales, totals, moments, squares = _sums(design, first, last, predictors)
    is_late = len(totals) > 1
    for i in range(n):
        if last[i] < 0:
            break
        if not is_late:
            _add(design, i, predictors[i], 0, tops, scales, totals, moments, squares)
        if i + 1 < n and last[i + 1] == last[i]:
            continue
        k = last[i]
        gradient[:], hessian[:] = 0.0, 0.0
        _take(
            design,
            start,
            i + 1,
            died,
            predictors,
            len(tops) // 2 + k if is_late else 0,
            tops,
            scales,
            totals,
            moments,
            squares,
            gradient,
            hessian,
            of_dead,
            squares_of_dead,
        )
        start = i + 1
        for j in range(n_columns):
            score[j] += times[k] * gradient[j]
            for other in range(j + 1):
                information[0, j, other] += hessian[j, other]
                information[1, j, other] += times[k] * hessian[j, other]
                information[2, j, other] += times[k] * times[k] * hessian[j, other]


@njit
def _fit_one(x, last, died, largest):
    """Return the largest partial log likelihood of one column without late entry; NaN where `fit_cox` is needed.

    Risk sets are summed as they are: linear predictors are at most `MOST`. `largest` is that of x in absolute value.
    """
    n, slope, before = len(x), 0.0, -np.inf
    for _ in range(MAX_STEPS):
        if abs(slope) * largest > MOST:
            return np.nan
        total, first, second = 0.0, 0.0, 0.0
        dead, first_dead, second_dead, deaths = 0.0, 0.0, 0.0, 0
        reached, gradient, curvature, product = 0.0, 0.0, 0.0, 1.0
        for i in range(n):
            if last[i] < 0:
                break
            weight = math.exp(slope * x[i])
            moment = weight * x[i]
            total += weight
            first += moment
            second += moment * x[i]
            if died[i]:
                deaths += 1
                dead += weight
                first_dead += moment
                second_dead += moment * x[i]
                gradient += x[i]
                reached += slope * x[i]
            if i + 1 < n and last[i + 1] == last[i]:
                continue
            for tied in range(deaths):
                share = tied / deaths
                rest = total - share * dead
                mean = (first - share * first_dead) / rest
                gradient -= mean
                curvature += (second - share * second_dead) / rest - mean * mean
                product *= rest
                if not 1.0 / LARGEST < product < LARGEST:
                    reached -= math.log(product)
                    product = 1.0
            dead, first_dead, second_dead, deaths = 0.0, 0.0, 0.0, 0
        reached -= math.log(product)
        if not (curvature > 0.0 and reached >= before - 1e-13 * abs(before)):
            return np.nan
        if gradient * gradient / curvature <= CONVERGED:
            return reached
        before = reached
        slope += gradient / curvature
    return np.nan


@njit(
    "void(float64[:, ::1], int64[::1], int64[::1], boolean[::1], float64[::1], float64[:, ::1], float64[::1])",
    cache=True,
    nogil=True,
)
def fit_each(design, first, last, died, coefficients, added, reached):
    """Fill the log likelihood of `fit_cox` with each row of `added`, (m, n), by itself beside `design`, (m,).

    `coefficients` are those of `design` by itself. The rows of `added` have mean 0 and variance 1.
    """
    k, n = design.shape
    is_plain, larger, start, hazards = k == 0 and first.max() == 0, np.empty((k + 1, n)), np.empty(k + 1), np.empty(n)
    larger[:k] = design
    for at in range(len(added)):
        reached[at] = np.nan
        if is_plain:
            reached[at] = _fit_one(added[at], last, died, np.abs(added[at]).max())
        if np.isnan(reached[at]):
            larger[k], start[:k], start[k] = added[at], coefficients, 0.0
            reached[at] = fit_cox(larger, first, last, died, start, hazards)
