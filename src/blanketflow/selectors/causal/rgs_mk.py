"""Randomised grow-shrink over sets of up to m columns, RGS(m,k)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import choice, integer
from ...core.seeds import derive_rng
from ...search.joint_forward import random_sets
from ...search.steps import Step
from ..base import Problem
from .gs_m import GSM


@dataclass
class RGSMK(GSM):
    """Admit the strongest of k random sets of up to m features until it is independent; then shrink as GS does.

    Sets are drawn anew after every admission. The chance of a set is proportional to the sum of its members' weights
    1/p, where p is from the member's own test given the admitted ones: among all sets of 1 to m features in the paper
    (``draw_by="set"``), among those of one size, with sizes uniform, by default. Where there are no more than k sets,
    all are tested.

    Notes
    -----
    The default differs from the paper, in which nearly all sets that are drawn have m features, and one tiny p-value
    leads all draws. With ``draw_by="size"`` weights are at most the number of features outside, so that one feature
    leads about half of the draws at most.

    A scan takes d + k tests, where GS(m) takes d^m / m!. The price is that a set must be drawn to be found. Features
    that show their effect only together are drawn like all others, because their 1 / p says nothing.

    `correction` divides alpha in growing by the number of all sets of up to m features outside, not by k: the k sets
    are chosen by the same data that test them.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> "bmi" in bf.RGSMK(ci_test="fisher-z", k=100).fit(X, y).selected_features_
    True
    """

    card: ClassVar[Card] = Card(
        id="rgs-mk",
        name="RGS(m,k)",
        family="causal",
        summary="Grow-shrink that tests k random sets of up to m features per scan instead of all sets.",
        reference="Margaritis (2009) Toward provably correct feature selection in arbitrary domains, NIPS 22, "
        "1240-1248, Algorithm 2.",
        guarantee="none: a set that is not drawn is not found",
        cost="at most d + k tests per scan; at most |S| + 1 scans; at most |S|^2 tests in the backward pass",
    )

    m: int = integer(3, "Largest set of features tested together.", at_least=1)
    k: int = integer(1000, "Number of random sets per scan.", at_least=1)
    draw_by: str = choice("size", "Among which sets a weight is a chance: those of one size, or all.", ("size", "set"))

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Scan k random sets."""
        rng = derive_rng(problem.seed, "rgs-mk")
        propose = random_sets(problem.test, problem.target, self.k, rng, by_size=self.draw_by == "size")
        return self._admit(problem, propose)
