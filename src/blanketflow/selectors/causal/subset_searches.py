"""Searches that separate features by subsets of the others: parents and children by four rules, then with spouses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...moves.neighbours import FindNeighbours
from ...moves.parents_and_children import (
    interleaved_max_min_neighbours,
    interleaved_neighbours,
    level_wise_neighbours,
    max_min_neighbours,
    semi_interleaved_neighbours,
)
from .corrected_neighbours import (
    CORRECTED_MB_GUARANTEE,
    CORRECTION_REFERENCE,
    PC_GUARANTEE,
    CorrectedParentsAndChildren,
    NeighboursAndSpouses,
)
from .neighbours_and_spouses import MB_COST, PC_COST


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
