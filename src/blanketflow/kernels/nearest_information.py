"""Dependence by nearest neighbours, for columns as they are and permuted, and local permutations."""

from __future__ import annotations

import numpy as np
from numba import njit

from .permutation import _mixed, _shuffle


@njit
def _distance(x, is_label, far, i, j):
    """Return the largest distance of two rows in some columns; `far` for different levels."""
    found = np.int32(0)
    for c in range(x.shape[1]):
        one = abs(x[i, c] - x[j, c])
        if is_label[c] and one:
            one = far
        if one > found:
            found = one
    return found


@njit
def _up_to(distances, most):
    """Return how many of ascending distances are at most this one."""
    low, high = 0, len(distances)
    while low < high:
        middle = (low + high) // 2
        if distances[middle] <= most:
            low = middle + 1
        else:
            high = middle
    return low


@njit(
    "void(int32[:, ::1], int32[:, ::1], int32[:, ::1], int32[:, ::1], int32[:, ::1], boolean[::1], int32[:, ::1], "
    "int64, int64, int32, float64[::1], float64[::1])",
    cache=True,
    nogil=True,
)
def add_information(of_yz, by_yz, of_z, by_z, x, is_label, moved, first, k, far, digamma, totals):
    """Add to `totals`, (b,), each permutation's sum over some rows of psi(k) - psi(n_xz) - psi(n_yz) + psi(n_z).

    The rows, r of them, are `first`, `first` + 1, ... `of_yz`, (r, n), are their ascending distances to all rows in Y
    and Z, and `by_yz` these rows; `of_z` and `by_z` the same in Z. X, (n, p), is permuted: row i has the values of row
    moved[b, i]. n_xz is the number of rows within the distance of the k-th nearest row in all columns; for equal rows
    k is their number. No row is its own neighbour.
    """
    nearest, single = np.empty(k, np.int32), np.empty(x.shape[0], np.int32)
    is_single = x.shape[1] == 1 and not is_label[0]
    for b in range(len(moved)):
        rows, total = moved[b], 0.0
        if is_single:  # which is faster in one array
            for i in range(len(single)):
                single[i] = x[rows[i], 0]
        for r in range(len(of_yz)):
            i, n_found, n_same = first + r, 0, 0
            for t in range(of_yz.shape[1]):
                if n_found == k and of_yz[r, t] >= nearest[k - 1] and of_yz[r, t]:
                    break
                j = by_yz[r, t]
                if j == i:
                    continue
                if is_single:
                    distance = max(of_yz[r, t], abs(single[i] - single[j]))
                else:
                    distance = max(of_yz[r, t], _distance(x, is_label, far, rows[i], rows[j]))
                n_same += distance == 0
                if n_found < k or distance < nearest[k - 1]:
                    place = min(n_found, k - 1)
                    while place > 0 and nearest[place - 1] > distance:
                        nearest[place] = nearest[place - 1]
                        place -= 1
                    nearest[place] = distance
                    n_found = min(n_found + 1, k)
            most, n_xz = nearest[k - 1], 0
            n_z = _up_to(of_z[r], most)
            if is_single:
                for t in range(n_z):
                    n_xz += abs(single[i] - single[by_z[r, t]]) <= most
            else:
                for t in range(n_z):
                    n_xz += _distance(x, is_label, far, rows[i], rows[by_z[r, t]]) <= most
            total += digamma[n_same if most == 0 else k] - digamma[n_xz - 1]
            total += digamma[n_z - 1] - digamma[_up_to(of_yz[r], most) - 1]
        totals[b] += total


@njit
def _agreement(y, is_label, i, j):
    """Return the product over columns of the smaller value of two rows, or of whether labels are equal."""
    found = 1.0
    for c in range(y.shape[1]):
        if is_label[c]:
            if y[i, c] != y[j, c]:
                return 0.0
        else:
            found *= min(y[i, c], y[j, c])
    return found


@njit(
    "void(float64[:, ::1], boolean[::1], int32[:, ::1], int32[:, ::1], float64[::1])",
    cache=True,
    nogil=True,
)
def agreements(y, is_label, near, moved, totals):
    """Write each permutation's sum over rows of the mean agreement in Y, (n, p), with the neighbours `near`, (n, k).

    Y is permuted: row i has the values of row moved[b, i]. Two rows that have the values of the same one are left out:
    they would agree in any case, and without a permutation there are none.
    """
    single = np.empty(len(y))
    for b in range(len(moved)):
        rows, total = moved[b], 0.0
        if y.shape[1] == 1:  # which is faster in one array
            for i in range(len(y)):
                single[i] = y[rows[i], 0]
        for i in range(len(y)):
            found, n_found = 0.0, 0
            for j in near[i]:
                if rows[j] == rows[i]:
                    continue
                n_found += 1
                if y.shape[1] > 1:
                    found += _agreement(y, is_label, rows[i], rows[j])
                elif is_label[0]:
                    found += single[i] == single[j]
                else:
                    found += min(single[i], single[j])
            total += found / max(n_found, 1)
        totals[b] = total


@njit("float64(float64[:, ::1], boolean[::1])", cache=True, nogil=True)
def agreement_of_all(y, is_label):
    """Return the sum over rows of the mean agreement in Y, (n, p), with all rows, the row itself included."""
    total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            total += _agreement(y, is_label, i, j)
    return total / len(y)


@njit("void(int32[:, ::1], uint64[::1], int32[:, ::1])", cache=True, nogil=True)
def local_permutations(near, seeds, moved):
    """Write for each seed from which row each row takes its values, (b, n): one of its neighbours, `near`, (n, k).

    Rows choose in random order, each a random neighbour that no row has chosen; if all are, one that was.
    """
    n, k = near.shape
    order, choices, is_used = np.arange(n), np.empty(k, np.int32), np.empty(n, np.bool_)
    for b in range(len(seeds)):
        state = seeds[b]
        state, _ = _mixed(state)
        state = _shuffle(order, 0, n, state)
        is_used[:] = False
        for i in order:
            choices[:] = near[i]
            state = _shuffle(choices, 0, k, state)
            chosen = choices[k - 1]
            for one in choices:
                if not is_used[one]:
                    chosen = one
                    break
            is_used[chosen] = True
            moved[b, i] = chosen
