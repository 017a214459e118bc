"""Score tests and permutations for clustered rows, which are not independent.

A test asks whether q scores of each row, such as products of two residuals, have mean 0. The variance of their sum is
estimated from the variation between clusters; its square root is that of a t-test on cluster totals. For several scores
the squared sum is compared with its expectation, with degrees of freedom that match mean and variance (Rao and Scott
(1984), Annals of Statistics 12, 46-60, doi:10.1214/aos/1176346391; F with the degrees of freedom of the clusters:
Thomas and Rao (1987), JASA 82, 630-636, doi:10.1080/01621459.1987.10478475).

A permutation exchanges single rows, whole clusters, or rows within a cluster (Winkler, Webster, Vidaurre, Nichols,
Smith (2015), Multi-level block permutation, NeuroImage 123, 253-268, doi:10.1016/j.neuroimage.2015.05.092).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, UnsupportedError
from ..core.table import Design, Table
from .tails import f_greater
from .unbound import CLUSTERS, ROWS, WITHIN_CLUSTERS


class Clusters:
    """The `n` clusters of a table's rows; each row is one (`are_rows`) if the design has none.

    `n_free` given columns cost no degree of freedom: stratum indicators, if each stratum lies in one cluster.
    """

    def __init__(self, design: Design, n_rows: int) -> None:
        self.numbers = design.numbers()
        self.are_rows = self.numbers is None
        self.n = n_rows if self.numbers is None else int(self.numbers.max()) + 1
        self.n_free = 0
        if self.numbers is not None:
            if design.within is not None:
                n_strata = len(np.unique(design.within))
                together = np.unique(np.column_stack([design.within, self.numbers]), axis=0)
                self.n_free = n_strata - 1 if len(together) == n_strata else 0
            self._order = np.argsort(self.numbers, kind="stable")
            self._starts = np.searchsorted(self.numbers[self._order], np.arange(self.n))

    def n_costly(self, rank: int) -> int:
        """Return how many of the given columns, `rank` of them linearly independent, cost a degree of freedom.

        A column costs as much as if it were constant within clusters. Indicators of parts of clusters cost nothing,
        since they do not differ between clusters.
        """
        return max(rank - self.n_free, 0)

    def totals(self, scores: np.ndarray) -> np.ndarray:
        """Return the totals per cluster, shape (..., C), of row scores, shape (..., n).

        >>> Clusters(Design(clusters=np.array([5, 2, 5])), 3).totals(np.array([1.0, 10.0, 100.0]))
        array([ 10., 101.])
        """
        if self.numbers is None:
            return scores
        return np.add.reduceat(scores[..., self._order], self._starts, axis=-1)

    def p_of_scores(self, scores: np.ndarray, rank: int) -> tuple[float, float]:
        """Return p and log p of the sums of some scores of rows, (q, n), given columns of this rank."""
        totals, n_given = self.totals(scores), self.n_costly(rank)
        squared = np.array([np.sum(totals.sum(axis=-1) ** 2)])
        found = judged(squared, spread(totals[np.newaxis], n_given), self.n - 1.0 - n_given)
        return float(found[0][0]), float(found[1][0])


class Spread(NamedTuple):
    """Traces of the variance V, (q, q), of sums of q scores: tr V and tr V^2, each of shape (m,)."""

    trace: np.ndarray
    of_square: np.ndarray


def spread(totals: np.ndarray, n_parameters: int = 0) -> Spread:
    """Return tr V and tr V^2 of the sums of q scores, from the totals of C clusters, shape (..., q, C).

    V = C / (C - 1 - n_parameters) sum (k_c - k)(k_c - k)' with the mean k of the totals k_c. The `n_parameters`
    estimated parameters count as constant within clusters.
    """
    q, n = totals.shape[-2:]
    centred = totals - totals.mean(axis=-1, keepdims=True)
    if q == 1:
        products = np.vecdot(centred, centred)[..., np.newaxis]
    else:
        other = np.swapaxes(centred, -1, -2)
        products = centred @ other if q <= n else other @ centred
    factor = n / max(n - 1.0 - n_parameters, 1.0)
    trace = np.trace(products, axis1=-2, axis2=-1)
    return Spread(factor * trace, factor**2 * np.sum(products * products, axis=(-2, -1)))


def judged(statistic: np.ndarray, found: Spread, rest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return p and log p of squared sums of scores, (m,): F = statistic / tr V on (tr V)^2 / tr V^2 degrees of freedom.

    The denominator has `rest` times as many, the degrees of freedom between clusters. p = 1 without variation.

    >>> p, _ = judged(np.array([4.0]), Spread(np.array([1.0]), np.array([1.0])), 60.0)  # t = 2 on 60 degrees of freedom
    >>> round(float(p[0]), 4)
    0.05
    """
    varies = found.trace > 0
    trace = np.where(varies, found.trace, 1.0)
    dof = np.where(varies, trace**2 / np.where(varies, found.of_square, 1.0), 0.0)
    return f_greater(np.where(varies, statistic, 0.0) / trace, dof, np.where(varies, dof, 1.0) * rest)


