"""Relieved, the deterministic Relief."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import number
from ...moves.steps import Step
from ..base import Problem
from ..ranking import RankingMethod, heaviest_first
from .neighbour_weights import Neighbours, neighbour_weights


@dataclass
class Relieved(RankingMethod):
    """Rank features as Relief does, from every instance and all of its nearest hits and misses.

    Rows at the same smallest distance are all nearest and averaged over, so that nothing is drawn and the order of rows
    does not matter: what Relief gives in the long run. With more than two classes this is Relieved-F: misses come from
    each other class and count by its share. For regression all rows at the smallest distance count as in RReliefF.
    Differences, distances and the threshold are defined as in ``relief``.

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

    def rank(self, problem: Problem, n_features: int) -> list[Step]:
        """Rank by the weights, which are statistic and importance."""
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
