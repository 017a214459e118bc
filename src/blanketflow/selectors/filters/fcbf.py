"""Fast correlation-based filter (FCBF)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...ci.tails import chi2_tail
from ...core.cards import ASYMPTOTIC, Card
from ...core.parameters import number
from ...moves.greedy_ranking import DECIMALS, information
from ...moves.steps import Step, Steps
from ..base import Method, Problem
from .information_criteria import ADJUSTED, information_option, relevance_of


@dataclass
class FCBF(Method):
    """Rank features by symmetrical uncertainty, and remove those that a stronger feature makes redundant.

    SU(X,Y) = 2 I(X;Y) / (H(X) + H(Y)), from 0 (independent) to 1. Features that depend on the target at `alpha` and
    have SU(X,T) above `threshold` are ordered by it, ties by name. Then each remaining feature F, from the strongest
    on, removes every later X with SU(F,X) >= SU(X,T). The CI test must measure entropy on level codes, as ``g2`` does;
    numbers are binned on the rows at hand.

    Notes
    -----
    The publication has no `alpha` and uses the plug-in estimate (``alpha=None, information="plug-in"``), which is above
    any threshold near 0 for most irrelevant features. For the p-value, G2 is divided by its mean over permutations of
    the target and multiplied by the degrees of freedom (Bartlett's correction). With 100 rows and two independent
    columns of five bins, 0.057 have p <= 0.05, and 0.088 without it. A test that resamples uses its own p-value.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.FCBF().fit(X, y).selected_features_[:2]
    ['petal width (cm)', 'petal length (cm)']
    """

    card: ClassVar[Card] = Card(
        id="fcbf",
        name="fast correlation-based filter (FCBF)",
        family="filter",
        summary="Orders features by symmetrical uncertainty and removes any that a stronger one makes redundant.",
        reference="Yu, Liu (2004) Efficient feature selection via analysis of relevance and redundancy, JMLR 5, "
        "1205-1224.",
        formula="SU(X,T) = 2 I(X;T) / (H(X) + H(T))",
        cost="d mutual informations and entropies, then one mutual information for each pair of a kept feature and a "
        "weaker one that is left",
        importance="symmetrical uncertainty with the target, from 0 (independent) to 1 (one tells the other)",
    )
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    learns_from: ClassVar[str] = "triples"
    default_test: ClassVar[str | None] = "g2"
    needs: ClassVar[str] = "entropy"

    alpha: float | None = number(
        0.05, "Significance level of the dependence on the target; null for none.", above=0, below=1, nullable=True
    )
    threshold: float = number(
        0.0, "Symmetrical uncertainty SU(X,T) that a feature must exceed (the paper's delta).", at_least=0, below=1
    )
    information: str = information_option()

    def grow(self, problem: Problem) -> Steps:
        """Admit features above the threshold, strongest first."""
        test, positions = problem.test, problem.test.table.positions(problem.features)
        relevance = relevance_of(problem, self.information == ADJUSTED, deviations=0.0)
        entropy = test.entropy(positions)
        target_entropy = float(test.entropy(np.array([test.table.position(problem.target)]))[0])
        strength = symmetrical_uncertainty(relevance, entropy, target_entropy)
        if self.alpha is not None:
            strength[dependence_p_values(problem) > self.alpha] = -np.inf
        order = np.argsort(-strength, kind="stable")
        order = order[strength[order] > self.threshold]
        names, own = [problem.features[i] for i in order.tolist()], strength[order]
        return Steps(names, statistic=own, p_value=problem.marginal.p_value[order], importance=own)

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Remove each feature with more symmetrical uncertainty with a stronger feature than with the target."""
        left = list(candidates)
        positions = np.array([problem.test.table.position(step.feature) for step in left], dtype=np.int64)
        entropy = problem.test.entropy(positions) if left else np.empty(0)
        strength = np.array([step.statistic for step in left])
        while left:
            strongest, own_entropy = left[0], float(entropy[0])
            yield strongest
            if len(left) == 1:
                return
            adjusted = self.information == ADJUSTED
            shared = information(problem.test, positions[1:], int(positions[0]), (), adjusted, 0.0)
            similarity = symmetrical_uncertainty(shared, entropy[1:], own_entropy)
            is_kept = similarity < strength[1:]
            for i in np.flatnonzero(~is_kept):
                yield replace(left[i + 1], statistic=float(similarity[i]), given=(strongest.feature,), kept=False)
            left = [left[i + 1] for i in np.flatnonzero(is_kept)]
            positions, entropy, strength = positions[1:][is_kept], entropy[1:][is_kept], strength[1:][is_kept]


def dependence_p_values(problem: Problem) -> np.ndarray:
    """Return the p-value of each feature's dependence on the target, corrected for small samples."""
    results, test = problem.marginal, problem.test
    if test.card.p_values != ASYMPTOTIC:
        return results.p_value
    mean = 2.0 * results.n * test.chance(test.table.positions(problem.features), problem.target).mean
    scale = np.divide(results.dof, mean, out=np.zeros(len(results)), where=mean > 0)
    return chi2_tail(results.statistic * scale, np.array(results.dof))[0]


def symmetrical_uncertainty(information: np.ndarray, entropy: np.ndarray, other_entropy: float) -> np.ndarray:
    """Return 2 I / (H + H'), 0 for two constants, rounded so that float noise does not decide ties.

    >>> symmetrical_uncertainty(np.array([0.5, 0.0]), np.array([0.5, 0.0]), 0.5)
    array([1., 0.])
    """
    total = entropy + other_entropy
    return np.round(np.divide(2.0 * information, total, out=np.zeros_like(total), where=total > 0), DECIMALS)
