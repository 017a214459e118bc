"""Semi-interleaved HITON parents and children (SI-HITON-PC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.neighbours import FindNeighbours
from ...search.parents_and_children import semi_interleaved_neighbours
from .corrected_neighbours import CORRECTION_REFERENCE, PC_GUARANTEE, CorrectedParentsAndChildren
from .neighbours_and_spouses import PC_COST


@dataclass
class SIHITONPC(CorrectedParentsAndChildren):
    """Admit features in order of marginal dependence, testing each on entry; test all members once again at the end.

    Then candidates whose own search does not find the target are removed.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.SIHITONPC(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="si-hiton-pc",
        name="semi-interleaved HITON-PC",
        family="causal",
        summary="Parents and children by marginal dependence with elimination at the end, corrected for symmetry.",
        reference="Aliferis, Statnikov, Tsamardinos, Mani, Koutsoukos (2010) Local causal and Markov blanket "
        "induction for causal discovery and feature selection for classification part I, JMLR 11, 171-234. "
        + CORRECTION_REFERENCE,
        guarantee=PC_GUARANTEE,
        work="neighbours",
        cost=PC_COST,
    )
    find: ClassVar[FindNeighbours] = staticmethod(semi_interleaved_neighbours)
