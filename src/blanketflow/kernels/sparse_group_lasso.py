"""The sparse group lasso along a path of penalties, by block coordinate descent.

Proximal gradient steps with a step size per group, on a working set that grows by the groups farthest from their
optimum, with Anderson extrapolation every few sweeps. This is the method of skglm (Bertrand, Klopfenstein, Bannier,
Gidel, Massias 2022, arXiv:2204.07826), applied to products of columns, computed when a column first joins a working
set.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: Sweeps between two extrapolations.
DEPTH = 5
#: Sweeps over one working set, and working sets for one pair of penalties.
MOST_SWEEPS, MOST_SETS = 1_000, 100
#: A working set grows by at least this many groups, if that many are off their optimum.
FEWEST = 10
#: Initial capacity of cached products, in columns.
FIRST = 64
#: Added to the extrapolation's system, as a share of its trace: late sweeps move almost alike.
RIDGE = 1e-12
#: A working set is finished at this share of the tolerance, to allow for later rounding.
INSIDE = 0.3


@njit
def _fill_steps(rows, starts, steps):
    """Fill the inverse of each group's largest squared singular value."""
    for g in range(len(starts) - 1):
        block = rows[starts[g] : starts[g + 1]]
        if len(block) == 1:
            steps[g] = 1.0 / np.dot(block[0], block[0])
        else:
            inner = np.dot(block, block.T) if len(block) <= block.shape[1] else np.dot(block.T, block)
            steps[g] = 1.0 / np.linalg.eigvalsh(inner)[-1]


@njit
def _move(b, gradient, first, last, step, lambda1, lambda2, moved):
    """Fill the result of a proximal gradient step on a group; return the largest change of a coefficient."""
    squares = 0.0
    for j in range(first, last):
        ahead = b[j] + step * gradient[j]
        moved[j] = math.copysign(max(abs(ahead) - step * lambda2, 0.0), ahead)
        squares += moved[j] * moved[j]
    length = math.sqrt(squares)
    shrunk = 1.0 - step * lambda1 / length if length > step * lambda1 else 0.0
    farthest = 0.0
    for j in range(first, last):
        moved[j] *= shrunk
        farthest = max(farthest, abs(moved[j] - b[j]))
    return farthest


@njit
def _objective(b, gradient, at_zero, starts, lambda1, lambda2):
    """Return the objective minus its value at 0; gradients, at b and at 0, are negative, of the squares alone."""
    total = 0.0
    for g in range(len(starts) - 1):
        squares = 0.0
        for j in range(starts[g], starts[g + 1]):
            total += lambda2 * abs(b[j]) - 0.5 * b[j] * (gradient[j] + at_zero[j])
            squares += b[j] * b[j]
        total += lambda1 * math.sqrt(squares)
    return total


@njit
def _extrapolate(points, gradients, b, gradient):
    """Fill the combination of the last points whose moves nearly cancel; return False if they have not moved."""
    moves = points[1:] - points[:-1]
    system = np.dot(moves, moves.T)
    trace = np.trace(system)
    if not trace > 0.0:
        return False
    for i in range(DEPTH):
        system[i, i] += RIDGE * trace
    weights = np.linalg.solve(system, np.ones(DEPTH))
    weights /= weights.sum()
    b[:] = np.dot(weights, points[1:])
    gradient[:] = np.dot(weights, gradients[1:])
    return True


@njit
def _descend(products, at_zero, starts, steps, lambda1, lambda2, b, gradient, tolerance):
    """Sweep over a working set until no coefficient changes by more than the tolerance."""
    size, done = len(b), 0
    moved, ahead, ahead_gradient = np.empty(size), np.empty(size), np.empty(size)
    points, gradients = np.empty((DEPTH + 1, size)), np.empty((DEPTH + 1, size))
    points[0], gradients[0] = b, gradient
    for _ in range(MOST_SWEEPS):
        farthest = 0.0
        for g in range(len(starts) - 1):
            farthest = max(farthest, _move(b, gradient, starts[g], starts[g + 1], steps[g], lambda1, lambda2, moved))
            for j in range(starts[g], starts[g + 1]):
                change = moved[j] - b[j]
                if change != 0.0:
                    b[j] = moved[j]
                    for k in range(size):
                        gradient[k] -= change * products[j, k]
        if farthest <= tolerance:
            return
        done += 1
        points[done], gradients[done] = b, gradient
        if done == DEPTH:
            done = 0
            reached = _objective(b, gradient, at_zero, starts, lambda1, lambda2)
            if _extrapolate(points, gradients, ahead, ahead_gradient):
                extrapolated = _objective(ahead, ahead_gradient, at_zero, starts, lambda1, lambda2)
                if extrapolated < reached:
                    reached, b[:], gradient[:] = extrapolated, ahead, ahead_gradient
            while True:  # copies in two groups: many sweeps move by equal small steps
                ahead[:], ahead_gradient[:] = 2.0 * b - points[0], 2.0 * gradient - gradients[0]
                farther = _objective(ahead, ahead_gradient, at_zero, starts, lambda1, lambda2)
                if not farther < reached:
                    break
                reached, b[:], gradient[:] = farther, ahead, ahead_gradient
            points[0], gradients[0] = b, gradient


