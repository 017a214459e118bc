"""Informative fragments (IF)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...search.greedy_ranking import Pick
from ...search.lazy_ranking import rank_by_minimum
from ..base import Problem
from .information import InformationRanking, included_first, relevance_of


@dataclass
class InformativeFragments(InformationRanking):
    """Rank features by the smallest of I(X;T|F) over the features F ranked before, the first by I(X;T).

    Eq. 39 of the unified-view paper: I(X;T) minus the largest I(X;F) - I(X;F|T). Unlike in CMIM, a feature that is
    informative only together with others does not rank low because of its own I(X;T). Evaluated lazily, as CMIM is.
    Ties go by name. Mutual information comes from the CI test: counted on level codes with ``g2`` (numbers are
    binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.InformativeFragments(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="if",
        name="informative fragments (IF)",
        family="filter",
        summary="Greedy ranking by the least information about the target beyond any feature ranked before, however "
        "little the feature says by itself.",
        reference="Vidal-Naquet, Ullman (2003) Object recognition with informative features and linear classification, "
        "ICCV, 281-288, doi:10.1109/ICCV.2003.1238356.",
        formula="min_F I(X;T|F) = I(X;T) - max_F [I(X;F) - I(X;F|T)]",
        cost="d + (psi - 1) d mutual informations at most; far fewer by lazy evaluation after the first 2 d",
    )

    def picks(self, problem: Problem, n_features: int) -> Iterable[Pick]:
        """Give the features in the order of their ranking."""
        positions, relevance = problem.test.table.positions(problem.features), relevance_of(problem, self.is_adjusted)
        start = np.full(len(positions), np.inf)
        asked = problem.test, problem.target, positions, relevance, n_features
        return rank_by_minimum(*asked, start, included_first(problem), self.is_adjusted)
