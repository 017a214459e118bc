"""Iterative parents and children Markov blanket (IPC-MB)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.neighbours import FindNeighbours
from ...search.parents_and_children import level_wise_neighbours
from .corrected_neighbours import CORRECTED_MB_GUARANTEE, NeighboursAndSpouses
from .neighbours_and_spouses import MB_COST


@dataclass
class IPCMB(NeighboursAndSpouses):
    """Find parents and children by level-wise elimination from all features, and then spouses.

    Notes
    -----
    Repaired: the published text looks for spouses while it still corrects for symmetry, and loses some. Here all
    symmetry corrections come first, and a spouse is tested given what separates it from the target.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.IPCMB(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="ipc-mb",
        name="IPC-MB (repaired)",
        family="causal",
        summary="Parents and children by level-wise elimination, then spouses; repaired.",
        reference="Fu, Desmarais (2008) Fast Markov blanket discovery algorithm via local learning within single "
        "pass, Canadian AI, 96-107, doi:10.1007/978-3-540-68825-9_10.",
        guarantee=CORRECTED_MB_GUARANTEE,
        work="spouses",
        cost=MB_COST,
    )
    find: ClassVar[FindNeighbours] = staticmethod(level_wise_neighbours)
