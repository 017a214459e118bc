"""Discoveries at a false discovery rate, by the procedure that suits the shape of the table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from ...core.cards import TARGET_KINDS, Card
from ...core.parameters import choice, number
from ...moves.steps import Step
from ..base import Method, Problem
from .dcrt import DCRT
from .knockoffs import Knockoffs

AUTO, TESTS, KNOCKOFFS = "auto", "dcrt", "knockoffs"
#: With fewer rows than this share of the columns, dCRT finds next to nothing, and knockoffs do.
FEWEST_ROWS = 1.0
#: Probability of finding an effect of the size that is named.
POWER = 0.8


@dataclass
class Discover(Method):
    """Keep the features that are discoveries at a false discovery rate, by the procedure that suits the table.

    A discovery is a feature that says something about the target that no other feature says. With at least as many
    rows as columns each feature is tested given all others (`DCRT`), which can find a single feature. With more columns
    than rows features are compared with synthetic copies (`Knockoffs`), which find ten or more, or none. The choice
    depends on the numbers of rows and columns only, never on the target.

    `discoveries_` has each feature with the smallest level at which it is a discovery. The verdict says what was found
    at `q`, what more at higher levels, and how large an effect had to be in order to be found. Near-copies of a feature
    count as one discovery.

    Grow runs the procedure; shrink keeps what it found.

    Notes
    -----
    What is proved is that of the procedure: that the false discovery rate is at most `q` if rows are independent and
    the features Gaussian with a known covariance, which is estimated here. docs/error-control.md has the measured
    rates. The level is to be fixed before the result is seen; only the levels of knockoffs may be chosen afterwards.

    The effect that is named is a partial correlation, of a Gaussian target: the test of one more feature at the level
    that the next discovery needs would have found it with a probability of 0.8.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> y = X[:, 3] + 0.5 * X[:, 7] + np.random.default_rng(1).normal(size=300)
    >>> found = bf.Discover(q=0.1).fit(X, y)
    >>> found.selected_features_, found.verdict_["procedure"]
    (['x3', 'x7'], 'dcrt')
    """

    card: ClassVar[Card] = Card(
        id="discover",
        name="discoveries at a false discovery rate",
        family="wrapper",
        summary="Keeps what dCRT or, with more columns than rows, knockoffs find at a false discovery rate.",
        reference="Liu, Katsevich, Janson, Ramdas (2022) Fast and powerful conditional randomization testing via "
        "distillation, Biometrika 109(2), 277-293, doi:10.1093/biomet/asab039; Candes, Fan, Janson, Lv (2018) Panning "
        "for gold: model-X knockoffs for high dimensional controlled variable selection, JRSS B 80(3), 551-577, "
        "doi:10.1111/rssb.12265.",
        guarantee="false discovery rate at most q under the assumptions of the procedure that was chosen; nothing is "
        "proved for the estimated covariance",
        work="knockoffs",
        cost="that of dcrt or knockoffs",
        tasks=TARGET_KINDS,
        importance="that of the procedure",
    )
    default_test: ClassVar[str | None] = None

    q: float = number(0.1, "False discovery rate.", above=0, below=1)
    procedure: str = choice(
        AUTO,
        "How discoveries are made: by tests of each feature given all others (dcrt), by synthetic copies (knockoffs), "
        "or by what suits the numbers of rows and columns (auto).",
        (AUTO, TESTS, KNOCKOFFS),
    )

    def proves_one_search(self) -> bool:
        """Whether the guarantee holds for one search only: yes."""
        return True

    def grow(self, problem: Problem) -> list[Step]:
        """Run the procedure, and admit what it keeps, most important first."""
        features, target = problem.table.select(problem.features), problem.table[problem.target]
        n_rows, n_columns = features.n_rows, len(problem.features)
        is_wide = n_rows < FEWEST_ROWS * n_columns
        procedure = (KNOCKOFFS if is_wide else TESTS) if self.procedure == AUTO else self.procedure
        method = Knockoffs(q=self.q) if procedure == KNOCKOFFS else DCRT(alpha=self.q)
        limits = replace(problem.limits, check_time=problem.check_time)
        found = problem.search(method, None, features, target, problem.seed, limits, finds_stand_ins=False)
        problem.say(found.status, found.reason)
        problem.verdict.update(found.verdict, procedure=procedure)
        said = [f"{n_rows:,} rows of {n_columns:,} features:", f"{method.card.name}."] if self.procedure == AUTO else []
        if procedure == TESTS:
            least = effect_found(n_rows, self.q * (len(found.members) + 1) / max(n_columns, 1))
            said.append(f"A partial correlation of {least:.2f} would have been found with a probability of {POWER:g}.")
        problem.verdict["sentence"] = " ".join([problem.verdict.get("sentence", ""), *said]).strip()
        return [replace(step, kept=True) for step in found.members]

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
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
