"""Conditional mutual information maximization (CMIM)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.greedy_ranking import Pick
from ...search.lazy_ranking import rank_by_minimum
from ..base import Problem
from .information import InformationRanking, included_first, relevance_of


@dataclass
class CMIM(InformationRanking):
    """Rank features by the smallest of I(X;T) and I(X;T|F) over the features F ranked before.

    The minimum can only fall from step to step, so features whose minimum is already below the best of a step are not
    computed again (Fleuret's lazy evaluation). The ranking equals the full computation's. Ties go by name.
    Mutual information comes from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at
    hand, a numeric target too), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.CMIM(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="cmim",
        name="conditional mutual information maximization (CMIM)",
        family="filter",
        summary="Greedy ranking by the least information about the target beyond any feature ranked before.",
        reference="Fleuret (2004) Fast binary feature selection with conditional mutual information, JMLR 5, "
        "1531-1555.",
        formula="min(I(X;T), min_F I(X;T|F))",
        cost="d + (psi - 1) d mutual informations at most; far fewer by lazy evaluation",
    )

    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Give the features in the order of their ranking."""
        positions, relevance = problem.test.table.positions(problem.features), relevance_of(problem, self.is_adjusted)
        first = included_first(problem)
        asked = problem.test, problem.target, positions, relevance, n_features
        return rank_by_minimum(*asked, relevance, first, self.is_adjusted)
