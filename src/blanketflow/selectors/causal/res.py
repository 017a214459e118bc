"""The union of the representative sets (RES)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...moves.parents_and_children import interleaved_neighbours
from ...moves.steps import MEMBER, Step, step
from ...moves.strength import strongest_first
from ..base import Method, Problem
from .neighbours_and_spouses import SYMMETRIES, Neighbourhoods, neighbourhoods


@dataclass
class RES(Method):
    """Keep the parents and children that HITON-PC finds, and the parents and children of each of these.

    Where data are not faithful, several sets can be Markov blankets: a feature's neighbours may stand in for it. The
    representative set of a parent or child of the target is that feature and its own parents and children without the
    target; steps carry its name as `group`. A feature of several sets is in the set of the strongest member. Importance
    is the dependence on the target given nothing.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> found = set(bf.RES(ci_test="fisher-z", alpha=0.01).fit(X, y).selected_features_)
    >>> found >= set(bf.HITONPC(ci_test="fisher-z", alpha=0.01).fit(X, y).selected_features_)
    True
    """

    card: ClassVar[Card] = Card(
        id="res",
        name="representative sets (RES)",
        family="causal",
        summary="Parents and children, and their own parents and children.",
        reference="Yu, Wu, Zhang, Mu, Wang, Ding (2013) Markov blanket feature selection with non-faithful data "
        "distributions, IEEE ICDM, doi:10.1109/ICDM.2013.154.",
        guarantee="superset of the Markov blanket with exact tests, faithful data and no limit on conditioning sets",
        work="neighbours",
        cost="|PC| + 1 searches for parents and children: each d tests, then at most d 2^|PC| given up to max_k",
        importance="ln(1/p) of its test with the target given nothing, in nats: 3.0 for p = 0.05",
    )
    why_no_correction: ClassVar[str] = (
        "it decides on sets of features that represent each other, and no p-value of one feature decides"
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"
    forms_groups: ClassVar[bool] = True

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(3, "Largest conditioning set; null for no limit.", at_least=0, nullable=True)
    symmetry: str = choice(
        "none",
        "Symmetry check of neighbours: found from both sides (and), from either side (or), or no check (none).",
        SYMMETRIES,
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit the representative sets, group by group, the strongest member's first."""
        near = neighbourhoods(problem, interleaved_neighbours, self.alpha, self.max_k, self.symmetry)
        return representative_sets(near, problem.target)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Remove nothing."""
        return candidates


def representative_sets(near: Neighbourhoods, target: str) -> Iterator[Step]:
    """Yield the features of all representative sets, group by group, the group of the strongest member first.

    A group contains a member of PC(T) and that member's own parents and children. No feature is in two groups: a member
    stays in its own group, and a feature that is a neighbour of several members is in the group of the member with the
    strongest marginal dependence on the target.

    The group of a step is the member's name, and its importance the marginal dependence on the target. Its test is the
    one that admitted it: with the target for a member, with the member for the others.
    """
    members = {member.feature: member for member in near.parents_and_children(target)}
    if not members:
        return
    marginal = near.test.test_many(list(members), target)
    taken = {target, *members}
    for name in [list(members)[i] for i in strongest_first(marginal)]:
        others = [other for other in near.parents_and_children(name) if other.feature not in taken]
        taken.update(other.feature for other in others)
        for found in (members[name], *(replace(other, role=MEMBER) for other in others)):
            dependence = step(found.feature, near.test.test(found.feature, target)).importance
            yield replace(found, group=name, importance=dependence)
