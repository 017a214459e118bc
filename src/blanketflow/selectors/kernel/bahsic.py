"""Backward elimination by the Hilbert-Schmidt independence criterion (BAHSIC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import number
from ...moves.steps import Step
from ..base import Problem
from ..ranking import RankingMethod
from .hsmb import DECIMALS


@dataclass
class BAHSIC(RankingMethod):
    """Rank features by backward elimination: each round removes the features without which the HSIC is largest.

    In each round HSIC(S - F, T) is found for every feature F left, S, and the `share` of S with the largest leaves,
    rounded to a whole number of at least one. Within a round the largest leaves first, and the last by name on
    ties, so that of two copies the first stays longer. The feature that leaves last is ranked first.

    Notes
    -----
    The HSIC is the test's: the biased estimator, with the kernel width of each set its own median distance. Song et al.
    use the unbiased estimator, and leave the width to the user.

    Above `n_landmarks` rows of the test (1,000 by default), HSICs are Nystroem's approximations, all of the same rows.

    Importance is the number of features that left before. The statistic is HSIC(S - F, T) when F left, 0 for the last.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.BAHSIC(n_features=2).fit(X, y).selected_features_
    ['petal length (cm)', 'petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="bahsic",
        name="backward elimination by HSIC (BAHSIC)",
        family="kernel",
        summary="In each round a share of the features leaves, without which the rest has the largest HSIC.",
        reference="Song, Smola, Gretton, Borgwardt, Bedo (2007) Supervised feature selection via dependence "
        "estimation, ICML 24, 823-830, doi:10.1145/1273496.1273600; also (2012) Feature selection via "
        "dependence maximization, JMLR 13, 1393-1434.",
        guarantee="none",
        work="kernel-rounds",
        cost="d + d (1 - share) + d (1 - share)^2 + ... HSICs, some d / share, each of all features left but one: "
        "O(n n_landmarks log d)",
        formula="rounds survived when argmax_F HSIC(S - F, T) leaves S",
        importance="how many features were removed before it",
    )
    default_test: ClassVar[str | None] = "hsic"
    takes_feature_groups: ClassVar[bool] = True
    reads_marginal: ClassVar[bool] = False
    needs: ClassVar[str] = "hsic"

    share: float = number(0.1, "Share of the remaining features that is removed in each round.", above=0, below=1)

    def tests_sets(self) -> bool:
        """What is left is tested as one joint variable."""
        return True

    def rank(self, problem: Problem, n_features: int) -> list[Step]:
        """Remove all features, a share of those left at a time."""
        left, removed = list(problem.features), []

        def leave(feature: str, rest: float) -> None:
            removed.append(Step(feature, statistic=rest, importance=float(len(removed))))
            left.remove(feature)

        while len(left) > 1:
            rest = np.round(problem.test.statistics_without_each(left, problem.target), DECIMALS)
            # The last of the largest first.
            largest = np.lexsort((-np.arange(len(left)), -rest))[: max(1, round(self.share * len(left)))]
            for feature, value in [(left[i], float(rest[i])) for i in largest.tolist()]:
                leave(feature, value)
        for feature in list(left):
            leave(feature, 0.0)
        return removed[::-1][:n_features]
