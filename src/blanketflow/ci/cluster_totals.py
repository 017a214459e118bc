"""Score tests of a sample with a design: p-values from the totals of each cluster's scores.

A test asks whether q scores of each row, whose mean is 0 under independence, add up to 0. A score is a product of two
residuals, for example. Rows of one cluster depend on each other, and rows with large weights count more, so that the
variance of the sum is estimated from what varies between clusters: its square root is that of a t-test on the totals
of clusters. For several scores the squared sum is compared with its expectation, and its degrees of freedom are those
with the same mean and variance (Rao and Scott (1984) On chi-squared tests for multiway contingency tables with cell
proportions estimated from survey data, Annals of Statistics 12, 46-60, doi:10.1214/aos/1176346391; F with the degrees
of freedom of the clusters: Thomas and Rao (1987), JASA 82, 630-636, doi:10.1080/01621459.1987.10478475).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.design import Design
from .tails import f_greater


class Clusters:
    """The clusters of a table's rows, each row for itself if the design has none.

    Attributes
    ----------
    n : int
        How many there are, C.
    are_rows : bool
        Whether each row is a cluster.
    n_free : int
        How many given columns cost no degree of freedom: the indicators of strata, if each stratum is in one cluster.
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

        A column costs what it would cost if it were constant within clusters. Indicators of parts of clusters do not:
        they leave nothing that clusters differ by.
        """
        return max(rank - self.n_free, 0)

    def totals(self, scores: np.ndarray) -> np.ndarray:
        """Return the totals of each cluster, shape (..., C), of the scores of rows, shape (..., n).

        Examples
        --------
        >>> Clusters(Design(clusters=np.array([5, 2, 5])), 3).totals(np.array([1.0, 10.0, 100.0]))
        array([ 10., 101.])
        """
        if self.numbers is None:
            return scores
        return np.add.reduceat(scores[..., self._order], self._starts, axis=-1)


class Spread(NamedTuple):
    """The variance V, (q, q), of sums of q scores, as far as a test needs it: tr V and tr V^2, each of shape (m,)."""

    trace: np.ndarray
    of_square: np.ndarray


def spread(totals: np.ndarray, n_parameters: int = 0) -> Spread:
    """Return tr V and tr V^2 of the sums of q scores, from the totals of C clusters, shape (..., q, C).

    V = C / (C - 1 - n_parameters) sum (k_c - k)(k_c - k)' with the mean k of the totals k_c; `n_parameters` were
    estimated before, and take as much of the variation between clusters as if they were constant within each.
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

    Those of the denominator are as many times `rest`, the degrees of freedom between clusters. p = 1 without variation.

    Examples
    --------
    >>> p, _ = judged(np.array([4.0]), Spread(np.array([1.0]), np.array([1.0])), 60.0)  # t = 2 on 60 degrees of freedom
    >>> round(float(p[0]), 4)
    0.05
    """
    varies = found.trace > 0
    trace = np.where(varies, found.trace, 1.0)
    dof = np.where(varies, trace**2 / np.where(varies, found.of_square, 1.0), 0.0)
    return f_greater(np.where(varies, statistic, 0.0) / trace, dof, np.where(varies, dof, 1.0) * rest)
