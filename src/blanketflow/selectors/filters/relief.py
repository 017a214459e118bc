"""Relief, ReliefF and RReliefF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import integer, number
from ...core.seeds import derive_rng
from ...moves.steps import Step
from ..base import Problem
from ..ranking import RankingMethod, heaviest_first
from .neighbour_weights import Neighbours, neighbour_weights


@dataclass
class Relief(RankingMethod):
    """Rank features by how well they tell near rows of other classes (misses) from near rows of the same class (hits).

    With ``n_neighbors=1`` and two classes this is Relief. With more of either it is ReliefF: misses come from each
    other class and count by the share of that class. For regression it is RReliefF, where near rows count by how much
    their targets differ.

    Differences are absolute ones over the column's range, 0 or 1 between levels, and distances their sums, as with
    Robnik-Sikonja and Kononenko; Kira and Rendell square them, which is the same for levels. Equally near rows are
    taken in table order; ``relieved`` averages over them. All neighbours of a class are used where it has fewer than
    `n_neighbors`. Features at the threshold are cut too, so that a threshold of 0 cuts constant columns.

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

    def rank(self, problem: Problem, n_features: int) -> list[Step]:
        """Rank by the weights, which are statistic and importance."""
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
