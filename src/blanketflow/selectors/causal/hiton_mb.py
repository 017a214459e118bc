"""HITON Markov blanket (HITON-MB)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.neighbours import FindNeighbours
from ...search.parents_and_children import interleaved_neighbours
from .corrected_neighbours import CORRECTED_MB_GUARANTEE, NeighboursAndSpouses
from .neighbours_and_spouses import MB_COST


@dataclass
class HITONMB(NeighboursAndSpouses):
    """Find parents and children as HITON-PC does, and then spouses among the neighbours of neighbours.

    All symmetry corrections come before the first spouse is looked for.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.HITONMB(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="hiton-mb",
        name="HITON-MB",
        family="causal",
        summary="Parents and children with interleaved elimination, then spouses.",
        reference="Aliferis, Tsamardinos, Statnikov (2003) HITON: a novel Markov blanket algorithm for optimal "
        "variable selection, AMIA Annual Symposium Proceedings, 21-25; Aliferis et al. (2010) JMLR 11, "
        "171-234.",
        guarantee=CORRECTED_MB_GUARANTEE,
        work="spouses",
        cost=MB_COST,
    )
    find: ClassVar[FindNeighbours] = staticmethod(interleaved_neighbours)
