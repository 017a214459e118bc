"""Max-min Markov blanket (MMMB)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.neighbours import FindNeighbours
from ...search.parents_and_children import max_min_neighbours
from .corrected_neighbours import CORRECTED_MB_GUARANTEE, NeighboursAndSpouses
from .neighbours_and_spouses import MB_COST


@dataclass
class MMMB(NeighboursAndSpouses):
    """Find parents and children as MMPC does, and then spouses among the neighbours of neighbours.

    All symmetry corrections come before the first spouse is looked for.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.MMMB(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="mmmb",
        name="max-min Markov blanket (MMMB)",
        family="causal",
        summary="Parents and children by the max-min heuristic, then spouses.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Time and sample efficient discovery of Markov blankets and "
        "direct causal relations, KDD, 673-678, doi:10.1145/956750.956838.",
        guarantee=CORRECTED_MB_GUARANTEE,
        work="spouses",
        cost=MB_COST,
    )
    find: ClassVar[FindNeighbours] = staticmethod(max_min_neighbours)