@njit
def _working_set(off, b, starts, tolerance):
    """Return the groups with coefficients, and equally many of the other groups farthest from their optimum."""
    chosen = np.zeros(len(off), dtype=np.bool_)
    for g in range(len(off)):
        chosen[g] = np.any(b[starts[g] : starts[g + 1]])
    room = max(FEWEST, chosen.sum())
    for g in np.argsort(-off):
        if room == 0 or off[g] <= tolerance:
            break
        if not chosen[g]:
            chosen[g] = True
            room -= 1
    return np.flatnonzero(chosen)


@njit
def _laid_out(groups, starts):
    """Return the concatenated columns of some groups, and where each group starts."""
    sizes = starts[groups + 1] - starts[groups]
    own_starts = np.zeros(len(groups) + 1, dtype=np.int64)
    own_starts[1:] = np.cumsum(sizes)
    columns = np.empty(own_starts[-1], dtype=np.int64)
    for c in range(len(groups)):
        for j in range(sizes[c]):
            columns[own_starts[c] + j] = starts[groups[c]] + j
    return columns, own_starts


@njit(
    "void(float64[:,::1], float64[::1], int64[::1], float64[::1], float64[::1], float64, float64[:,::1], float64[::1])",
    cache=True,
    nogil=True,
)
def descend_path(rows, y, starts, lambda1, lambda2, tolerance, coefficients, violations):
    """Minimise |y - X b|^2 / 2 + lambda1 sum over groups of |b_g| + lambda2 sum over columns of |b_j|, for each pair.

    `rows`, (p, n), is X transposed, without a row of zeros; `y` is (n,); `starts`, (groups + 1,), of the groups'
    columns. Each pair starts from the last one's coefficients, so descending order is fastest. Writes `coefficients`,
    (pairs, p), and `violations`, (pairs,): the largest move in a final proximal step, above `tolerance` if sweeps ran
    out.
    """
    p, n_groups = len(rows), len(starts) - 1
    at_zero = np.dot(rows, y)
    steps, off = np.empty(n_groups), np.empty(n_groups)
    _fill_steps(rows, starts, steps)
    b, gradient, moved = np.zeros(p), at_zero.copy(), np.empty(p)
    products, places, known = np.empty((min(FIRST, p), p)), np.full(p, -1, dtype=np.int64), 0
    for i in range(len(lambda1)):
        for sets in range(MOST_SETS + 1):
            for g in range(n_groups):
                off[g] = _move(b, gradient, starts[g], starts[g + 1], steps[g], lambda1[i], lambda2[i], moved)
            violations[i] = off.max()
            if violations[i] <= tolerance or sets == MOST_SETS:
                break
            groups = _working_set(off, b, starts, tolerance)
            columns, own_starts = _laid_out(groups, starts)
            for j in columns:
                if places[j] < 0:
                    if known == len(products):
                        larger = np.empty((min(2 * known, p), p))
                        larger[:known] = products
                        products = larger
                    products[known] = np.dot(rows, rows[j])
                    places[j], known = known, known + 1
            own = np.empty((len(columns), len(columns)))
            for j in range(len(columns)):
                own[j] = products[places[columns[j]]][columns]
            own_b, own_gradient = b[columns], gradient[columns]
            _descend(
                own, at_zero[columns], own_starts, steps[groups], lambda1[i], lambda2[i], own_b, own_gradient,
                INSIDE * tolerance,
            )  # fmt: skip
            b[columns] = own_b
            gradient[:] = at_zero
            for j in columns:
                if b[j] != 0.0:
                    gradient -= b[j] * products[places[j]]
        coefficients[i] = b
