"""Koller and Sahami's backward elimination by approximate Markov blankets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import Card
from ...core.errors import UnsupportedError
from ...core.numerics import comparable
from ...core.parameters import choice, integer
from ...core.results import CIResult, CIResults
from ...moves.greedy_ranking import DEVIATIONS, information
from ...moves.steps import Step, step
from ..base import Method, Problem
from ..filters.information_criteria import ADJUSTED, information_option

#: Mutual informations are compared to this many decimals.
DECIMALS = 12
#: Maximum features with all pairs in memory, 8 GB.
MOST_IN_PAIRS = 32_000


@dataclass
class KollerSahami(Method):
    """Remove, one at a time, the feature with the least information on the target given its nearest features.

    The k nearest remaining features M_i approximate the Markov blanket of F_i. The loss without F_i is the expected
    cross-entropy delta(F_i | M_i) = E D(P(T | M_i, F_i) || P(T | M_i)), which is I(T; F_i | M_i). The feature with the
    smallest loss is removed (the last by name on ties), and each M_i that contained it is updated, until `n_features`
    are left. Mutual information comes from the CI test: on level codes with ``g2``, Gaussian with ``fisher-z``.

    Notes
    -----
    The loss is adjusted for its mean by chance. If M_i leaves few rows per stratum, little remains of it, so columns
    with many levels need many rows or a smaller `k`.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bf.KollerSahami(n_features=1).fit(X, y).selected_features_
    ['petal length (cm)']
    """

    card: ClassVar[Card] = Card(
        id="koller-sahami",
        name="Koller-Sahami",
        family="causal",
        summary="Backward elimination of the feature that says least about the target beyond its nearest features.",
        reference="Koller, Sahami (1996) Toward optimal feature selection, ICML 13, 284-292.",
        guarantee="none",
        work="pairs",
        cost="d (d - 1) / 2 pairwise mutual informations (by gamma: d (d - 1)), d of k conditions, and one more for "
        "each feature whose nearest change",
        importance="information about the target that is lost without it, given the features nearest to it, in nats",
    )
    why_no_correction: ClassVar[str] = "it ranks features, and tests none at a level"
    draws_rows: ClassVar[bool] = False
    takes_feature_groups: ClassVar[bool] = True
    keeps_untested: ClassVar[bool] = True
    learns_from: ClassVar[str] = "tests"
    default_test: ClassVar[str | None] = "g2"
    needs: ClassVar[str] = "mutual-information"
    anytime: ClassVar[bool] = True

    n_features: int = integer(10, "Number of features to keep; all of them if there are fewer.", at_least=1)
    k: int = integer(2, "Number of features that stand for a Markov blanket (K).", at_least=0)
    by: str = choice(
        "correlation",
        "Which features are near F: the features that share most information with it (correlation), or the features "
        "given which F says least about the target (gamma).",
        ("correlation", "gamma"),
    )
    information: str = information_option()

    def grow(self, problem: Problem) -> Iterable[Step]:
        """Admit all features."""
        return [step(name, result) for name, result in zip(problem.features, problem.marginal, strict=True)]

    def shrink(self, problem: Problem, candidates: Sequence[Step]) -> Iterator[Step]:
        """Remove the feature with the least loss and update losses that depend on it, until `n_features` are left."""
        names, left = list(problem.features), np.ones(len(problem.features), dtype=bool)
        nearness = self._nearness(problem)
        nearest = np.full((len(names), min(self.k, len(names))), -1)
        found: dict[int, CIResult] = {}
        lost = np.full(len(names), np.inf)
        stale = list(range(len(names)))

        def decision(i: int, kept: bool) -> Step:
            return step(names[i], found[i], given(i), importance=float(lost[i]), kept=kept)

        def given(i: int) -> list[str]:
            return [names[j] for j in nearest[i] if j >= 0]

        while True:
            for i in stale:
                nearest[i] = _nearest(nearness[i], left, nearest.shape[1])
                found[i] = problem.test.test(names[i], problem.target, given=given(i))
                lost[i] = self._lost(problem, i, found[i], given(i))
            if left.sum() <= self.n_features:
                break
            # The last of the least: of two copies the first stays.
            least = int(np.flatnonzero(lost == lost.min())[-1])
            yield decision(least, kept=False)
            left[least], lost[least] = False, np.inf
            stale = np.flatnonzero(left & (nearest == least).any(axis=1)).tolist()
        for i in map(int, np.flatnonzero(left)):
            yield decision(i, kept=True)

    def _lost(self, problem: Problem, i: int, result: CIResult, given: list[str]) -> float:
        """Return the loss without a feature, rounded so that float noise does not decide ties."""
        test = problem.test
        lost = test.test_config.mutual_information(CIResults.from_rows([result]))
        if self.information == ADJUSTED:
            at = np.array([test.table.position(problem.features[i])])
            lost = test.chance(at, problem.target, given).taken_from(lost, DEVIATIONS)
        return float(np.round(lost, DECIMALS)[0])

    def _nearness(self, problem: Problem) -> np.ndarray:
        """Return the nearness of all pairs of features, (d, d); larger is nearer."""
        names = list(problem.features)
        if self.k == 0:
            return np.broadcast_to(0.0, (len(names), len(names)))
        if len(names) > MOST_IN_PAIRS:
            raise UnsupportedError(
                f"{self.card.id} keeps how near each feature is to each other, of at most {MOST_IN_PAIRS:,} features; "
                f"there are {len(names):,}. Choose some of them first, such as by mim, or take another method."
            )
        nearness, is_adjusted = np.zeros((len(names), len(names))), self.information == ADJUSTED
        at = problem.test.table.positions(names)
        for j, name in enumerate(names):
            if self.by == "gamma":
                others = np.delete(np.arange(len(names)), j)
                shared = information(problem.test, at[others], problem.target, [name], is_adjusted, 0.0)
                nearness[others, j] = comparable(-np.round(shared, DECIMALS))
            elif j + 1 < len(names):
                shared = information(problem.test, at[j + 1 :], name, (), is_adjusted, 0.0)
                nearness[j, j + 1 :] = nearness[j + 1 :, j] = comparable(np.round(shared, DECIMALS))
        np.fill_diagonal(nearness, -np.inf)
        return nearness


def _nearest(nearness: np.ndarray, left: np.ndarray, k: int) -> np.ndarray:
    """Return the k nearest remaining features, the first on ties; padded with -1."""
    values, found = np.where(left & np.isfinite(nearness), nearness, -np.inf), np.full(k, -1)
    for at in range(k):  # a few times over all, where sorting would look at them many times
        best = int(values.argmax())
        if values[best] == -np.inf:
            break
        found[at], values[best] = best, -np.inf
    return found
