"""Conditional infomax feature extraction (CIFE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...search.greedy_ranking import Known
from .information import InformationFilter


@dataclass
class CIFE(InformationFilter):
    """Rank features by I(X;T) minus the sum of I(X;F) plus the sum of I(X;F|T) over the features F ranked before.

    Eq. 36 of the unified-view paper: redundancy within the classes counts in favour. Ties go by name. Mutual
    information comes from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at hand, a
    numeric target too), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.CIFE(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="cife",
        name="conditional infomax feature extraction (CIFE)",
        family="filter",
        summary="Greedy ranking by relevance, minus redundancy, plus redundancy within the classes.",
        reference="Lin, Tang (2006) Conditional infomax learning: an integrated framework for feature extraction "
        "and fusion, ECCV, 68-82, doi:10.1007/11744023_6.",
        formula="I(X;T) - sum_F I(X;F) + sum_F I(X;F|T)",
        cost="d + 2 (psi - 1) d mutual informations",
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return the relevance minus the redundancy, plus that within the classes."""
        return known.relevance - known.redundancy + known.class_redundancy
