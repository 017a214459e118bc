"""HITON parents and children (HITON-PC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.neighbours import FindNeighbours
from ...search.parents_and_children import interleaved_neighbours
from .corrected_neighbours import CORRECTION_REFERENCE, PC_GUARANTEE, CorrectedParentsAndChildren
from .neighbours_and_spouses import PC_COST


@dataclass
class HITONPC(CorrectedParentsAndChildren):
    """Admit features in order of marginal dependence; after each admission all members are tested again.

    A newcomer enters unless a subset of the members separates it from the target; a member leaves as soon as a subset
    with the newcomer separates it. Then candidates whose own search does not find the target are removed.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.HITONPC(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="hiton-pc",
        name="HITON-PC",
        family="causal",
        summary="Parents and children by marginal dependence with interleaved elimination, corrected for symmetry.",
        reference="Aliferis, Tsamardinos, Statnikov (2003) HITON: a novel Markov blanket algorithm for optimal "
        "variable selection, AMIA Annual Symposium Proceedings, 21-25; Aliferis et al. (2010) JMLR 11, "
        "171-234. " + CORRECTION_REFERENCE,
        guarantee=PC_GUARANTEE,
        work="neighbours",
        cost=PC_COST,
    )
    find: ClassVar[FindNeighbours] = staticmethod(interleaved_neighbours)
