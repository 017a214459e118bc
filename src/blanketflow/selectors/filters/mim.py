"""Mutual information maximization (MIM)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...search.greedy_ranking import DECIMALS, Pick
from ..base import Problem
from .information import InformationRanking, included_first, relevance_of


@dataclass
class MIM(InformationRanking):
    """Rank features by I(X;T), each by itself.

    Eq. 29 of the unified-view paper: redundancy between features is ignored. Ties go by name. Mutual
    information comes from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at hand, a
    numeric target too), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MIM(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mim",
        name="mutual information maximization (MIM)",
        family="filter",
        summary="Ranking by relevance to the target alone.",
        reference="Lewis (1992) Feature selection and feature extraction for text categorization, Speech and "
        "Natural Language Workshop, 212-217, doi:10.3115/1075527.1075574.",
        formula="I(X;T)",
        work="marginal",
        cost="d mutual informations",
    )

    def picks(self, problem: Problem, n_features: int) -> Iterator[Pick]:
        """Give the features in the order of I(X;T), which no ranked feature changes: they are sorted once."""
        relevance, first = np.round(relevance_of(problem, self.is_adjusted), DECIMALS), included_first(problem)
        in_order = np.argsort(-relevance, kind="stable")
        for index in [*first, *in_order[~np.isin(in_order, first)].tolist()][:n_features]:
            yield Pick(index, float(relevance[index]))
