"""Alpha-investing: features are tested once, in order, at a level that discoveries raise and failures lower."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..ci.base import BoundTest
from .steps import Step, step
from .strength import is_dependent

#: Wealth at the beginning, and what a discovery earns (Zhou et al. 2006).
WEALTH, PAYOUT = 0.5, 0.5


def alpha_investing(
    test: BoundTest, target: str, ordered: Sequence[str], wealth: float = WEALTH, payout: float = PAYOUT
) -> Iterator[Step]:
    """Admit each feature that depends on the target given those admitted, at the level that the wealth allows.

    The i-th feature is tested at alpha_i = W / 2i, which it costs; an admission, p < alpha_i, earns the payout. So the
    wealth is never spent, and with the default values few of those admitted are false.

    Parameters
    ----------
    test : BoundTest
        The bound CI test.
    target : str
        The target.
    ordered : sequence of str
        Features in the order of the tests.
    wealth : float
        What may be spent at the beginning, W0.
    payout : float
        What an admission earns.

    Yields
    ------
    Step
        One decision a feature, in order; one test each.

    References
    ----------
    Zhou, Foster, Stine, Ungar (2006) Streamwise feature selection, JMLR 7, 1861-1885.
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
