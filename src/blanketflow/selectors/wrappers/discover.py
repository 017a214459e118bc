"""Discoveries at a false discovery rate, with their levels and the effect that would have been found."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ...core.cards import Card
from ...core.parameters import choice, number
from ...moves.steps import Step
from ..base import Method, Problem
from .dcrt import DCRT
from .knockoffs import Knockoffs

TESTS, KNOCKOFFS = "dcrt", "knockoffs"
#: Share of each test's level for effects of squares: they are found, and few linear effects lost (studies/discover).
SQUARES = 0.1
#: Tests are weighted for effects of so many standard errors: more is found than without weights (studies/discover).
WEIGHTING = 3.0
#: Probability of finding an effect of the size that is named.
POWER = 0.8


@dataclass
class Discover(Method):
    """Keep the features that are discoveries at a false discovery rate.

    A discovery is a feature that says something about the target that no other feature says. By default each feature is
    tested given all others (`DCRT`), which can find a single feature; on tables of twelve shapes it found more than
    `Knockoffs`, or about as many (studies/discover). These compare features with synthetic copies, and find ten or
    more, or none, at a level of 0.1. Tests have more of the level where other features agree with them. A tenth of each
    test's level goes to effects of squares; products and other effects without a linear or quadratic part are not
    found.

    `discoveries_` has each feature with the smallest level at which it is a discovery. The verdict says what was found
    at `q`, what more at higher levels, and how large an effect had to be in order to be found. Near-copies of a feature
    count as one discovery.

    Grow runs the procedure; shrink keeps what it found.

    Notes
    -----
    No rate is proved: the covariance of the features is estimated, and the Benjamini-Hochberg correction of dCRT is for
    p-values that are independent or positively dependent. docs/error-control.md has measured rates. Fix the level
    before you see the result; only the levels of knockoffs may be chosen afterwards.

    The effect that is named is a partial correlation, of a Gaussian target: the test of one more feature at the level
    that the next discovery needs would have found it with a probability of 0.8.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> y = X[:, 3] + 0.5 * X[:, 7] + np.random.default_rng(1).normal(size=300)
    >>> found = bf.Discover(q=0.1).fit(X, y)
    >>> found.selected_features_
    ['x3', 'x7']
    >>> found.discoveries_["q"].iloc[1] < 0.001
    np.True_
    """

    card: ClassVar[Card] = Card(
        id="discover",
        name="discoveries at a false discovery rate",
        family="wrapper",
        summary="Keeps what dCRT or knockoffs find at a false discovery rate, and says what could have been found.",
        reference="Liu, Katsevich, Janson, Ramdas (2022) Fast and powerful conditional randomization testing via "
        "distillation, Biometrika 109(2), 277-293, doi:10.1093/biomet/asab039; Candes, Fan, Janson, Lv (2018) Panning "
        "for gold: model-X knockoffs for high dimensional controlled variable selection, JRSS B 80(3), 551-577, "
        "doi:10.1111/rssb.12265.",
        guarantee="none is proved: the covariance is estimated, and the correction is not for any dependence; see dcrt "
        "and knockoffs for what is proved of them with a known covariance",
        work="knockoffs",
        cost="that of dcrt or knockoffs",
        importance="that of the procedure",
    )
    default_test: ClassVar[str | None] = None
    looks_at_table: ClassVar[bool] = True

    q: float = number(0.1, "False discovery rate.", above=0, below=1)
    procedure: str = choice(
        TESTS,
        "How discoveries are made: tests of each feature given all others (dcrt), or synthetic copies (knockoffs).",
        (TESTS, KNOCKOFFS),
    )

    def proves_one_search(self) -> bool:
        """Whether the guarantee holds for one search only: yes."""
        return True

    def grow(self, problem: Problem) -> list[Step]:
        """Run the procedure, and admit what it keeps, most important first."""
        features, target = problem.table.select(problem.features), problem.table[problem.target]
        method: Method = Knockoffs(q=self.q)
        if self.procedure == TESTS:
            method = DCRT(alpha=self.q, squares=SQUARES, weighting=WEIGHTING)
        limits = replace(problem.limits, check_time=problem.check_time)
        found = problem.search(method, None, features, target, problem.seed, limits, finds_stand_ins=False)
        problem.say(found.status, found.reason)
        problem.verdict.update(found.verdict)
        if self.procedure == TESTS:
            level = (1 - SQUARES) * self.q * (len(found.members) + 1) / max(len(problem.features), 1)
            least = effect_found(features.n_rows, level)
            problem.verdict["sentence"] += (
                f" A partial correlation of {least:.2f} would have been found with a probability of {POWER:g}."
            )
        return [replace(step, kept=True) for step in found.members]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterable[Step]:
        """Keep all: the procedure has decided."""
        return candidates


def effect_found(n_rows: int, level: float) -> float:
    """Return the partial correlation that a two-sided test at a level finds with probability `POWER`, from 0 to 1.

    By Fisher's z with variance 1 / n.

    >>> round(effect_found(400, 0.05), 2)
    0.14
    """
    from scipy.special import ndtri

    return math.tanh((ndtri(1 - min(level, 1.0) / 2) + ndtri(POWER)) / math.sqrt(n_rows))
