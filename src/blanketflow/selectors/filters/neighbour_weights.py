"""How much more each feature differs between near rows with different targets than between near rows with the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...core.cards import CATEGORICAL
from ..base import Problem

#: Distances held at a time.
CELLS = 2**22
#: Mean differences are compared to this many decimals, so that float noise does not decide which rows are nearest.
DECIMALS = 12


@dataclass(frozen=True)
class Neighbours:
    """Pairs of a row and a neighbour, with the neighbour's share in its group, arrays of shape (m,).

    `of` is the position of the row among the rows asked for, and `row` the neighbour in the table. Shares add up to 1
    over the neighbours that a row has in one group.
    """

    of: np.ndarray
    row: np.ndarray
    share: np.ndarray


#: From distances, shape (b, n), infinite from a row to itself, and the rows' groups: each row's neighbours by group.
Choose = Callable[[np.ndarray, np.ndarray], Neighbours]
#: Rows, their neighbours, and how much each pair counts.
Pairs = Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]


def neighbour_weights(problem: Problem, rows: np.ndarray, times: np.ndarray, choose: Choose) -> np.ndarray:
    """Return the weight of each feature, (d,) in -1 .. 1, from some rows and their neighbours.

    Values of a number differ by their distance over the column's range, levels by 0 or 1; a distance of rows is the sum
    over features. For classification, differences from neighbours in the row's own class (hits) count against a
    feature. Differences from neighbours in each other class (misses) count for it, by the class's share of the rows of
    other classes. For regression all neighbours count, by how much their targets differ. A group has the sum of its
    columns' weights, as it has the sum of their differences.

    `times` says how often each of the rows counts; `choose` chooses neighbours by distance.
    """
    values, is_level = _scaled(problem)
    y = problem.table[problem.target].numbers()
    if problem.table[problem.target].kind == CATEGORICAL:
        classes = np.unique(y, return_inverse=True)[1]
        weights = _by_class(classes, values, is_level, _pairs(problem, values, is_level, rows, times, classes, choose))
    else:
        together = np.zeros(len(y), dtype=np.int64)
        weights = _by_distance(y, values, is_level, _pairs(problem, values, is_level, rows, times, together, choose))
    return np.add.reduceat(weights, np.cumsum([0, *problem.column_counts[:-1]]))


def _scaled(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return the features' columns, shape (m, n), numbers over their range, and which of them hold levels."""
    names = problem.columns(problem.features)
    is_level = np.array([problem.table[name].is_discrete for name in names], dtype=bool)
    values = np.ascontiguousarray(problem.table.matrix(names).T)
    for i in np.flatnonzero(~is_level):
        column = values[i]
        column *= 0.5  # so that the range of any two finite numbers is finite
        width = column.max() - column.min()
        column -= column.min()
        column /= width or 1.0
    return values, is_level


def _pairs(
    problem: Problem,
    values: np.ndarray,
    is_level: np.ndarray,
    rows: np.ndarray,
    times: np.ndarray,
    groups: np.ndarray,
    choose: Choose,
) -> Pairs:
    """Yield rows, their neighbours and how much each pair counts, adding up to 1 over the rows for each group.

    Works in blocks of rows, so that the distances are never all in memory at once.
    """
    from ...kernels.differences import row_distances

    n_columns, n = values.shape
    size = max(1, CELLS // n)
    distances = np.empty((min(size, len(rows)), n))
    for start in range(0, len(rows), size):
        problem.check_time()
        block = rows[start : start + size]
        here = distances[: len(block)]
        row_distances(values, is_level, block, here)
        here *= 10.0**DECIMALS / max(1, n_columns)
        np.rint(here, out=here)
        here[np.arange(len(block)), block] = np.inf
        found = choose(here, groups)
        yield block[found.of], found.row, times[start : start + size][found.of] / times.sum() * found.share


def _by_class(classes: np.ndarray, values: np.ndarray, is_level: np.ndarray, pairs: Pairs) -> np.ndarray:
    from ...kernels.differences import add_differences

    counts = np.bincount(classes)
    weights = np.zeros(len(values))
    for first, second, share in pairs:
        own, other = classes[first], classes[second]
        # There are no misses where all rows are of one class.
        prior = counts[other] / np.maximum(len(classes) - counts[own], 1)
        add_differences(values, is_level, first, second, np.where(own == other, -1.0, prior) * share, weights)
    return weights


def _by_distance(y: np.ndarray, values: np.ndarray, is_level: np.ndarray, pairs: Pairs) -> np.ndarray:
    from ...kernels.differences import add_differences

    y = y * 0.5
    y = (y - y.min()) / (float(np.ptp(y)) or 1.0)
    # Shares of near pairs whose targets differ or not, each a matter of degree, and how much the features differ there.
    n_other, n_same, other, same = 0.0, 0.0, np.zeros(len(values)), np.zeros(len(values))
    for first, second, share in pairs:
        distance = np.abs(y[first] - y[second])
        n_other += float((share * distance).sum())
        n_same += float((share * (1.0 - distance)).sum())
        add_differences(values, is_level, first, second, share * distance, other)
        add_differences(values, is_level, first, second, share * (1.0 - distance), same)
    return (other / n_other if n_other > 0 else other) - (same / n_same if n_same > 0 else same)
