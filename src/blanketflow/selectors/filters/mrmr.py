"""Minimum redundancy, maximum relevance (mRMR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...search.greedy_ranking import Known
from .information import InformationFilter


@dataclass
class MRMR(InformationFilter):
    """Rank features by I(X;T) minus the mean of I(X;F) over the features F ranked before.

    Eq. 33 of the unified-view paper, greedily; ties go by name. Mutual information comes from the CI test:
    counted on level codes with ``g2`` (numbers are binned on the rows at hand, a numeric target too), Gaussian with
    ``fisher-z``.

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
        summary="Greedy ranking by relevance minus mean redundancy with the features ranked before.",
        reference="Peng, Long, Ding (2005) Feature selection based on mutual information: criteria of "
        "max-dependency, max-relevance, and min-redundancy, IEEE TPAMI 27(8), 1226-1238, "
        "doi:10.1109/TPAMI.2005.159.",
        formula="I(X;T) - mean_F I(X;F)",
        cost="d + (psi - 1) d mutual informations",
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return the relevance minus the mean redundancy."""
        return known.relevance - known.mean(known.redundancy)
