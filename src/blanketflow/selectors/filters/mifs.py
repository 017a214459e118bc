"""Mutual information feature selection (MIFS)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import number
from ...search.greedy_ranking import Known
from .information import InformationFilter


@dataclass
class MIFS(InformationFilter):
    """Rank features by I(X;T) minus beta times the sum of I(X;F) over the features F ranked before.

    Eq. 32 of the unified-view paper. With ``beta = 0`` it is MIM. Ties go by name. Mutual information comes
    from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at hand, a numeric target too),
    Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MIFS(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mifs",
        name="mutual information feature selection (MIFS)",
        family="filter",
        summary="Greedy ranking by relevance minus redundancy, summed with a weight.",
        reference="Battiti (1994) Using mutual information for selecting features in supervised neural net "
        "learning, IEEE Transactions on Neural Networks 5(4), 537-550, doi:10.1109/72.298224.",
        formula="I(X;T) - beta sum_F I(X;F)",
        cost="d + (psi - 1) d mutual informations",
    )

    beta: float = number(1.0, "Weight of the redundancy.", at_least=0)

    def criterion(self, known: Known) -> np.ndarray:
        """Return the relevance minus the weighted redundancy."""
        return known.relevance - self.beta * known.redundancy
