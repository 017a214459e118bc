"""Rows of equal values of a column, and which of them stand for which in a tree to purity on that column."""

from __future__ import annotations

from numba import njit

from .cuts import between

#: Columns may be short and many: to pass arrays to helpers would take as long as their work.
inlined = njit(inline="always", error_model="numpy")


@inlined
def part_into_groups(values, rest, first, group_values):
    """Part the listed rows, and those not listed if there are any, into groups of equal values.

    Parameters
    ----------
    values : float64 array of shape (m,)
        Ascending.
    rest : int
        How many rows are not listed.
    first : int64 array
        Written: where each group's listed rows start, and the last one's end.
    group_values : float64 array
        Written.

    Returns
    -------
    tuple of int
        How many groups there are, and which of them holds the rest (-1: none).
    """
    n_groups, of_rest = 0, -1
    for i in range(len(values)):
        if rest > 0 and of_rest < 0 and values[i] > 0.0:
            first[n_groups], group_values[n_groups], of_rest = i, 0.0, n_groups
            n_groups += 1
        if i == 0 or values[i] != values[i - 1]:
            first[n_groups], group_values[n_groups] = i, values[i]
            n_groups += 1
    if rest > 0 and of_rest < 0:
        first[n_groups], group_values[n_groups], of_rest = len(values), 0.0, n_groups
        n_groups += 1
    first[n_groups] = len(values)
    return n_groups, of_rest


@inlined
def find_leaves(values, n_groups, sizes, leaf):
    """Find the group of training rows that predicts each group of equal values.

    Parameters
    ----------
    values : float64 array
        Of the groups, ascending.
    n_groups : int
        How many there are.
    sizes : int64 array
        Training rows of each group.
    leaf : int64 array
        Written: that group itself, if it has training rows; else the nearest that has.
    """
    last = -1
    for g in range(n_groups):
        if sizes[g] > 0:
            for h in range(last + 1, g):
                is_low = last >= 0 and values[h] <= between(values[last], values[g])
                leaf[h] = last if is_low else g
            leaf[g] = last = g
    for h in range(last + 1, n_groups):
        leaf[h] = last


@inlined
def values_tell_classes(rows, values, classes):
    """Whether no two rows of one value differ in class."""
    for i in range(1, len(rows)):
        if values[i] == values[i - 1] and classes[rows[i]] != classes[rows[i - 1]]:
            return False
    return True
