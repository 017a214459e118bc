"""Relief, ReliefF and RReliefF; and Relieved, which uses all nearest neighbours of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import CATEGORICAL, Card
from ...core.parameters import integer, number
from ...core.seeds import derive_rng
from ...moves.steps import Steps
from ..base import Problem
from ..ranking import RankingMethod, heaviest_first

#: Distances in memory at a time.
CELLS = 2**22
#: Mean differences are compared to this many decimals, so that float noise does not decide which rows are nearest.
DECIMALS = 12


@dataclass(frozen=True)
class Neighbours:
    """Pairs of a row (`of` the given rows) and a neighbour (`row` of the table); shares sum to 1 in a group."""

    of: np.ndarray
    row: np.ndarray
    share: np.ndarray


#: From distances, shape (b, n), infinite from a row to itself, and the rows' groups: each row's neighbours by group.
Choose = Callable[[np.ndarray, np.ndarray], Neighbours]
#: Rows, their neighbours, and weights of the pairs.
Pairs = Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]


def neighbour_weights(problem: Problem, rows: np.ndarray, times: np.ndarray, choose: Choose) -> np.ndarray:
    """Return the weight of each feature, (d,) in -1 .. 1, from some rows and their neighbours.

    Differences of numbers are divided by the column's range; those of levels are 0 or 1. The distance of rows is their
    sum. For classification, neighbours of the same class (hits) count against a feature, those of each other class
    (misses) for it, weighted by the class's share of the rows of other classes. For regression, all neighbours count,
    by the difference of the targets. Weights of a group's columns are summed. `times` is the multiplicity of each row;
    `choose` chooses neighbours by distance.
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
    """Return the features' columns, (m, n), numbers divided by their range, and which are levels."""
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
    """Yield rows, neighbours and weights of pairs, which sum to 1 over the rows for each group, in blocks of rows."""
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
    # Shares of near pairs with different and equal targets, in degrees, and differences of features there.
    n_other, n_same, other, same = 0.0, 0.0, np.zeros(len(values)), np.zeros(len(values))
    for first, second, share in pairs:
        distance = np.abs(y[first] - y[second])
        n_other += float((share * distance).sum())
        n_same += float((share * (1.0 - distance)).sum())
        add_differences(values, is_level, first, second, share * distance, other)
        add_differences(values, is_level, first, second, share * (1.0 - distance), same)
    return (other / n_other if n_other > 0 else other) - (same / n_same if n_same > 0 else same)


@dataclass
class Relief(RankingMethod):
    """Rank features by how well they separate near rows of other classes (misses) from those of the same (hits).

    With ``n_neighbors=1`` and two classes this is Relief, else ReliefF: misses come from each other class, weighted by
    its share. For regression it is RReliefF, where near rows are weighted by the difference of their targets.

    Differences are absolute, divided by the column's range, or 0 or 1 between levels; distances are their sums, as in
    Robnik-Sikonja and Kononenko. Kira and Rendell square them, which is the same for levels. Equally near rows are
    taken in table order; ``relieved`` averages over them. All rows of a class with fewer than `n_neighbors` are used.
    Features at the threshold are removed too, so a threshold of 0 removes constant columns.

    Examples
    --------
    Neither bit alone tells the class, which is their parity.

    >>> import blanketflow as bf
    >>> import numpy as np
    >>> X = np.random.default_rng(0).integers(0, 2, size=(300, 6))
    >>> sorted(bf.Relief(n_features=2).fit(X, X[:, 2] ^ X[:, 5]).selected_features_)
    ['x2', 'x5']
    """

    card: ClassVar[Card] = Card(
        id="relief",
        name="Relief, ReliefF",
        family="filter",
        summary="Ranks features by how much more they differ between near rows of other classes than of the same.",
        reference="Kira, Rendell (1992) A practical approach to feature selection, ICML 9, 249-256, "
        "doi:10.1016/B978-1-55860-247-2.50037-1. Robnik-Sikonja, Kononenko (2003) Theoretical and empirical "
        "analysis of ReliefF and RReliefF, Machine Learning 53, 23-69, doi:10.1023/A:1025667309714.",
        guarantee="none",
        work="near-rows",
        cost="no tests; m n d differences for m rows drawn (all: n^2 d), whatever psi is",
        formula="mean over instances of sum over other classes c of P(c) / (1 - P(own class)) mean diff(X; misses in "
        "c) - mean diff(X; hits); regression: P(diff(X) | other target) - P(diff(X) | same target) among near rows",
        importance="its weight: how much further from rows of other classes than from rows of its own, without a unit",
        takes_max_rows=True,
    )
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    n_iterations: int | None = integer(
        None, "Number of rows drawn, with replacement (m); null takes each row once.", at_least=1, nullable=True
    )
    n_neighbors: int = integer(
        10, "Number of hits of each row, and of misses from each other class (k); 1 is Relief.", at_least=1
    )
    sigma: float | None = number(
        None,
        "Weight of the r-th nearest neighbour: exp(-(r / sigma)^2), divided by their sum; null weighs all alike.",
        above=0,
        nullable=True,
    )
    threshold: float | None = number(
        None, "Weight that a feature must exceed (tau); null for no threshold.", at_least=-1, at_most=1, nullable=True
    )

    def rank(self, problem: Problem, n_features: int) -> Steps:
        """Rank by the weights."""
        rows = np.arange(problem.table.n_rows)
        times = np.ones(len(rows))
        if self.n_iterations is not None:
            drawn = derive_rng(problem.seed, "instances").integers(len(rows), size=self.n_iterations)
            rows, times = np.unique(drawn, return_counts=True)
        weights = neighbour_weights(problem, rows, times, self._nearest)
        return heaviest_first(problem.features, weights, n_features, self.threshold)

    def _nearest(self, distances: np.ndarray, groups: np.ndarray) -> Neighbours:
        """Return the k nearest rows of each group."""
        from ...kernels.differences import nearest_rows

        k = min(self.n_neighbors, len(groups))
        nearest = np.empty((len(distances), int(groups.max()) + 1, k), dtype=np.int64)
        nearest_rows(distances, groups, nearest)
        is_there = nearest >= 0
        ranks = np.arange(1, k + 1)
        # The first one's exponent is 0, as the sum is divided by anyway and must not vanish.
        share = is_there * (np.ones(k) if self.sigma is None else np.exp((1.0 - ranks**2) / self.sigma**2))
        share /= np.maximum(share.sum(axis=2, keepdims=True), 1.0)
        return Neighbours(np.nonzero(is_there)[0], nearest[is_there], share[is_there])


