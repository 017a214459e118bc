"""Parents-and-children-based Markov boundary (PCMB)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.neighbours import FindNeighbours
from ...search.parents_and_children import interleaved_max_min_neighbours
from .corrected_neighbours import CORRECTED_MB_GUARANTEE, NeighboursAndSpouses
from .neighbours_and_spouses import MB_COST


@dataclass
class PCMB(NeighboursAndSpouses):
    """Find parents and children by the max-min heuristic with elimination after each admission, and then spouses.

    All symmetry corrections come before the first spouse is looked for.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.PCMB(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="pcmb",
        name="PCMB",
        family="causal",
        summary="Parents and children by the interleaved max-min heuristic, then spouses.",
        reference="Peña, Nilsson, Björkegren, Tegnér (2007) Towards scalable and data efficient learning of Markov "
        "boundaries, International Journal of Approximate Reasoning 45(2), 211-232, "
        "doi:10.1016/j.ijar.2006.06.008.",
        guarantee=CORRECTED_MB_GUARANTEE,
        work="spouses",
        cost=MB_COST,
    )
    find: ClassVar[FindNeighbours] = staticmethod(interleaved_max_min_neighbours)
