"""The union of the representative sets (RES)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...search.forward_neighbours import interleaved_neighbours
from ...search.neighbourhoods import SYMMETRIES
from ...search.representative_sets import representative_sets
from ...search.steps import Step
from ..base import Method, Problem
from .neighbourhood import neighbourhoods


@dataclass
class RES(Method):
    """Keep the parents and children that HITON-PC finds, and the parents and children of each of these.

    Where data are not faithful, several sets can be Markov blankets: a feature's neighbours may stand in for it. The
    representative set of a parent or child of the target is that feature and its own parents and children without the
    target; steps carry its name as `group`. A feature of several sets is in that of the strongest, see
    `blanketflow.search.representative_sets`. Importance is the dependence on the target given nothing.

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
        cost="|PC| + 1 searches for parents and children: each d tests, then at most d 2^|PC| of up to max_k given",
    )
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
