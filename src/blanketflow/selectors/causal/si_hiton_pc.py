"""Semi-interleaved HITON parents and children (SI-HITON-PC)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.forward_neighbours import semi_interleaved_neighbours
from ...search.neighbours import FindNeighbours
from .neighbourhood import ParentsAndChildren


@dataclass
class SIHITONPC(ParentsAndChildren):
    """Take features by their marginal dependence, each tried on entry; the members are tried again once, at the end.

    Then candidates whose own search does not hold the target are removed.

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
        "induction for causal discovery and feature selection for classification part I, JMLR 11, 171-234.",
        guarantee="exact parents and children with symmetry and, exact tests, faithful data and no limit on "
        "conditioning sets; a superset of them without the symmetry correction",
        work="neighbours",
        cost="d tests, then at most d 2^|PC| of up to max_k conditions; the same for each candidate with a "
        "symmetry correction",
    )
    find: ClassVar[FindNeighbours] = staticmethod(semi_interleaved_neighbours)
