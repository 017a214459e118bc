"""Inter-IAMB whose backward phase is the PC algorithm (inter-IAMB-nPC)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...search.steps import Step
from ..base import Problem
from .iamb_npc import IAMBnPC
from .inter_iamb import InterIAMB


@dataclass
class InterIAMBnPC(IAMBnPC):
    """Grow as inter-IAMB does; then learn the skeleton of target and candidates, and read the blanket off it.

    See `IAMBnPC` for the second phase, and `InterIAMB` for searches that go in circles.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.InterIAMBnPC(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="inter-iamb-npc",
        name="inter-IAMB-nPC (repaired)",
        family="causal",
        summary="Inter-IAMB's growth; then the PC algorithm, and the blanket read off its skeleton.",
        reference="Tsamardinos, Aliferis, Statnikov (2003) Algorithms for large scale Markov blanket discovery, "
        "FLAIRS 16, 376-381.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets; "
        "none with variant subset",
        cost="d tests per admission, and at most |S|^2 in the backward pass after it; then the PC algorithm on "
        "|S| + 1 columns",
    )

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit the strongest and remove false positives, alternately."""
        return InterIAMB(alpha=self.alpha).grow(problem)