@dataclass
class Relieved(RankingMethod):
    """Rank features as Relief does, from every row and all of its nearest hits and misses.

    All rows at the smallest distance are averaged; no rows are drawn and their order does not matter. The result is the
    limit of Relief. With more than two classes this is Relieved-F: misses come from each other class, weighted by its
    share. For regression, all rows at the smallest distance count as in RReliefF. Differences, distances and the
    threshold are those of ``relief``.

    Examples
    --------
    Neither bit alone tells the class, which is their parity.

    >>> import blanketflow as bf
    >>> import numpy as np
    >>> X = np.random.default_rng(0).integers(0, 2, size=(300, 6))
    >>> sorted(bf.Relieved(threshold=0.05).fit(X, X[:, 2] ^ X[:, 5]).selected_features_)
    ['x2', 'x5']
    """

    card: ClassVar[Card] = Card(
        id="relieved",
        name="Relieved",
        family="filter",
        summary="Relief made deterministic: every instance, and all nearest hits and misses averaged.",
        reference="Kohavi, John (1997) Wrappers for feature subset selection, Artificial Intelligence 97(1-2), "
        "273-324, doi:10.1016/S0004-3702(97)00043-X.",
        guarantee="none",
        work="near-rows",
        cost="no tests; n^2 d differences, whatever psi is",
        formula="mean over instances of sum over other classes c of P(c) / (1 - P(own class)) mean diff(X; all nearest "
        "in c) - mean diff(X; all nearest hits); regression: P(diff(X) | other target) - P(diff(X) | same target) "
        "among nearest rows",
        importance="its weight: how much further from rows of other classes than from rows of its own, without a unit",
        takes_max_rows=True,
    )
    default_test: ClassVar[str | None] = None
    takes_feature_groups: ClassVar[bool] = True

    threshold: float | None = number(
        None, "Weight that a feature must exceed (tau); null for no threshold.", at_least=-1, at_most=1, nullable=True
    )

    def rank(self, problem: Problem, n_features: int) -> Steps:
        """Rank by the weights."""
        n = problem.table.n_rows
        weights = neighbour_weights(problem, np.arange(n), np.ones(n), _all_nearest)
        return heaviest_first(problem.features, weights, n_features, self.threshold)


def _all_nearest(distances: np.ndarray, groups: np.ndarray) -> Neighbours:
    """Return all rows at the smallest distance of each group."""
    of, row, share = [], [], []
    for group in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == group)
        there = distances[:, members]
        smallest = there.min(axis=1, keepdims=True)
        # A row that is alone in its group has no hit.
        position, at = np.nonzero((there == smallest) & np.isfinite(smallest))
        of.append(position)
        row.append(members[at])
        share.append(1.0 / np.bincount(position, minlength=len(distances))[position])
    return Neighbours(np.concatenate(of), np.concatenate(row), np.concatenate(share))
