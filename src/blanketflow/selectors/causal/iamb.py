"""Incremental association Markov blanket (IAMB)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...ci.multiple_testing import CORRECTIONS, NONE
from ...core.cards import Card
from ...core.parameters import choice
from ...search.forward import admit_strongest
from ...search.steps import Step
from ..base import Problem
from . import iamb_fdr
from .gs import GS


@dataclass
class IAMB(GS):
    """Admit the feature that depends most on the target given the admitted ones, until none does; then shrink.

    Notes
    -----
    With a `correction` this is IAMB-FDR: before each admission, members leave that the correction does not reject, and
    it corrects the p-values of all features given the current members. `bnlearn` compares each p-value with the level
    of its own rank; this is the step-up procedure, which rejects at least as many.
    The publication was not at hand: this follows what others write of it, and details may differ.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> bf.IAMB(ci_test="fisher-z").fit(X, y).selected_features_[:2]
    ['s5', 'bmi']
    """

    card: ClassVar[Card] = Card(
        id="iamb",
        name="incremental association Markov blanket (IAMB)",
        family="causal",
        summary="Admits the strongest dependence given the set so far, one at a time; then a backward pass.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381. Correction: Peña (2008) Learning Gaussian graphical models of gene networks with false "
        "discovery rate control, EvoBIO, 165-176, doi:10.1007/978-3-540-78757-0_15.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets; with "
        "correction, the features kept are those that it rejects given the kept ones, and their false discovery rate "
        "would be at most alpha (by; bh if p-values are independent or positively dependent) if the kept ones were "
        "not chosen on the same rows: they are, so for finite samples nothing is proved",
        cost="d tests per admission; at most |S|^2 tests in the backward pass",
    )

    correction: str = choice(
        NONE,
        "How each step corrects the p-values of all features given the current members: not at all (none, IAMB), by "
        "the false discovery rate at alpha (bh, Benjamini and Hochberg; by, Benjamini and Yekutieli, under any "
        "dependence; IAMB-FDR), or by alpha / d (bonferroni).",
        CORRECTIONS,
    )

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Admit the strongest, one at a time; with a correction members leave in between."""
        if self.correction != NONE:
            yield from iamb_fdr.admit_and_remove(problem, self.alpha, self.correction, self.max_k)
            return
        yield from problem.admit_included()
        yield from admit_strongest(
            problem.test, problem.target, problem.features, self.alpha, self.max_k, start=problem.included
        )
