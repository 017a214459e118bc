"""Minimum redundancy, maximum relevance (mRMR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import integer
from ...search.steps import Step
from ..base import Method, Problem

#: Scores are compared to so many decimals.
DECIMALS = 12


@dataclass
class MRMR(Method):
    """Rank features by I(X;T) minus the mean of I(X;F) over the features F ranked before.

    Eq. 33 of the unified-view paper, greedily; ties go by column order. Mutual information comes from the CI test:
    plug-in on level codes with ``g2``, Gaussian with ``fisher-z``.

    References
    ----------
    Peng, Long, Ding (2005) Feature selection based on mutual information: criteria of max-dependency, max-relevance,
    and min-redundancy, IEEE TPAMI 27(8), 10.1109/TPAMI.2005.159.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MRMR(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mrmr",
        name="mRMR",
        family="filter",
        summary="Greedy ranking by relevance to the target minus mean redundancy with the features ranked before.",
        reference="Peng, Long, Ding (2005) IEEE TPAMI 27(8), 10.1109/TPAMI.2005.159.",
        guarantee="none",
        cost="d marginal and (psi - 1) d pairwise mutual informations for psi features",
    )
    needs: ClassVar[str] = "mutual-information"

    n_features: int = integer(10, "Features to keep (psi); all of them when there are fewer.", at_least=1)

    def grow(self, problem: Problem) -> list[Step]:
        """Rank `n_features` features; the statistic is the criterion at admission."""
        test = problem.test
        relevance = test.test_config.mutual_information(problem.marginal)
        redundancy = np.zeros_like(relevance)
        left = list(range(len(problem.features)))
        ranked: list[Step] = []
        n_wanted = min(self.n_features, len(left))
        while len(ranked) < n_wanted:
            # Rounded, so that float noise does not decide ties.
            scores = np.round(relevance[left] - redundancy[left] / max(len(ranked), 1), DECIMALS)
            best = left.pop(int(np.argmax(scores)))
            p_value = float(problem.marginal.p_value[best])
            importance = float(n_wanted - len(ranked))
            ranked.append(Step(problem.features[best], float(scores.max()), p_value, importance))
            if left and len(ranked) < n_wanted:
                pairs = test.test_many([problem.features[i] for i in left], problem.features[best])
                redundancy[left] += test.test_config.mutual_information(pairs)
        return ranked

    def shrink(self, problem: Problem, candidates: list[Step]) -> list[Step]:
        """Keep the ranking, cut at `n_features`."""
        return candidates[: self.n_features]
