"""Distilled conditional randomisation tests: a p-value for each feature given all others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...ci.multiple_testing import BH, BY, NONE, rejected
from ...core.cards import Card
from ...core.near_copies import clusters_of_copies
from ...core.parameters import choice, number
from ...moves.steps import Step
from ..base import Method, Problem
from ..filters.linear_similarity import target_columns
from ..knockoff.columns_for_knockoffs import columns_of, known_columns
from ..knockoff.covariance_option import TakesCovariance, covariance_option
from ..knockoff.distillation import dcrt_p_values


@dataclass
class DCRT(TakesCovariance, Method):
    """Keep the features whose distilled conditional randomisation test rejects independence given all others.

    A linear law says what all other features leave of a feature, and a lasso what they leave of the target. If the
    feature says nothing about the target given all others, the product of the two has a known law, which gives the
    p-value: no feature is drawn anew. A feature that is kept is in the Markov boundary, up to false rejections.

    Grow admits features with p at most alpha, the smallest first; shrink keeps those that the correction for all
    features rejects.

    A near-copy says little given the others. Where none of them is kept, they are taken as one feature: the first of
    them is tested again, given all features but its near-copies.

    Notes
    -----
    P-values are exact if features are Gaussian with the covariance given and rows are independent: nothing need be
    known about the target. Here the covariance is estimated unless `covariance` is given. `by` then keeps the false
    discovery rate at alpha, under any dependence of the p-values; that `bh` does is unproved, since p-values of
    dependent features are dependent. docs/error-control.md has the measured rates.

    The target is distilled by a scaled lasso on the other features, with the best of six penalties; classes are
    regressed as indicators. A poor distillation costs power, never validity.

    The first of some near-copies is tested up to twice, so that its p-values are doubled: what is proved stays true.

    Unlike knockoffs, it needs no smallest number of features.

    Examples
    --------
    >>> import numpy as np
    >>> import blanketflow as bf
    >>> X = np.random.default_rng(0).normal(size=(300, 20))
    >>> y = X[:, 3] + 0.5 * X[:, 7] + np.random.default_rng(1).normal(size=300)
    >>> bf.DCRT(alpha=0.01).fit(X, y).selected_features_
    ['x3', 'x7']
    """

    card: ClassVar[Card] = Card(
        id="dcrt",
        name="distilled conditional randomisation test (dCRT)",
        family="wrapper",
        summary="Tests what a linear law leaves of each feature against what a lasso leaves of the target.",
        reference="Liu, Katsevich, Janson, Ramdas (2022) Fast and powerful conditional randomization testing via "
        "distillation, Biometrika 109(2), 277-293, doi:10.1093/biomet/asab039.",
        guarantee="exact p-values if the features are Gaussian with the covariance given and rows are independent, "
        "and then a false discovery rate of at most alpha with correction: by; with bh that is unproved, since the "
        "p-values are dependent; nothing is proved for an estimated covariance or other laws",
        work="knockoffs",
        cost="no tests; d^3 for the law; for each of up to six penalties one lasso of d columns, and one more for each "
        "feature that it keeps; twice as much where near-copies are lost",
        importance="minus the natural logarithm of its p-value",
    )
    default_test: ClassVar[str | None] = None

    alpha: float = number(0.05, "Level of the correction; without one, of each p-value.", above=0, below=1)
    correction: str = choice(
        BH,
        "How p-values of all features are corrected: by the false discovery rate at alpha (bh, Benjamini and Hochberg, "
        "unproved where features are dependent; by, Benjamini and Yekutieli, under any dependence), or not (none).",
        (BH, BY, NONE),
    )
    covariance: Any = covariance_option()
    penalty: float | None = number(
        None,
        "Penalty of the lasso that distils the target, as a multiple of the one under which noise alone lets nothing "
        "in; null for the best of six by generalised cross-validation, for each feature without itself.",
        above=0,
        nullable=True,
    )

    def proves_one_search(self) -> bool:
        """Whether what is proved holds for one search only: it does."""
        return True

    def grow(self, problem: Problem) -> list[Step]:
        """Admit features with p at most alpha, the smallest first."""
        features, target = problem.table.select(problem.features), problem.table[problem.target]
        outcomes = target_columns(target) * np.sqrt(target.n_rows)
        outcomes = outcomes[:, : max(1, outcomes.shape[1] - 1)]  # the last class is what no other is
        correlations = None
        if self.covariance is None:
            columns, owners = columns_of(features)
        else:
            columns, owners, correlations = known_columns(features, self.options()["covariance"], self.card.id)
        if not len(owners):
            return []
        statistics, p_values, log_p = self._tested(problem, columns, owners, outcomes, correlations)
        clusters = clusters_of_copies(problem.table, problem.features)
        firsts = [cluster[0] for cluster in clusters]
        _double(p_values, log_p, firsts)
        kept = rejected(log_p, self.alpha, self.correction)
        lost = [cluster for cluster in clusters if not kept[cluster].any()]
        if lost:
            use = ~np.isin(owners, [j for cluster in lost for j in cluster[1:]])
            law = None if correlations is None else correlations[np.ix_(use, use)]
            again = self._tested(problem, columns[:, use], owners[use], outcomes, law)
            firsts = [cluster[0] for cluster in lost]
            for values, repeated in zip((statistics, p_values, log_p), again, strict=True):
                values[firsts] = repeated[firsts]
            _double(p_values, log_p, firsts)
        return [
            Step(problem.features[j], float(statistics[j]), float(p_values[j]), importance=float(-log_p[j]))
            for j in np.argsort(log_p, kind="stable")
            if p_values[j] <= self.alpha
        ]

    def _tested(
        self,
        problem: Problem,
        columns: np.ndarray,
        owners: np.ndarray,
        outcomes: np.ndarray,
        correlations: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n_features = len(problem.features)
        return dcrt_p_values(columns, owners, outcomes, n_features, correlations, problem.check_time, self.penalty)

    def shrink(self, problem: Problem, candidates: list[Step]) -> Iterable[Step]:
        """Keep the features that the correction for all of them rejects."""
        log_p = np.zeros(len(problem.features))  # those above alpha are rejected by no correction
        log_p[: len(candidates)] = [-candidate.importance for candidate in candidates]
        kept = rejected(log_p, self.alpha, self.correction)
        return [replace(candidate, kept=bool(kept[at])) for at, candidate in enumerate(candidates)]


def _double(p_values: np.ndarray, log_p: np.ndarray, at: list[int]) -> None:
    """Double the p-values of features that are tested twice."""
    log_p[at] = np.minimum(log_p[at] + np.log(2), 0.0)
    p_values[at] = np.minimum(2 * p_values[at], 1.0)
