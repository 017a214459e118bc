"""Double input symmetrical relevance (DISR)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...search.greedy_ranking import Known
from .information import InformationFilter


@dataclass
class DISR(InformationFilter):
    """Rank features by the sum of I(X,F;T) / H(X,F,T) over the features F ranked before, the first by I(X;T).

    Dividing by the joint entropy keeps features from winning only because they have many levels. Ties go by column
    order. The CI test must measure entropy, as ``g2`` does. Mutual information comes from the CI test: counted on level
    codes with ``g2`` (numbers are binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.DISR(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="disr",
        name="double input symmetrical relevance (DISR)",
        family="filter",
        summary="Greedy ranking by the normalised joint information about the target with each feature ranked before.",
        reference="Meyer, Bontempi (2006) On the use of variable complementarity for feature selection in cancer "
        "classification, EvoWorkshops, 91-102, doi:10.1007/11732242_9.",
        formula="sum_F I(X,F;T) / H(X,F,T)",
        cost="d + 2 (psi - 1) d mutual informations and joint entropies",
        importance="the score of its formula when it was ranked: shares of information, without a unit",
    )
    needs: ClassVar[str] = "entropy"

    def criterion(self, known: Known) -> np.ndarray:
        """Return the sum of I(X,F;T) / H(X,F,T), the relevance where nothing is ranked."""
        return known.symmetrical_relevance if known.n_ranked else known.relevance
