"""Joint mutual information (JMI)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...search.greedy_ranking import Known
from .information import InformationFilter


@dataclass
class JMI(InformationFilter):
    """Rank features by the mean of I(X;T|F) over the features F ranked before, the first by I(X;T).

    Eq. 38 of the unified-view paper: I(X;T) - mean of I(X;F) + mean of I(X;F|T) is the mean of I(X;T|F), by the chain
    rule. Ties go by name. Mutual information comes from the CI test: counted on level codes with ``g2``
    (numbers are binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.JMI(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="jmi",
        name="joint mutual information (JMI)",
        family="filter",
        summary="Greedy ranking by the mean information about the target together with each feature ranked before.",
        reference="Yang, Moody (1999) Data visualization and feature selection: new algorithms for nongaussian "
        "data, NIPS 12, 687-693.",
        formula="mean_F I(X;T|F) = I(X;T) - mean_F I(X;F) + mean_F I(X;F|T)",
        cost="d + (psi - 1) d mutual informations",
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return the mean of I(X;T|F), the relevance where nothing is ranked."""
        return known.mean(known.conditional_relevance) if known.n_ranked else known.relevance
