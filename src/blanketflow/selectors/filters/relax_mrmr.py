"""RelaxMRMR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.parameters import choice
from ...search.greedy_ranking import Known
from .information import InformationFilter


@dataclass
class RelaxMRMR(InformationFilter):
    """Rank features by JMI's criterion minus the redundancy with one ranked feature given another.

    The score is I(X;T) - mean I(X;F) + mean I(X;F|T) - mean I(X;F|G), over the features F ranked before and the ordered
    pairs of different ones F, G. The unified-view paper prints it with other weights (eq. 44): the sum of I(X;F|T), and
    the sum of I(X;F|G) divided by the number of F; ``variant: eq44`` ranks by that. Ties go by name. Mutual
    information comes from the CI test: counted on level codes with ``g2`` (numbers are binned on the rows at hand, a
    numeric target too), Gaussian with ``fisher-z``.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.RelaxMRMR(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    learns_from: ClassVar[str] = "tests"
    card: ClassVar[Card] = Card(
        id="relax-mrmr",
        name="RelaxMRMR",
        family="filter",
        summary="Greedy ranking as by JMI, minus the redundancy with one ranked feature given another.",
        reference="Vinh, Zhou, Chan, Bailey (2016) Can high-order dependencies improve mutual information based "
        "feature selection?, Pattern Recognition 53, 46-58, doi:10.1016/j.patcog.2015.11.007.",
        formula="I(X;T) - mean_F I(X;F) + mean_F I(X;F|T) - mean_FG I(X;F|G)",
        cost="d + 2 (psi - 1) d + (psi - 1) (psi - 2) d mutual informations",
    )

    variant: str = choice(
        "original", "Weights of the original publication, or of the unified-view paper's eq. 44.", ("original", "eq44")
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return JMI's criterion minus the second-order redundancy."""
        n = known.n_ranked
        if self.variant == "eq44":
            redundancy = known.redundancy + (known.conditional_redundancy if n > 1 else 0.0)
            return known.relevance + known.class_redundancy - known.mean(redundancy)
        second_order = known.conditional_redundancy / (n * (n - 1)) if n > 1 else 0.0
        return known.relevance + known.mean(known.class_redundancy - known.redundancy) - second_order
