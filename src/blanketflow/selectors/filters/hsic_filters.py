"""Filters by the Hilbert-Schmidt independence criterion (HSIC): HSMB and BAHSIC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...ci.kernel.hsic import GrowingColumns
from ...core.cards import Card
from ...core.parameters import integer, number
from ...moves.steps import Step, step
from ..base import Method, Problem
from ..ranking import RankingMethod

#: HSICs are compared to this many decimals.
DECIMALS = 10


@dataclass
class HSMB(Method):
    """Remove, in one pass, each feature that has an approximate Markov blanket among stronger features.

    Features are ordered by decreasing HSIC(F_i, T), ties by name. The candidate blanket M_i of F_i has the `k`
    remaining earlier features with the largest HSIC with F_i. F_i is removed if both hold:

    1. HSIC(M_i, T) > HSIC(M_i + F_i, T),
    2. HSIC(M_i, T) > HSIC(F_i, T) and HSIC(M_i, F_i) > HSIC(F_i, T).

    Notes
    -----
    As in Algorithm 1, removed features are in no later candidate blanket. The first feature has an empty one and stays.
    An exact copy of M_i does not change HSIC(M_i, T), so condition 1 is a tie and the copy stays. Constants are left
    out.

    Above `n_landmarks` rows of the test (1,000 by default), HSICs are Nystroem approximations from the same rows.
    Importance is HSIC(F_i, T). The p-value is that of the marginal test, which does not decide.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.HSMB().fit(X, y).selected_features_[:2]
    ['petal length (cm)', 'petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="hsmb",
        name="Hilbert-Schmidt Markov blanket (HSMB)",
        family="kernel",
        summary="One pass in order of HSIC removes each feature that a few features before it can replace.",
        reference="Lou, Obradovic (2010) Feature selection by approximating the Markov blanket in a kernel-induced "
        "space, ECAI 2010, 797-802, doi:10.3233/978-1-60750-606-5-797.",
        guarantee="none",
        cost="d marginal tests; for each feature one HSIC with each remaining feature before it, and at most "
        "three HSICs of up to k + 1 columns; each HSIC O(n n_landmarks)",
        importance="HSIC with the target: 0 if independent, without a unit",
    )
    default_test: ClassVar[str | None] = "hsic"
    takes_feature_groups: ClassVar[bool] = True
    keeps_untested: ClassVar[bool] = True
    needs: ClassVar[str] = "hsic"
    anytime: ClassVar[bool] = True

    k: int = integer(3, "Number of features that stand for a Markov blanket.", at_least=1)

    def tests_sets(self) -> bool:
        """Blankets are tested as one joint variable."""
        return True

    def grow(self, problem: Problem) -> list[Step]:
        """Sort all features by their HSIC with the target."""
        relevance = np.round(problem.marginal.statistic, DECIMALS)
        order = np.argsort(-relevance, kind="stable").tolist()
        return [step(problem.features[i], problem.marginal[i], importance=float(relevance[i])) for i in order]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Test each feature against the nearest remaining features before it."""
        standing, beside = list[str](), problem.test.growing()
        for candidate in candidates:
            blanket = self._nearest(candidate.feature, standing, beside)
            is_removed = bool(blanket) and _stands_for(problem, blanket, candidate)
            yield replace(candidate, given=tuple(blanket), kept=not is_removed)
            if not is_removed:
                standing.append(candidate.feature)
                beside.add(candidate.feature)

    def _nearest(self, feature: str, standing: list[str], beside: GrowingColumns) -> list[str]:
        """Return the k features with the largest HSIC with a feature, the first on ties."""
        if len(standing) <= self.k:
            return list(standing)
        nearest = np.argsort(-np.round(beside.statistics(feature), DECIMALS), kind="stable")[: self.k]
        return [standing[i] for i in nearest.tolist()]


def _stands_for(problem: Problem, blanket: list[str], candidate: Step) -> bool:
    """Whether a candidate blanket meets both conditions; condition 1, on a larger set, is checked last."""
    (with_target,) = _hsic(problem, [blanket], problem.target)
    if with_target <= candidate.importance:
        return False
    (with_feature,) = _hsic(problem, [blanket], candidate.feature)
    if with_feature <= candidate.importance:
        return False
    (joined,) = _hsic(problem, [[*blanket, candidate.feature]], problem.target)
    return bool(with_target > joined)


def _hsic(problem: Problem, sets: list[list[str]], column: str) -> np.ndarray:
    """Return the HSIC of each set with a column, rounded so that float noise does not decide ties."""
    return np.round(problem.test.statistics(sets, column), DECIMALS)


@dataclass
class BAHSIC(RankingMethod):
    """Rank features by backward elimination: each round removes the features without which the HSIC is largest.

    Each round computes HSIC(S - F, T) for every remaining feature F of S. The `share` of S with the largest values,
    rounded to at least one feature, is removed, the largest first and on ties the last by name, so that the first of
    two copies stays longer. The feature removed last is ranked first.

    Notes
    -----
    The HSIC is that of the test: the biased estimator, with the median distance of each set as kernel width. Song et
    al. use the unbiased estimator and leave the width to the user. Above `n_landmarks` rows of the test (1,000 by
    default), HSICs are Nystroem approximations from the same rows.

    Importance is the number of features removed before. The statistic is HSIC(S - F, T) at removal, 0 for the last.

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
        """The remaining features are tested as one joint variable."""
        return True

    def rank(self, problem: Problem, n_features: int) -> list[Step]:
        """Remove all features, a share of the remaining ones at a time."""
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
