"""Max-relevance and max-independence (MRI)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...search.greedy_ranking import Known
from .information import InformationFilter


@dataclass
class MRI(InformationFilter):
    """Rank features by I(X;T) plus the sum of I(X;T|F) + I(F;T|X) over the features F ranked before.

    I(X;T|F) is what X says beyond F, I(F;T|X) what F still says beyond X; the latter is I(F;T) + I(X;T|F) - I(X;T).
    Ties go by name. Mutual information comes from the CI test: counted on level codes with ``g2`` (numbers are
    binned on the rows at hand, a numeric target too), Gaussian with ``fisher-z``.

    Notes
    -----
    Both terms have weight 1 here. The publication was not at hand: its weights may differ.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.MRI(n_features=1).fit(X, y).selected_features_
    ['petal width (cm)']
    """

    card: ClassVar[Card] = Card(
        id="mri",
        name="max-relevance and max-independence (MRI)",
        family="filter",
        summary="Greedy ranking by relevance plus what each of two features says about the target beyond the other.",
        reference="Wang, Wei, Yang, Wang (2017) Feature selection by maximizing independent classification "
        "information, IEEE TKDE 29(4), 828-841, doi:10.1109/TKDE.2017.2650906.",
        formula="I(X;T) + sum_F [I(X;T|F) + I(F;T|X)]",
        cost="d + (psi - 1) d mutual informations",
    )

    def criterion(self, known: Known) -> np.ndarray:
        """Return the relevance plus what a feature and each ranked one tell beyond each other."""
        return known.relevance * (1 - known.n_ranked) + 2 * known.conditional_relevance + known.ranked_relevance
