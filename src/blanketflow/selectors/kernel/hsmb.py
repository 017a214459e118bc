"""The Hilbert-Schmidt Markov blanket method (HSMB)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...ci.kernel.hsic import GrowingColumns
from ...core.cards import Card
from ...core.parameters import integer
from ...moves.steps import Step, step
from ..base import Method, Problem

#: HSICs are compared to this many decimals.
DECIMALS = 10


@dataclass
class HSMB(Method):
    """Remove, in one pass, each feature that has an approximate Markov blanket among a few more dependent ones.

    Features go by decreasing HSIC(F_i, T), the first by name on ties. The candidate blanket M_i of F_i has the
    `k` remaining features before it that have the largest HSIC with F_i. F_i leaves if both hold:

    1. HSIC(M_i, T) > HSIC(M_i + F_i, T),
    2. HSIC(M_i, T) > HSIC(F_i, T) and HSIC(M_i, F_i) > HSIC(F_i, T).

    Notes
    -----
    Algorithm 1 takes B_i "before F_i in S" and removes from S: a feature that left is in no later candidate blanket.
    The first feature has an empty one, and stays. An exact copy of M_i changes nothing in HSIC(M_i, T): condition 1 is
    then a tie, and it stays. So would a constant, which is left out from the start.

    Above `n_landmarks` rows of the test (1,000 by default), HSICs are Nystroem's approximations, all of the same rows.

    Importance is HSIC(F_i, T). The p-value is from the test of F_i with the target given nothing; it does
    not decide.

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

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Screen each feature against the nearest of the remaining features before it."""
        standing, beside = list[str](), problem.test.growing()
        for candidate in candidates:
            blanket = self._nearest(candidate.feature, standing, beside)
            is_removed = bool(blanket) and _stands_for(problem, blanket, candidate)
            yield replace(candidate, given=tuple(blanket), kept=not is_removed)
            if not is_removed:
                standing.append(candidate.feature)
                beside.add(candidate.feature)

    def _nearest(self, feature: str, standing: list[str], beside: GrowingColumns) -> list[str]:
        """Return the k features of largest HSIC with a feature, the first on ties."""
        if len(standing) <= self.k:
            return list(standing)
        nearest = np.argsort(-np.round(beside.statistics(feature), DECIMALS), kind="stable")[: self.k]
        return [standing[i] for i in nearest.tolist()]


def _stands_for(problem: Problem, blanket: list[str], candidate: Step) -> bool:
    """Whether a candidate blanket passes the screen test; condition 1, whose set is larger, is checked last."""
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
