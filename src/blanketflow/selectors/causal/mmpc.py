"""Max-min parents and children (MMPC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.neighbours import FindNeighbours
from ...search.parents_and_children import max_min_neighbours
from .corrected_neighbours import CORRECTION_REFERENCE, PC_GUARANTEE, CorrectedParentsAndChildren
from .neighbours_and_spouses import PC_COST


@dataclass
class MMPC(CorrectedParentsAndChildren):
    """Admit the feature whose weakest dependence on the target, given any subset of those admitted, is strongest.

    Features that a subset separates from the target are removed; at the end each member is tested once more. Then
    candidates whose own search does not find the target are removed.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.MMPC(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="mmpc",
        name="max-min parents and children (MMPC)",
        family="causal",
        summary="Parents and children by the max-min heuristic, corrected for symmetry.",
        reference="Tsamardinos, Brown, Aliferis (2006) The max-min hill-climbing Bayesian network structure learning "
        "algorithm, Machine Learning 65, 31-78, doi:10.1007/s10994-006-6889-7. " + CORRECTION_REFERENCE,
        guarantee=PC_GUARANTEE,
        work="neighbours",
        cost=PC_COST,
    )
    find: ClassVar[FindNeighbours] = staticmethod(max_min_neighbours)
