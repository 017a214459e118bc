"""Dependence by nearest neighbours, for columns as they are and permuted, and local permutations."""

from __future__ import annotations

import numpy as np
from numba import njit

from .permutation import _mixed, _shuffle

#: Permutations computed side by side, and neighbours between two looks at whether all have theirs.
LANES, STEP = 64, 8


@njit
def _distances(x, is_label, far, i, j, least, lanes, found):
    """Write the largest distance of two rows in the columns of X, (p, n, lanes), or `least`, for each lane."""
    for b in range(lanes):
        found[b] = least
    for c in range(len(x)):
        one, other = x[c, i], x[c, j]
        if is_label[c]:
            for b in range(lanes):
                found[b] = max(found[b], far if one[b] != other[b] else np.float32(0.0))
        else:
            for b in range(lanes):
                found[b] = max(found[b], abs(one[b] - other[b]))


@njit
def _up_to(ordered, most):
    """Return how many of ascending numbers are at most this one."""
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] <= most:
            low = middle + 1
        else:
            high = middle
    return low


@njit(
    "void(float32[:, ::1], int32[:, ::1], float32[:, ::1], int32[:, ::1], float32[:, ::1], boolean[::1], float32[::1], "
    "int32[:, ::1], int64, int64, float32, float64[::1], float64[::1])",
    cache=True,
    nogil=True,
)
def add_information(of_yz, by_yz, of_z, by_z, x, is_label, ordered, moved, first, k, far, digamma, totals):
    """Add to `totals`, (b,), each permutation's sum over some rows of psi(k) - psi(n_xz) - psi(n_yz) + psi(n_z).

    The rows, r of them, are `first`, `first` + 1, ... `of_yz`, (r, n), are their ascending distances to all rows in Y
    and Z, and `by_yz` these rows; `of_z` and `by_z` the same in Z. X, (p, n), is permuted: row i has the values of row
    moved[b, i]. n_xz is the number of rows within the distance of the k-th nearest row in all columns; for equal rows
    k is their number. No row is its own neighbour. Distances are whole numbers, exact below 2^24. `ordered`, (n,) or
    none, are the ascending values of a number X where Z is nothing, so that n_xz does not ask all rows.
    """
    n = of_yz.shape[1]
    permuted, distances = np.empty((len(x), n, LANES), np.float32), np.empty(LANES, np.float32)
    nearest, n_same = np.empty((k, LANES), np.float32), np.empty(LANES, np.float32)
    n_xz, n_yz, n_z = np.empty(LANES, np.float32), np.empty(LANES, np.float32), np.empty(LANES, np.float32)
    zero, step = np.float32(0.0), np.float32(1.0)
    for begin in range(0, len(moved), LANES):
        lanes = min(LANES, len(moved) - begin)
        for c in range(len(x)):
            for i in range(n):
                for b in range(lanes):
                    permuted[c, i, b] = x[c, moved[begin + b, i]]
        for r in range(len(of_yz)):
            i = first + r
            nearest[:], n_same[:], n_xz[:], n_yz[:], n_z[:] = np.float32(np.inf), zero, zero, zero, zero
            last = nearest[k - 1]
            for t in range(n):
                if t % STEP == 0 and of_yz[r, t] > 0 and of_yz[r, t] >= last[:lanes].max():
                    break
                j = by_yz[r, t]
                if j == i:
                    continue
                _distances(permuted, is_label, far, i, j, of_yz[r, t], lanes, distances)
                if of_yz[r, t] == 0:
                    for b in range(lanes):
                        n_same[b] += step if distances[b] == zero else zero
                for place in range(k):
                    near = nearest[place]
                    for b in range(lanes):
                        low = min(near[b], distances[b])
                        distances[b] = max(near[b], distances[b])
                        near[b] = low
            most = last[:lanes].max()
            for t in range(n):
                if of_yz[r, t] > most:
                    break
                for b in range(lanes):
                    n_yz[b] += step if of_yz[r, t] <= last[b] else zero
            for b in range(lanes if len(ordered) else 0):
                value, n_z[b] = permuted[0, i, b], n
                n_xz[b] = _up_to(ordered, value + last[b]) - _up_to(ordered, value - last[b] - np.float32(0.5))
            for t in range(0 if len(ordered) else n):
                if of_z[r, t] > most:
                    break
                _distances(permuted, is_label, far, i, by_z[r, t], of_z[r, t], lanes, distances)
                for b in range(lanes):
                    n_z[b] += step if of_z[r, t] <= last[b] else zero
                    n_xz[b] += step if distances[b] <= last[b] else zero
            for b in range(lanes):
                total = digamma[int(n_same[b]) if last[b] == zero else k] - digamma[int(n_xz[b]) - 1]
                totals[begin + b] += total + digamma[int(n_z[b]) - 1] - digamma[int(n_yz[b]) - 1]


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
    "void(float64[:, ::1], boolean[::1], int32[:, ::1], int64[::1], int32[:, ::1], float64[::1])",
    cache=True,
    nogil=True,
)
def agreements(y, is_label, near, groups, moved, totals):
    """Write each permutation's sum over rows of the mean agreement in Y, (n, p), with the neighbours `near`, (n, k).

    Rows in one of `groups`, (n,), which is not -1, are left to `add_agreements_of_equal`. Y is permuted: row i has the
    values of row moved[b, i]. Two rows that have the values of the same one are left out: they would agree in any case,
    and without a permutation there are none.
    """
    single = np.empty(len(y))
    for b in range(len(moved)):
        rows, total = moved[b], 0.0
        if y.shape[1] == 1:  # which is faster in one array
            for i in range(len(y)):
                single[i] = y[rows[i], 0]
        for i in range(len(y)):
            if groups[i] >= 0:
                continue
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


