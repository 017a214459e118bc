"""Grow-shrink (GS)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...ci.multiple_testing import CORRECTIONS, NONE
from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...moves.backward import remove_until_stable
from ...moves.forward import scan_until_stable
from ...moves.steps import Step
from ...moves.strength import strongest_first
from ..base import Method, Problem
from . import corrected_members

#: What the cards say alike of searches that test each member given all others.
CORRECTION_GUARANTEE = (
    "; with correction, each kept feature is rejected given the other kept ones, but these were chosen on the same "
    "rows: no false discovery rate is proved"
)


@dataclass
class GS(Method):
    """Scan features in decreasing dependence, admitting any that depends on the target given the admitted ones.

    Scans repeat until one admits none; then members that are independent given the rest are removed, until none is.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.GS(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="gs",
        name="grow-shrink (GS)",
        family="causal",
        summary="Forward scans given the set so far, then a backward pass until nothing leaves.",
        reference="Margaritis, Thrun (1999) Bayesian network induction via local neighborhoods, NIPS 12, 505-511.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets"
        + CORRECTION_GUARANTEE,
        cost="d tests per scan, at most |MB| + 1 scans on faithful data; at most |S|^2 tests in the backward pass",
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"

    anytime: ClassVar[bool] = True

    alpha: float = number(0.05, "Significance level.", above=0, below=1)
    max_k: int | None = integer(None, "Largest conditioning set; null for no limit.", at_least=0, nullable=True)
    correction: str = choice(
        NONE,
        "How shrinking corrects the p-values of the members, each given the others, for as many tests as there are "
        "features: not at all (none, the paper), by the false discovery rate at alpha (bh, Benjamini and Hochberg; by, "
        "Benjamini and Yekutieli, under any dependence), or by alpha / d (bonferroni).",
        CORRECTIONS,
    )

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Scan in order of the marginal dependence."""
        order = [problem.features[i] for i in strongest_first(problem.marginal)]
        yield from problem.admit_included()
        yield from scan_until_stable(
            problem.test, problem.target, order, self.alpha, self.max_k, start=problem.included
        )

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterator[Step]:
        """Remove false positives until none is left; with a correction, what it does not reject given the others."""
        names = [candidate.feature for candidate in candidates]
        if names and self.correction != NONE:
            yield from corrected_members.remove(problem, names, self.alpha, self.correction)
        elif names:
            yield from remove_until_stable(problem.test, problem.target, names, self.alpha, staying=problem.included)
