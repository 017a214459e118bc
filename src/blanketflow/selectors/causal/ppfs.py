"""Predictive permutation feature selection (PPFS)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import number
from ...search.backward import remove_in_one_pass
from ...search.steps import Step, step
from ...search.strength import strongest_first
from ..base import Method, Problem


@dataclass
class PPFS(Method):
    """Admit every feature that the PPI test finds dependent given nothing; then test each given the rest, once.

    Algorithm 2 of the paper: candidates are ordered by importance log(1/p) (ties: mean risk difference, then column
    order); the shrink phase visits the least important first and does not restart; a last single feature stays.
    With ``n_folds > 1`` the folds' blankets are aggregated by frequency score (eq. 6-8).

    Notes
    -----
    Growth is marginal, so a spouse that is independent of the target given nothing is missed: the paper's proof of
    correctness does not hold, and the card claims nothing. `significance` of the PPI test decides how many false
    positives enter; see `blanketflow.ci.ppi.PPI`.

    References
    ----------
    Hassan, Paik, Khare, Hassan (2021) PPFS: Predictive Permutation Feature Selection, arXiv:2110.10713.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.PPFS(n_repeats=10, random_state=0).fit(X, y).selected_features_[0].startswith("petal")
    True
    """

    card: ClassVar[Card] = Card(
        id="ppfs",
        name="PPFS",
        family="causal",
        summary="Marginal growth and one conditional backward pass by the PPI test, aggregated over folds.",
        reference="Hassan, Paik, Khare, Hassan (2021) PPFS: Predictive Permutation Feature Selection, "
        "arXiv:2110.10713.",
        guarantee="none: marginally independent spouses are missed",
        cost="d marginal tests and one test a candidate; n_repeats model fits a test, shared within a set",
    )
    default_test: ClassVar[str | None] = "ppi"
    anytime: ClassVar[bool] = True
    test_shorthands: ClassVar[tuple[str, ...]] = ("n_repeats", "model", "test_size", "significance")

    alpha: float = number(0.05, "Significance level.", above=0, below=1)

    def grow(self, problem: Problem) -> list[Step]:
        """Admit p <= alpha, most important first; no test beyond the marginal ones."""
        results = problem.marginal
        admitted = (i for i in strongest_first(results) if results.log_p[i] <= math.log(self.alpha))
        return [step(problem.features[i], results[i]) for i in admitted]

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Test each candidate given the rest, least important first, at most one test a candidate."""
        if len(candidates) < 2:
            return list(candidates)
        return remove_in_one_pass(problem.test, problem.target, candidates[::-1], self.alpha)
