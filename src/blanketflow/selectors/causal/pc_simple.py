"""PC-simple."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.neighbours import FindNeighbours
from ...search.parents_and_children import level_wise_neighbours
from .corrected_neighbours import CORRECTION_REFERENCE, PC_GUARANTEE, CorrectedParentsAndChildren
from .neighbours_and_spouses import PC_COST


@dataclass
class PCSimple(CorrectedParentsAndChildren):
    """Start from all features and remove, level by level, the features that larger and larger sets of others separate.

    Then candidates whose own search does not find the target are removed; ``symmetry: none`` is the original, made for
    regression, where every neighbour is a cause.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.PCSimple(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="pc-simple",
        name="PC-simple",
        family="causal",
        summary="Parents and children by level-wise elimination, corrected for symmetry.",
        reference="Bühlmann, Kalisch, Maathuis (2010) Variable selection in high-dimensional linear models: partially "
        "faithful distributions and the PC-simple algorithm, Biometrika 97(2), 261-278, "
        "doi:10.1093/biomet/asq008. " + CORRECTION_REFERENCE,
        guarantee=PC_GUARANTEE,
        work="neighbours",
        cost=PC_COST,
    )
    find: ClassVar[FindNeighbours] = staticmethod(level_wise_neighbours)
