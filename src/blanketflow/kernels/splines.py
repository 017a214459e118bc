"""Shares of functions of columns that others explain, from their products; and the best cut of a column."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

#: The largest share distinguishable from 1.
MOST_SHARE = 1.0 - 2e-15
#: Floating-point reordering that lets loops vectorise.
VECTORS = {"reassoc", "contract", "nsz"}


@njit("void(float64[:, ::1], float64, float64[:, ::1])", cache=True, nogil=True)
def turn(products, vanishing, turned):
    """Fill combinations, (b, b), that orthonormalise functions with these products, each of those up to its own.

    They are 0 for a function of which those before it leave at most `vanishing`. The products are overwritten.
    """
    b = len(products)
    for j in range(b):
        turned[j, j] = 1.0
    for j in range(b):
        pivot = products[j, j]
        if not pivot > vanishing:
            for c in range(j + 1):
                turned[j, c] = 0.0
            continue
        for a in range(j + 1, b):
            scale = products[a, j] / pivot
            for c in range(j + 1):
                turned[a, c] -= scale * turned[j, c]
            for c in range(j + 1, b):
                products[a, c] -= scale * products[j, c]
        for c in range(j + 1):
            turned[j, c] /= math.sqrt(pivot)


@njit(fastmath=VECTORS)
def _product(one, two):
    total = 0.0
    for i in range(len(one)):
        total += one[i] * two[i]
    return total


@njit(
    "void(float64[:, ::1], boolean[::1], int64[::1], int64[::1], float64, float64, float64[:, ::1], float64[:, ::1], "
    "float64[:, ::1])",
    cache=True,
    nogil=True,
)
def nested_shares(products, is_kept, starts, sizes, rest, vanishing, shares, f, dof):
    """Fill shares, F and degrees of freedom, (3, m): of the first functions, the others of X, and the others of Y.

    `products`, (D, rank + b), are those of all functions with orthonormal functions of the given columns and of Y's
    residuals; `is_kept`, (b,), says which functions of Y exist. The functions of each X are `sizes` (at least 1) from
    `starts` on, (m,). `rest` is the number of rows minus the rank of the given columns and the constant. A function of
    which others leave at most the share `vanishing` is dropped.
    """
    b, most = len(is_kept), sizes.max()
    rank = products.shape[1] - b
    own, told = np.empty((most, most)), np.empty(most)
    for i in range(len(starts)):
        start, a, first = starts[i], sizes[i], 0.0
        scale, begin = 1.0, 1.0 - _product(products[start, :rank], products[start, :rank])
        if begin > vanishing:
            if is_kept[0]:
                first = min(products[start, rank] ** 2 / begin, MOST_SHARE)
                shares[0, i], dof[0, i] = first, 1.0
            scale = 1.0 / (1.0 - first) if 1.0 - first > 1e-14 else 0.0
            for j in range(1, b):  # the others of Y tell of the first of X
                if is_kept[j]:
                    shares[2, i] += scale * products[start, rank + j] ** 2 / begin
                    dof[2, i] += 1.0
        if is_kept[0] and a > 1:
            for j in range(a):  # the others of X tell of the first of Y, by Gauss's method
                told[j] = products[start + j, rank]
                for k in range(j + 1):
                    own[j, k] = (1.0 if k == j else 0.0) - _product(
                        products[start + j, :rank], products[start + k, :rank]
                    )
            for j in range(a):
                pivot = own[j, j]
                if pivot > vanishing:
                    if j:
                        shares[1, i] += scale * told[j] ** 2 / pivot
                        dof[1, i] += 1.0
                    for k in range(j + 1, a):
                        of_j = own[k, j] / pivot
                        told[k] -= of_j * told[j]
                        for c in range(j + 1, k + 1):
                            own[k, c] -= of_j * own[c, j]
        for part in range(3):
            if dof[part, i] > 0.0:
                shares[part, i] = share = min(shares[part, i], MOST_SHARE)
                f[part, i] = share / (1.0 - share) * (rest - dof[part, i] - (part > 0)) / dof[part, i]


@njit("UniTuple(float64, 2)(float64[:, ::1], int64[::1], float64[::1], float64)", cache=True, nogil=True)
def best_cut(sides, order, left, least):
    """Return the largest squared sum of a side over the first rows in an order, over the cut's residual, and their
    number.

    `left`, (n,), are the residuals by number of rows; cuts with at most `least` are skipped.
    """
    best, rows = 0.0, 0.0
    for side in sides:
        total = 0.0
        for i in range(1, len(order)):
            total += side[order[i - 1]]
            if left[i] > least and total * total > best * left[i]:
                best, rows = total * total / left[i], float(i)
    return best, rows


@njit("void(float64[:, ::1], int64[::1], float64[::1])", cache=True, nogil=True)
def squares_of_sums(by_row, order, squares):
    """Fill the squared sums of functions, (n, q), over the first 0, 1, 2, ... rows in an order, summed over functions,
    (n,).
    """
    sums, total = np.zeros(by_row.shape[1]), 0.0
    for i in range(len(order)):
        squares[i] = total
        row, total = by_row[order[i]], 0.0
        for j in range(len(row)):
            sums[j] += row[j]
            total += sums[j] ** 2


@njit("boolean(float64[:, :], float64, float64[:, ::1])", cache=True, nogil=True)
def inverse_factor(products, least, inverse):
    """Fill the inverse Cholesky factor of products, (r, r); return False if a squared pivot is at most `least`."""
    r = len(products)
    factor = np.zeros((r, r))
    for i in range(r):
        for j in range(i + 1):
            value = products[i, j]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            if j < i:
                factor[i, j] = value * inverse[j, j]
            elif value > least:
                inverse[i, i] = 1.0 / math.sqrt(value)
            else:
                return False
    for i in range(r):
        for k in range(i):
            for j in range(k + 1):
                inverse[i, j] -= factor[i, k] * inverse[k, j]
        for j in range(i):
            inverse[i, j] *= inverse[i, i]
    return True


@njit(
    "void(float64[:, ::1], float64[:, ::1], float64[::1], float64, float64[:, ::1], boolean, float64[:, ::1])",
    cache=True,
    nogil=True,
    fastmath=VECTORS,
)
def variance_of_products(x, y, leverage, least, correlations, is_mean, variance):
    """Add to `variance`, (ab, ab), products of the products of x, (a, n), with y, (b, n), over each row's free share.

    If `is_mean`, the mean of that and of the same for each row's influence on the correlations r, (a, b): x y - r (x^2
    + y^2) / 2 for two columns. The free share, 1 - leverage, is at least `least`.
    """
    a, b, of_x, of_y = len(x), len(y), np.empty(len(x)), np.empty(len(y))
    products, changes = np.empty(a * b), np.zeros(a * b)
    for row in range(len(leverage)):
        weight = (0.5 if is_mean else 1.0) / max(1.0 - leverage[row], least)
        for i in range(a):
            for j in range(b):
                products[i * b + j] = x[i, row] * y[j, row]
        if is_mean:
            for i in range(a):
                of_x[i] = 0.0
                for j in range(b):
                    of_x[i] += correlations[i, j] * y[j, row]
            for j in range(b):
                of_y[j] = 0.0
                for i in range(a):
                    of_y[j] += correlations[i, j] * x[i, row]
            for i in range(a):
                for j in range(b):
                    changes[i * b + j] = products[i * b + j] - 0.5 * (x[i, row] * of_y[j] + of_x[i] * y[j, row])
        for i in range(a * b):
            for j in range(i + 1):
                variance[i, j] += weight * (products[i] * products[j] + changes[i] * changes[j])
    for i in range(a * b):
        for j in range(i):
            variance[j, i] = variance[i, j]


@njit(
    "Tuple((int64, float64))(int64[::1], int64, int64, float64[:, ::1], float64[:, ::1], int64, float64[:, ::1], "
    "int64, float64, int64, float64, float64)",
    cache=True,
    nogil=True,
)
def first_told(starts, at, stop, blocks, told, n_first, least, n, most, rank, rounding, vanishing):
    """Return the first group from `at` on with functions that predict a side, and the largest share of the sides after
    `n_first`.

    Returns `stop` if no group before it does. The functions of group g start at ``starts[g]``; `blocks`, (D, q), are
    their products within the group, and `told`, (m, D), those with sides of length 1. `least`, (G, q + 1), is the
    critical chi-square by group and rank. `n` rows, at most `most` functions, of which `rank` exist. Functions below
    `rounding` in squared length, or of which those before leave at most the share `vanishing`, are ignored.
    """
    m, q = len(told), blocks.shape[1]
    own, of_sides, shares = np.empty((q, q)), np.empty((m, q)), np.empty(m)
    for group in range(at, stop):
        start, size, found = starts[group], starts[group + 1] - starts[group], 0
        shares[:] = 0.0
        for j in range(size):
            square = blocks[start + j, j]
            scale = 1.0 / math.sqrt(square) if square > rounding else 0.0
            for k in range(j):
                own[j, k] = blocks[start + j, k] * scale * own[k, k]
            own[j, j] = scale  # for now
            for i in range(m):
                of_sides[i, j] = told[i, start + j] * scale
        for j in range(size):
            own[j, j] = 1.0 if own[j, j] > 0.0 else 0.0
        for j in range(size):
            pivot = own[j, j]
            if not pivot > vanishing:
                continue
            found += 1
            for i in range(m):
                shares[i] += of_sides[i, j] ** 2 / pivot
            for k in range(j + 1, size):
                of_j = own[k, j] / pivot
                for i in range(m):
                    of_sides[i, k] -= of_j * of_sides[i, j]
                for c in range(j + 1, k + 1):
                    own[k, c] -= of_j * own[c, j]
        rest = float(n - 1 - rank - found)
        if found == 0 or rank + found > most:
            continue
        for i in range(m):
            if shares[i] * rest >= least[group, found] * (1.0 - shares[i]):
                of_last = 0.0
                for other in range(n_first, m):
                    of_last = max(of_last, shares[other])
                return group, of_last
    return stop, 0.0


@njit("void(int64[::1], float64[:, ::1], float64[:, ::1])", cache=True, nogil=True)
def take_off(starts, shared, blocks):
    """Subtract from products of functions in groups, (D, q), what orthonormal ones explain: `shared`, (p, D)."""
    for group in range(len(starts) - 1):
        start = starts[group]
        for j in range(starts[group + 1] - start):
            for k in range(starts[group + 1] - start):
                for i in range(len(shared)):
                    blocks[start + j, k] -= shared[i, start + j] * shared[i, start + k]


@njit(
    "void(float64[:, ::1], float64[:, ::1], int64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], int64, "
    "float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, :, ::1], float64[:, :, ::1], UniTuple(float64, 4), "
    "UniTuple(int64, 2), UniTuple(float64, 2), float64[:, ::1], float64[::1], boolean[::1])",
    cache=True,
    nogil=True,
)
def add_cuts(
    values,
    by_row,
    orders,
    lefts,
    functions,
    starts,
    n_finer,
    blocks,
    least,
    of_functions,
    powers,
    of_powers,
    least_told,
    most,
    vanishing,
    leverages,
    shares,
    is_settled,
):
    """Add the best cuts to the given functions of each of many columns, while they tell of it, and mark those that
    need no other functions.

    `values`, (m, n), are residuals of length 1 on a basis, `by_row`, (n, r), and become those on the cuts too; of a
    squared length of 1, `shares` are left. Cuts are of rows in each of `orders`, (k, n), with residuals `lefts`, (k,
    n). `functions`, (D, n), from `starts` on, of which `n_finer` groups are asked before the cuts, have `blocks`, (D,
    q), `least` critical values, (G, q + 1), and products `of_functions` with the values, (m, D). `powers`, (m, 2, n) or
    none, have the products `of_powers`, (m, 2, 2), of their residuals. `least_told` are the critical values of a cut
    and of powers, what a cut must leave, and the share by which all may be missed; `most` are functions and cuts;
    `vanishing` is that of `first_told`, rounding first. `leverages`, (m, n), become those of the cuts.
    """
    (of_cut, of_power, least_cut, near), (most_functions, most_cuts), (rounding, vanishes) = least_told, most, vanishing
    n, rank, n_groups = values.shape[1], by_row.shape[1], len(starts) - 1
    left, sums, told_by = np.empty_like(lefts), np.empty(rank), np.empty(len(functions))
    added, n_added = np.empty((len(orders) * most_cuts, n)), 0
    own, of_own, own_least = blocks.copy(), of_functions[:1].copy(), (1.0 - near) * least
    for at in range(len(values)):
        value, is_clear = values[at], True
        own[:], of_own[0], left[:], n_added, share = blocks, of_functions[at], lefts, 0, 1.0
        group, _ = first_told(
            starts, 0, n_finer, own, of_own, 0, own_least, n, most_functions, rank, rounding, vanishes
        )
        if group < n_finer:
            continue
        for column in range(len(orders)):
            for _ in range(most_cuts):
                told, rows = best_cut(values[at : at + 1], orders[column], left[column], least_cut)
                is_near = told * (n - 2 - rank - n_added) < (1.0 + near) * of_cut * (1.0 - told)
                if is_near or rank + n_added + 1 > most_functions or told * n < (1.0 + near) * of_cut:
                    is_clear &= told * (n - 2 - rank - n_added) < (1.0 - near) * of_cut * (1.0 - told)
                    break
                new = added[n_added]
                new[:], sums[:] = -rows / n, 0.0
                for i in range(int(rows)):
                    new[orders[column, i]] += 1.0
                    for j in range(rank):
                        sums[j] += by_row[orders[column, i], j]
                for i in range(n):
                    new[i] -= _product(by_row[i], sums)
                for other in range(n_added):
                    new -= _product(new, added[other]) * added[other]
                new /= math.sqrt(_product(new, new))
                of_new = _product(value, new)
                value -= of_new * new
                square = _product(value, value)
                if square < 2.0 * rounding:
                    is_clear = False
                    break
                share *= square
                value /= math.sqrt(square)
                for i in range(starts[n_finer], len(functions)):
                    told_by[i] = _product(functions[i], new)
                    of_own[0, i] = (of_own[0, i] - of_new * told_by[i]) / math.sqrt(square)
                for i in range(n_finer, n_groups):
                    for j in range(starts[i + 1] - starts[i]):
                        for k in range(starts[i + 1] - starts[i]):
                            own[starts[i] + j, k] -= told_by[starts[i] + j] * told_by[starts[i] + k]
                for other in range(len(orders)):
                    total = 0.0
                    for i in range(n):
                        left[other, i] -= total * total
                        total += new[orders[other, i]]
                for i in range(n):
                    leverages[at, i] += new[i] * new[i]
                n_added += 1
        shares[at] = share
        group, _ = first_told(
            starts, n_finer, n_groups, own, of_own, 0, own_least, n, most_functions, rank + n_added, rounding, vanishes
        )
        if not is_clear or group < n_groups:
            continue
        if len(powers):
            square, cube, both = of_powers[at, 0, 0], of_powers[at, 1, 1], of_powers[at, 0, 1]
            two, three = _product(powers[at, 0], value), _product(powers[at, 1], value)
            for other in range(n_added):
                of_two, of_three = _product(powers[at, 0], added[other]), _product(powers[at, 1], added[other])
                square, cube, both = square - of_two**2, cube - of_three**2, both - of_two * of_three
            if not min(square, cube) > 2.0 * rounding:
                continue
            free = 1.0 - both * both / (square * cube)
            if not free > 2e-3:
                continue
            told = two * two / square + (three - both * two / square) ** 2 / (cube * free)
            if told * (n - 3 - rank - n_added) >= (1.0 - near) * of_power * (1.0 - told):
                continue
        is_settled[at] = True
