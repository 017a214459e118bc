"""Grow-shrink (GS), over sets of up to m features (GS(m)), and its randomised form, RGS(m, k)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...ci.multiple_testing import CORRECTIONS, NONE, rejected
from ...core.cards import Card
from ...core.parameters import choice, integer, number
from ...core.results import CIResult
from ...core.seeds import derive_rng
from ...moves.backward import remove_until_stable
from ...moves.forward import BONFERRONI, Propose, admit_sets, every_set, random_sets, scan_until_stable
from ...moves.steps import INCLUDED, MEMBER, Step, counts, is_dependent, step, strength_of, strongest_first
from ..base import Method, Problem

#: Shared card text of searches that test each member given all others.
CORRECTION_GUARANTEE = (
    "; with correction, each kept feature is rejected given the other kept ones, but these were chosen on the same "
    "rows: no false discovery rate is proved"
)


@dataclass
class GS(Method):
    """Scan features by decreasing dependence, and admit each that depends on the target given the admitted ones.

    Scans repeat until one admits none. Then members that are independent given the others are removed until none is.

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

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Remove members that are independent given the rest, or that the correction does not reject."""
        names = [candidate.feature for candidate in candidates]
        if names and self.correction != NONE:
            yield from remove(problem, names, self.alpha, self.correction)
        elif names:
            yield from remove_until_stable(problem.test, problem.target, names, self.alpha, staying=problem.included)


def remove(problem: Problem, candidates: Sequence[str], alpha: float, correction: str) -> Iterator[Step]:
    """Remove the weakest member that the correction does not reject, repeatedly; then decide on the members.

    Each member is tested given the others. The family is all features; those that are not members have p = 1. Included
    features are never removed.
    """
    members = list(candidates)
    while True:
        held = tests_of_members(problem, members)
        is_rejected = rejected(log_p_of(problem, held, alpha), alpha, correction)
        leaving = weakest_to_leave(problem, members, held, is_rejected)
        if leaving is None:
            break
        yield step(members[leaving], held[leaving], without(members, members[leaving]), kept=False)
        del members[leaving]
    for i, feature in enumerate(members):
        was_asked_for = feature in problem.included and not is_rejected[i] and counts(problem.test, held[i])
        role = INCLUDED if was_asked_for else MEMBER
        yield step(feature, held[i], without(members, feature), role=role)


def without(members: Sequence[str], feature: str) -> list[str]:
    """Return all members but one."""
    return [member for member in members if member != feature]


def tests_of_members(problem: Problem, members: Sequence[str]) -> list[CIResult]:
    """Test each member given the others."""
    return [problem.test.test(member, problem.target, given=without(members, member)) for member in members]


def log_p_of(problem: Problem, results: Sequence[CIResult], alpha: float) -> np.ndarray:
    """Return one log p per feature of the problem, 0 where p > alpha."""
    log_p = np.zeros(len(problem.features))
    log_p[: len(results)] = [result.log_p if is_dependent(problem.test, result, alpha) else 0.0 for result in results]
    return log_p


def weakest_to_leave(
    problem: Problem, members: Sequence[str], held: Sequence[CIResult], is_rejected: np.ndarray
) -> int | None:
    """Return the position of the weakest member to remove, or None."""
    leaving = [
        i
        for i, member in enumerate(members)
        if not is_rejected[i] and member not in problem.included and counts(problem.test, held[i])
    ]
    return min(leaving, key=lambda i: strength_of(held[i]), default=None)


@dataclass
class GSM(GS):
    """Admit sets of up to m features that depend on the target jointly, even if no single one does.

    A scan tests all single features given the admitted ones, then pairs, up to sets of m, each as one joint variable.
    The strongest set of the first size with a dependent set is admitted, and a new scan begins. After a scan without
    admission, members that are independent given the rest are removed one at a time.

    Notes
    -----
    Finds parities of up to m features, but not of more. A scan of d features costs d^m / m! tests. With m = 1 and no
    correction it is GS, except that each admission starts a new scan.

    `correction` applies to growing only: alpha is divided by the number of sets of up to m features outside. Shrinking
    tests single features at alpha.

    Examples
    --------
    >>> import blanketflow as bf
    >>> import pandas as pd
    >>> from blanketflow.data.simulate.near_parity import near_parity
    >>> table = near_parity(10, noise=0.1, seed=1).sample(500, seed=1)
    >>> X = pd.DataFrame({column.name: column.values for column in table.columns})
    >>> y = X.pop("x1")  # the parity of x2, x3 and x4 in nine rows of ten
    >>> sorted(bf.GSM(m=3).fit(X, y).selected_features_)
    ['x2', 'x3', 'x4']
    """

    card: ClassVar[Card] = Card(
        id="gs-m",
        name="GS(m)",
        family="causal",
        summary="Grow-shrink over sets of up to m features, each tested as one variable: finds parities of m features.",
        reference="Margaritis (2009) Toward provably correct feature selection in arbitrary domains, NIPS 22, "
        "1240-1248, Algorithm 1.",
        guarantee="exact Markov blanket with exact tests, faithful data and no limit on conditioning sets; without "
        "faithfulness an m-Markov boundary (Definition 3 of the paper)",
        work="sets",
        cost="all sets of up to m of d features per scan, about d^m / m!; at most |S| + 1 scans; at most |S|^2 tests "
        "in the backward pass",
    )

    m: int = integer(2, "Largest set of features tested together.", at_least=1)
    max_k: int | None = integer(
        None,
        "Largest conditioning set, including the other members of the tested set; null for no limit.",
        at_least=0,
        nullable=True,
    )
    correction: str = choice(
        BONFERRONI,
        "How growing corrects for many tests: bonferroni divides alpha by the number of sets of up to m features "
        "outside; none admits noise once there are dozens of features.",
        (BONFERRONI, NONE),
    )

    def tests_sets(self) -> bool:
        """Whether sets are larger than one feature."""
        return self.m > 1

    def grow(self, problem: Problem) -> Iterator[Step]:
        """Scan all sets by size."""
        return self._admit(problem, every_set)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Remove members that are independent given the rest."""
        names = [candidate.feature for candidate in candidates]
        if names:
            yield from remove_until_stable(problem.test, problem.target, names, self.alpha, staying=problem.included)

    def _admit(self, problem: Problem, propose: Propose) -> Iterator[Step]:
        """Admit the strongest proposed set in each scan."""
        yield from problem.admit_included()
        yield from admit_sets(
            problem.test,
            problem.target,
            problem.features,
            propose,
            self.alpha,
            self.m,
            self.max_k,
            self.correction,
            start=problem.included,
        )


@dataclass
class RGSMK(GSM):
    """Admit the strongest of k random sets of up to m features until it is independent; then shrink as GS does.

    New sets are drawn after every admission, with probability proportional to the sum of their members' weights 1/p,
    from each member's test given the admitted ones. The paper (``draw_by="set"``) draws among all sets of 1 to m
    features; by default the size is drawn uniformly, then a set of that size. Up to k sets in all are all tested.

    Notes
    -----
    With the paper's rule nearly all drawn sets have m features, and a single tiny p-value dominates. With
    ``draw_by="size"`` weights are limited to the number of features outside, so that one feature is in at most about
    half of the draws.

    A scan takes d + k tests instead of the d^m / m! of GS(m), but finds only drawn sets. Features with only a joint
    effect are drawn like irrelevant ones, since their 1 / p is not informative.

    `correction` divides alpha in growing by the number of all sets of up to m features outside, not by k, since the k
    sets are chosen by the data that test them.

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
