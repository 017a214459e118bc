"""Searches that separate features by subsets of others: for parents and children (four rules), then for spouses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...ci.multiple_testing import CORRECTIONS, NONE, rejected
from ...ci.unbound import why_a_correction_admits_none
from ...core.cards import Card
from ...core.parameters import choice
from ...moves.equivalent_information import leans_on
from ...moves.neighbours import FindNeighbours
from ...moves.parents_and_children import (
    interleaved_max_min_neighbours,
    interleaved_neighbours,
    level_wise_neighbours,
    max_min_neighbours,
    semi_interleaved_neighbours,
)
from ...moves.steps import PARENT_OR_CHILD, Step, is_dependent, step
from ..base import Problem
from .neighbours_and_spouses import MB_COST, MB_GUARANTEE, PC_COST, Neighbourhoods, ParentsAndChildren

#: Shared card texts.
PC_GUARANTEE = (
    'exact parents and children with symmetry "and", exact tests, faithful data and no limit on conditioning sets; a '
    'superset of them without the symmetry correction; with correction and symmetry "and", false discovery rate at '
    "most alpha in one search (by; bh if p-values are independent or positively dependent), if p-values are valid and "
    "a tested set separates every feature that is no parent or child, as on faithful data if no parent or child is "
    "missed, none is taken to say the same as another, and max_k does not bind; nothing is proved for finite samples, "
    "where some are missed"
)
CORRECTION_REFERENCE = (
    "Correction: Tsamardinos, Brown (2008) Bounding the false discovery rate in local Bayesian network learning, "
    "AAAI 23."
)
CORRECTED_MB_GUARANTEE = (
    MB_GUARANTEE
    + "; with correction no false discovery rate is proved: which child makes a feature a spouse, and given "
    "which set, is chosen on the same rows"
)


@dataclass
class CorrectedParentsAndChildren(ParentsAndChildren):
    """Base class of methods that return parents and children, with an optional correction for many tests.

    A feature that is no parent or child is independent of the target given some set. Its largest p-value over all tests
    is at least the one given that set, and so is valid. The largest p-values of all features are one family; features
    that the search removed have p > alpha, which no correction rejects.

    Notes
    -----
    The publication was not available; details follow secondary descriptions and may differ.
    """

    correction: str = choice(
        NONE,
        "How shrinking corrects the largest p-value of each member for as many tests as there are features: not at all "
        "(none, the papers), by the false discovery rate at alpha (bh, Benjamini and Hochberg; by, Benjamini and "
        "Yekutieli, under any dependence), or by alpha / d (bonferroni).",
        CORRECTIONS,
    )

    def proves_one_search(self) -> bool:
        """Whether the guarantee holds for one search only: with a correction."""
        return self.correction != NONE

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Remove candidates whose own search does not find the target, then those the correction does not reject."""
        if self.correction == NONE:
            yield from super().shrink(problem, candidates)
            return
        near = self.neighbourhoods(problem)
        yield from near.lost_by_symmetry(problem.target)
        members = self.members(near, problem.target)
        log_p = np.zeros(len(problem.features))
        log_p[: len(members)] = [-member.importance for member in members]
        is_rejected = rejected(log_p, self.alpha, self.correction)
        if not is_rejected.any():
            test = problem.test.test_config
            if why := why_a_correction_admits_none(test, log_p, self.alpha, self.correction):
                problem.say("unreliable", why)
        for i, member in enumerate(members):
            yield replace(member, kept=bool(is_rejected[i]))

    def members(self, near: Neighbourhoods, target: str) -> list[Step]:
        """Return parents and children with their largest p-values, which are corrected."""
        return near.with_weakest_tests(target)


@dataclass
class NeighboursAndSpouses(CorrectedParentsAndChildren):
    """Base class of methods that return the Markov blanket: parents and children, then the children's other parents.

    With a correction, the p-value of a parent or child is the largest in both searches. That of a spouse is the largest
    of its own test and its child's links to the target and to it, since a spouse is false if any of these is. All
    features are one family.
    """

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Apply the symmetry correction, then add spouses, then remove what a correction does not reject."""
        decisions = list(super().shrink(problem, candidates))
        if self.correction == NONE:
            decisions += self.neighbourhoods(problem).spouses(problem.target)
        yield from decisions
        if self.correction == NONE:
            yield from self._restored(problem, decisions)

    def _restored(self, problem: Problem, decisions: Sequence[Step]) -> Iterator[Step]:
        """Restore members that the symmetry correction removed although the target depends on them given the others.

        A member's search can separate the target by columns that the target's search removed given members that are
        lost too; their information would be lost. With exact tests the target depends on nothing given its blanket, so
        no restoration is wrong.
        """
        found = self.neighbourhoods(problem).found(problem.target)
        held = [decision.feature for decision in decisions if decision.kept]
        lost = {d.feature: d.given or () for d in decisions if not d.kept and d.feature in found.weakest}
        for member in [feature for feature in found.weakest if feature in lost and feature not in held]:
            if any(leans_on(lost[member], other, found.separating_sets, found.staying) for other in lost):
                result = problem.test.test(member, problem.target, given=held)
                if is_dependent(problem.test, result, self.alpha):
                    yield step(member, result, held, role=PARENT_OR_CHILD)
                    held = [*held, member]

    def proves_one_search(self) -> bool:
        """Whether the guarantee holds for one search only: no."""
        return False

    def members(self, near: Neighbourhoods, target: str) -> list[Step]:
        """Return parents, children and spouses, each with its largest p-value."""
        return [*super().members(near, target), *near.spouses_with_weakest_tests(target)]


@dataclass
class HITONPC(CorrectedParentsAndChildren):
    """Admit features by decreasing marginal dependence, and test all members again after each admission.

    A feature is admitted unless a subset of the members separates it from the target. A member is removed if a subset
    with the new feature separates it. Finally, candidates whose own search does not find the target are removed.

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
    """Admit features by decreasing marginal dependence, testing each on entry; test all members again at the end.

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
    """Admit the feature whose minimum dependence on the target over all subsets of the admitted ones is largest.

    Features that a subset separates from the target are removed, and each member is tested again at the end. Then
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
    """Start from all features and remove, level by level, those that a set of others separates, of increasing size.

    Then candidates whose own search does not find the target are removed. ``symmetry: none`` is the original algorithm,
    made for regression, where every neighbour is a cause.

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
    """Find parents and children as HITON-PC does, then spouses among the neighbours of neighbours.

    All symmetry corrections come before the search for spouses.

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
    """Find parents and children as MMPC does, then spouses among the neighbours of neighbours.

    All symmetry corrections come before the search for spouses.

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
    """Find parents and children by the max-min heuristic with elimination after each admission, then spouses.

    All symmetry corrections come before the search for spouses.

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
    """Find parents and children by level-wise elimination from all features, then spouses.

    Notes
    -----
    Repaired: the published algorithm searches for spouses before all symmetry corrections are done, and loses some.
    Here all symmetry corrections come first, and a spouse is tested given the set that separates it from the target.

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