def clusters_of(test_id: str, table: Table, permute: str) -> np.ndarray | None:
    """Return cluster numbers from 0 on, shape (n,); None where `permute` is ``rows``.

    Raises `UnsupportedError` without groups, `DataError` for one group or whole ones of different sizes.
    """
    if permute == ROWS:
        return None
    if table.design is None or table.design.clusters is None:
        raise UnsupportedError(f"{test_id}: permute: {permute} needs groups. Give groups, or set permute: {ROWS}.")
    numbers = np.unique(table.design.clusters, return_inverse=True)[1]
    sizes = np.bincount(numbers)
    if permute == CLUSTERS and sizes.min() < sizes.max():
        raise DataError(
            f"{test_id}: permute: {permute} exchanges whole groups, which must be of equal size, but they have "
            f"{sizes.min()} to {sizes.max()} rows. Take as many rows of each, or set permute: {WITHIN_CLUSTERS}."
        )
    if permute == CLUSTERS and len(sizes) < 2:
        raise DataError(f"{test_id}: permute: {permute} needs at least 2 groups, but all rows are of one.")
    return numbers


def strata_of(table: Table) -> np.ndarray | None:
    """Return stratum numbers from 0 on, shape (n,); None without strata."""
    within = None if table.design is None else table.design.within
    return None if within is None else np.unique(within, return_inverse=True)[1]


@dataclass(frozen=True)
class Exchange:
    """s rows of each of u units, `members`, int (u, s), exchangeable within `blocks`, int (u,), numbers from 0 on."""

    members: np.ndarray
    blocks: np.ndarray

    @classmethod
    def of(
        cls, permute: str, n_rows: int, clusters: np.ndarray | None = None, strata: np.ndarray | None = None
    ) -> Exchange:
        """Return the units and blocks of `n_rows` rows, for numbers of `clusters` and `strata` of shape (n_rows,).

        Rows are exchanged within strata; so are whole clusters, which need equally many rows in each stratum.

        >>> Exchange.of("clusters", 4, np.array([0, 1, 1, 0])).members.tolist()
        [[0, 3], [1, 2]]
        >>> Exchange.of("within-clusters", 4, np.array([0, 1, 1, 0])).blocks.tolist()
        [0, 1, 1, 0]
        """
        strata = np.zeros(n_rows, dtype=np.int64) if strata is None else np.asarray(strata, dtype=np.int64)
        rows = np.arange(n_rows)
        if clusters is None:
            return cls(rows[:, np.newaxis], strata)
        if permute == WITHIN_CLUSTERS:
            pairs = np.column_stack([strata, clusters])
            return cls(rows[:, np.newaxis], np.unique(pairs, axis=0, return_inverse=True)[1].ravel())
        members = np.lexsort((rows, strata, clusters)).reshape(len(np.unique(clusters)), -1)
        return cls(members, np.unique(strata[members], axis=0, return_inverse=True)[1].ravel())

    def permutation(self, rng: np.random.Generator) -> np.ndarray:
        """Return the row whose value each row gets in a random exchange, shape (n,).

        >>> moved = Exchange.of("clusters", 4, np.array([0, 0, 1, 1])).permutation(np.random.default_rng(0))
        >>> moved.tolist() in ([0, 1, 2, 3], [2, 3, 0, 1])
        True
        """
        places = np.argsort(self.blocks, kind="stable")
        sources = np.empty(len(self.blocks), dtype=np.int64)
        sources[places] = np.lexsort((rng.random(len(self.blocks)), self.blocks))
        moved = np.empty(self.members.size, dtype=np.int64)
        moved[self.members] = self.members[sources]
        return moved

    @property
    def has_some(self) -> bool:
        """Whether at least half of the units can be exchanged with another one."""
        sizes = np.bincount(self.blocks)
        return bool(sizes[sizes > 1].sum() * 2 >= len(self.blocks))