@njit("void(float64[::1], int64[::1], int64[::1], int64[::1], int32[:, ::1], float64[::1])", cache=True, nogil=True)
def add_agreements_of_equal(values, labels, order, groups, moved, totals):
    """Add to each permutation's sum the mean agreement of each row in a group with all others in it, as `agreements`.

    Rows agree in Y by the smaller of two `values`, (n,), if they have the same one of `labels`, (n,), and else not at
    all. `order`, (n,), are the rows in the order of values.
    """
    n, n_labels, n_groups = len(values), labels.max() + 1, groups.max() + 1
    place, sizes = np.empty(n, np.int64), np.zeros(n_groups, np.int64)
    place[order] = np.arange(n)
    for group in groups:
        if group >= 0:
            sizes[group] += 1
    sorted_rows, starts = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    counts, sums = np.empty(n_groups * n_labels, np.int64), np.empty(n_groups * n_labels)
    for b in range(len(moved)):
        rows, total = moved[b], 0.0
        starts[:], counts[:], sums[:] = 0, 0, 0.0
        for i in range(n):  # rows with the values of the same one come one after the other
            starts[place[rows[i]] + 1] += 1
            if groups[i] >= 0:
                counts[groups[i] * n_labels + labels[rows[i]]] += 1
        for at in range(n):
            starts[at + 1] += starts[at]
        for i in range(n):
            at = place[rows[i]]
            sorted_rows[starts[at]] = i
            starts[at] += 1
        first = 0
        for at in range(n):
            i = sorted_rows[at]
            if rows[i] != rows[sorted_rows[first]]:
                first = at
            if groups[i] < 0:
                continue
            n_same, other = 0, first
            while other < n and rows[sorted_rows[other]] == rows[i]:
                n_same += other != at and groups[sorted_rows[other]] == groups[i]
                other += 1
            value, key = values[rows[i]], groups[i] * n_labels + labels[rows[i]]
            counts[key] -= 1
            found = sums[key] + value * (counts[key] - n_same)
            sums[key] += value
            total += found / max(sizes[groups[i]] - 1 - n_same, 1)
        totals[b] += total


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
