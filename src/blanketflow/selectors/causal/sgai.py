"""Selection via group alpha-investing (SGAI)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ...ci.base import BoundTest
from ...core.cards import Card
from ...core.parameters import number
from ...moves.steps import Step, step
from ...moves.strength import is_dependent
from ..base import Problem, members
from .res import RES

#: The initial wealth, and the payout of an admission (Zhou et al. 2006).
WEALTH, PAYOUT = 0.5, 0.5


@dataclass
class SGAI(RES):
    """Visit the representative sets one at a time, and admit features by alpha-investing.

    The sets are formed as by RES. The set of the strongest member comes first; within a set, features are ordered by
    their dependence on the target. Every feature is tested once, given all features admitted so far, at the level
    alpha_i = W / 2i; the wealth W is carried over from set to set.

    Notes
    -----
    The conditioning set is everything admitted so far, without limit. Therefore the default test is a regression:
    contingency tables would run out of rows. `max_k` bounds the search for the sets only.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.SGAI(ci_test="fisher-z").fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="sgai",
        name="selection via group alpha-investing (SGAI)",
        family="causal",
        summary="Alpha-investing through the representative sets, one set at a time.",
        reference="Yu, Wu, Ding, Mu, Wang (2017) Markov blanket feature selection using representative sets, IEEE "
        "TNNLS 28(11), 2775-2788, doi:10.1109/TNNLS.2016.2602365; alpha-investing: Zhou, Foster, Stine, "
        "Ungar (2006) JMLR 7, 1861-1885.",
        guarantee="none",
        cost="the tests of res, and one for each feature of a representative set",
    )
    default_test: ClassVar[str | None] = "lr-mixed"

    wealth: float = number(WEALTH, "Initial wealth W; the first test is at level W / 2.", above=0, at_most=1)
    payout: float = number(PAYOUT, "What an admission adds to the wealth.", above=0, at_most=1)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Test each candidate once given those admitted."""
        ordered: list[Step] = []
        for group in dict.fromkeys(candidate.group for candidate in candidates):
            ordered += members([candidate for candidate in candidates if candidate.group == group])
        decisions = alpha_investing(
            problem.test, problem.target, [c.feature for c in ordered], self.wealth, self.payout
        )
        for candidate, decision in zip(ordered, decisions, strict=True):
            yield replace(decision, role=candidate.role, group=candidate.group)


def alpha_investing(
    test: BoundTest, target: str, ordered: Sequence[str], wealth: float = WEALTH, payout: float = PAYOUT
) -> Iterator[Step]:
    """Admit each feature that depends on the target given the admitted ones, at the level that the wealth allows.

    The i-th feature is tested at alpha_i = W / 2i, which is taken from the wealth W. An admission (p < alpha_i) earns
    the payout. So the wealth never runs out, and with the default values few admissions are false.

    Each feature is tested once, in order.
    """
    admitted: list[str] = []
    for i, feature in enumerate(ordered, start=1):
        alpha = wealth / (2 * i)
        result = test.test(feature, target, given=admitted)
        kept = is_dependent(test, result, alpha) and result.log_p < math.log(alpha)
        yield step(feature, result, admitted, kept=kept)
        wealth -= alpha
        if kept:
            wealth += payout
            admitted = [*admitted, feature]
