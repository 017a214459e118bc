"""Alpha-investing: features are tested once, in order, at a level that admissions raise and rejections lower."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..ci.base import BoundTest
from .steps import Step, step
from .strength import is_dependent

#: The initial wealth, and the payout of an admission (Zhou et al. 2006).
WEALTH, PAYOUT = 0.5, 0.5


def alpha_investing(
    test: BoundTest, target: str, ordered: Sequence[str], wealth: float = WEALTH, payout: float = PAYOUT
) -> Iterator[Step]:
    """Admit each feature that depends on the target given the admitted ones, at the level that the wealth allows.

    The i-th feature is tested at alpha_i = W / 2i, which is taken from the wealth W. An admission (p < alpha_i) earns
    the payout. So the wealth never runs out, and with the default values few admissions are false.

    Parameters
    ----------
    test : BoundTest
        The bound CI test.
    target : str
        The target.
    ordered : sequence of str
        Features in the order of the tests.
    wealth : float
        The initial wealth W0.
    payout : float
        The amount that an admission earns.

    Yields
    ------
    Step
        One decision per feature, in order. Each costs one test.

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
