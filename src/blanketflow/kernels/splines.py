"""Shares that functions of columns explain of each other, from products; and the cut of a column that tells most."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit
def _explain(own, shared, left, vanishing, shares, dof, first_at, more_at):
    """Eliminate functions with products `own` with each other and `shared` with a response, of which is `left`.

    Their shares of what is left go to shares[first_at], of the first, and shares[more_at], of the others in what the
    first leaves; `dof` counts them. Both arrays are used up.
    """
    k, begin, more = len(shared), left, 0.0
    for j in range(k):
        pivot = own[j, j]
        if pivot > vanishing and begin > vanishing:
            gain = shared[j] * shared[j] / pivot
            if j == 0:
                shares[first_at] = gain / begin
                dof[first_at] = 1.0
                left = begin - gain
            else:
                more += gain
                dof[more_at] += 1.0
            for a in range(j + 1, k):
                scale = own[a, j] / pivot
                shared[a] -= scale * shared[j]
                for b in range(j + 1, k):
                    own[a, b] -= scale * own[j, b]
    if left > 1e-14 * begin:
        shares[more_at] = more / left


@njit(
    "void(float64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], int64[::1], float64, float64[:, ::1], "
    "float64[:, ::1])",
    cache=True,
    nogil=True,
)
def nested_shares(by_z, of_y, of_target, starts, sizes, vanishing, shares, dof):
    """Fill shares and degrees of freedom, (m, 3): of the first functions, the others of X, and the others of Y.

    Parameters
    ----------
    by_z : float64 ndarray of shape (rank, D)
        Products of orthonormal functions of the given columns with all functions.
    of_y : float64 ndarray of shape (b, D)
        Products of what those leave of the functions of Y with all functions.
    of_target : float64 ndarray of shape (b, b)
        The same with each other.
    starts, sizes : int64 ndarray of shape (m,)
        Where the functions of each X begin among all, and how many there are: at least one.
    vanishing : float64
        A function of which others leave at most this share is theirs.
    """
    rank, b = len(by_z), len(of_y)
    for i in range(len(starts)):
        start, a = starts[i], sizes[i]
        own = np.zeros((a, a))
        for j in range(a):
            own[j, j] = 1.0
        for z in range(rank):
            for j in range(a):
                value = by_z[z, start + j]
                for k in range(j + 1):
                    own[j, k] -= value * by_z[z, start + k]
        for j in range(a):
            for k in range(j):
                own[k, j] = own[j, k]
        shared, left = np.empty(b), own[0, 0]
        for j in range(b):
            shared[j] = of_y[j, start]
        _explain(of_target.copy(), shared, left, vanishing, shares[i], dof[i], 0, 2)
        more, left = np.empty(a), of_target[0, 0]
        for j in range(a):
            more[j] = of_y[0, start + j]
        _explain(own, more, left, vanishing, shares[i], dof[i], 0, 1)


@njit("UniTuple(float64, 2)(float64[:, ::1], int64[::1], float64[::1], float64)", cache=True, nogil=True)
def best_cut(sides, order, left, least):
    """Return the largest square of the sum of a side over the first rows in an order, over what is left of their cut.

    Then the number of these rows. `left`, (n,), is by this number; cuts of which at most `least` is left are not made.
    """
    best, rows = 0.0, 0.0
    for side in sides:
        total = 0.0
        for i in range(1, len(order)):
            total += side[order[i - 1]]
            if left[i] > least and total * total > best * left[i]:
                best, rows = total * total / left[i], float(i)
    return best, rows
