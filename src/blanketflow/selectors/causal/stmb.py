"""Simultaneous Markov blanket discovery (STMB)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import integer, number
from ...search.coexistence import Coexistence
from ...search.level_wise import level_wise_neighbours
from ...search.neighbours import Neighbours
from ...search.steps import Step
from ..base import Method, Problem
from .neighbourhood import neighbourhoods


@dataclass
class STMB(Method):
    """Find parents and children by level-wise elimination; find spouses among all others, and let them remove more.

    A feature outside is a spouse by a neighbour X when adding X to the set that separated it makes it dependent. Each
    spouse found may separate further neighbours, which are descendants and no children. No other feature's
    neighbourhood is searched. Two backward passes come last: over spouses, then over neighbours, each given all the
    rest.

    Notes
    -----
    Repaired: a neighbour removed given Z becomes a candidate spouse with Z as its separating set, the spouses found by
    it are dropped, and the search goes on until the neighbours are stable. The published text loses spouses.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.STMB(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="stmb",
        name="STMB (repaired)",
        family="causal",
        summary="Level-wise parents and children, spouses among all others, and neighbours removed by spouses; "
        "repaired.",
        reference="Gao, Ji (2017) Efficient Markov blanket discovery and its application, IEEE Transactions on "
        "Cybernetics 47(5), 1169-1179, doi:10.1109/TCYB.2016.2539338.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets",
        work="neighbours",
        cost="d tests, then at most d 2^|PC| of up to max_k conditions; |PC| d tests for spouses, 2^|PC| for each "
        "spouse found",
    )

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(
        3, "Largest conditioning set of the search for neighbours; null for no limit.", at_least=0, nullable=True
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Search for the target's parents and children; removals come first, then who stayed."""
        found = self._neighbours(problem)
        return [*found.removals, *found.members]

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Find spouses and remove neighbours by turns; then two backward passes."""
        found = self._neighbours(problem)
        search = Coexistence(problem.test, problem.target, problem.features, found, self.alpha, self.max_k)
        yield from search.settle()
        yield from search.remove_given_the_rest()

    def _neighbours(self, problem: Problem) -> Neighbours:
        near = neighbourhoods(problem, level_wise_neighbours, self.alpha, self.max_k, "none")
        return near.found(problem.target)
