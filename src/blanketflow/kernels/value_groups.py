"""Groups of rows with equal values of a column, and which group predicts which in a tree to purity on that column."""

from __future__ import annotations

from numba import njit

from .best_cut import between

#: Columns may be short and many, so that passing arrays to helpers would take as long as their work.
inlined = njit(inline="always", error_model="numpy")


@inlined
def part_into_groups(values, rest, first, group_values):
    """Divide the listed rows, and the rows that are not listed, into groups of equal values.

    `values`, (m,), ascend; `rest` is the number of rows that are not listed. Written are `first`, where each group's
    listed rows start and where those of the last group end, and `group_values`. Returned are the number of groups, and
    the group of the rows that are not listed, -1 for none.
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

    `values` are those of the groups, ascending; `sizes` are their numbers of training rows. `leaf` is written: the
    group itself if it has training rows, else the nearest group with training rows.
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
    """Return whether all rows with equal values have the same class."""
    for i in range(1, len(rows)):
        if values[i] == values[i - 1] and classes[rows[i]] != classes[rows[i - 1]]:
            return False
    return True
