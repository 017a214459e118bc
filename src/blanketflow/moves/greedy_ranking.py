"""Greedy rankings by mutual information, with incremental sums over the ranked features.

If the score is a minimum over the ranked features, it can only decrease, so a feature whose bound is below the best
score of a step is not updated: Fleuret (2004) Fast binary feature selection with conditional mutual information, JMLR
5, 1531-1555.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..ci.base import BoundTest

#: Standard deviations by which an estimate in favour of a feature must exceed chance: a level of 0.01.
DEVIATIONS = 2.33
#: Scores are rounded to this many decimals before they are compared, so that float noise does not decide ties.
DECIMALS = 12


class Picks(NamedTuple):
    """The ranked features, best first: their indices among the features, and their scores when they were ranked."""

    index: np.ndarray
    score: np.ndarray


class Known:
    """Information on the features not yet ranked, in nats, as arrays of shape (features left,).

    Sums over the ranked features F are computed on first use, then incrementally; a term costs one test per feature
    left. `positions`, (d,), are the features' columns; `relevance` is I(X;T), and `ranked_relevance` the sum of I(F;T).
    If `adjusted`, chance is subtracted, as from the `relevance` passed.
    """

    def __init__(
        self, test: BoundTest, target: str, positions: np.ndarray, relevance: np.ndarray, adjusted: bool = False
    ) -> None:
        self.test, self.target, self.left, self.relevance = test, target, positions, relevance
        self.adjusted = adjusted
        self.indices = np.arange(len(positions))
        self.ranked: list[int] = []
        self.ranked_relevance = 0.0
        self._sums: dict[Callable[..., np.ndarray], np.ndarray] = {}
        self._n_terms: dict[Callable[..., np.ndarray], int] = {}

    @property
    def n_ranked(self) -> int:
        """Number of ranked features."""
        return len(self.ranked)

    @property
    def redundancy(self) -> np.ndarray:
        """Sum of I(X;F)."""
        return self._sum(_redundancy)

    @property
    def class_redundancy(self) -> np.ndarray:
        """Sum of I(X;F|T)."""
        return self._sum(_class_redundancy)

    @property
    def conditional_relevance(self) -> np.ndarray:
        """Sum of I(X;T|F), which is I(X;T) - I(X;F) + I(X;F|T) by the chain rule."""
        return self._sum(_conditional_relevance)

    @property
    def symmetrical_relevance(self) -> np.ndarray:
        """Sum of I(X,F;T) / H(X,F,T)."""
        return self._sum(_symmetrical_relevance)

    @property
    def conditional_redundancy(self) -> np.ndarray:
        """Sum of I(X;F|G) over all ordered pairs of different ranked features F and G."""
        return self._sum(_conditional_redundancy)

    def gain(self, xs: np.ndarray, y: str | int, given: Sequence[str | int] = ()) -> np.ndarray:
        """Return I(X;Y|Z) of columns where it counts in their favour."""
        return information(self.test, xs, y, given, self.adjusted)

    def loss(self, xs: np.ndarray, y: str | int, given: Sequence[str | int] = ()) -> np.ndarray:
        """Return I(X;Y|Z) of columns where it counts against them: adjusted by the mean alone, so that noise has 0."""
        return information(self.test, xs, y, given, self.adjusted, 0.0)

    def mean(self, sums: np.ndarray) -> np.ndarray:
        """Return sums over the ranked features as means, 0 if no feature is ranked."""
        return sums / max(self.n_ranked, 1)

    def rank(self, at: int) -> int:
        """Rank the feature at a position among those left; return its index among all features."""
        self.ranked.append(int(self.left[at]))
        self.ranked_relevance += float(self.relevance[at])
        index = int(self.indices[at])
        self.left, self.indices = _without(self.left, at), _without(self.indices, at)
        self.relevance = _without(self.relevance, at)
        self._sums = {term: _without(values, at) for term, values in self._sums.items()}
        return index

    def _sum(self, term: Callable[[Known, int], np.ndarray]) -> np.ndarray:
        total = self._sums.get(term, np.zeros(len(self.left)))
        for k in range(self._n_terms.get(term, 0), self.n_ranked):
            total = total + term(self, k)
        self._sums[term], self._n_terms[term] = total, self.n_ranked
        return total


def _without(values: np.ndarray, at: int) -> np.ndarray:
    return np.concatenate((values[:at], values[at + 1 :]))


def _redundancy(known: Known, k: int) -> np.ndarray:
    return known.loss(known.left, known.ranked[k])


def _class_redundancy(known: Known, k: int) -> np.ndarray:
    return known.gain(known.left, known.ranked[k], [known.target])


def _conditional_relevance(known: Known, k: int) -> np.ndarray:
    return known.gain(known.left, known.target, [known.ranked[k]])


def _symmetrical_relevance(known: Known, k: int) -> np.ndarray:
    own = known.gain(np.array([known.ranked[k]]), known.target)
    entropy = known.test.entropy(known.left, [known.ranked[k], known.target])
    joint_relevance = own + _conditional_relevance(known, k)
    return np.divide(joint_relevance, entropy, out=np.zeros_like(entropy), where=entropy > 0)


def _conditional_redundancy(known: Known, k: int) -> np.ndarray:
    total, newest = np.zeros(len(known.left)), known.ranked[k]
    for earlier in known.ranked[:k]:
        total += known.loss(known.left, newest, [earlier])
        total += known.loss(known.left, earlier, [newest])
    return total


def information(
    test: BoundTest,
    xs: np.ndarray,
    y: str | int,
    given: Sequence[str | int] = (),
    adjusted: bool = False,
    deviations: float = DEVIATIONS,
) -> np.ndarray:
    """Return I(X;Y|Z) of many columns; if `adjusted`, minus its mean by chance and some standard deviations."""
    if adjusted:
        return test.adjusted_information(xs, y, given, deviations)
    return test.mutual_information(xs, y, given)


def rank_greedily(
    known: Known, n_features: int, score: Callable[[Known], np.ndarray], first: Sequence[int] = ()
) -> Picks:
    """Rank `n_features` features, each time the one with the highest `score`, after those at the indices `first`.

    Table order breaks ties. `score` returns the scores of the features left.
    """
    index, score_of = np.empty(n_features, dtype=np.int64), np.empty(n_features)
    for n_ranked in range(n_features):
        scores = score(known).round(DECIMALS)
        at = int(np.searchsorted(known.indices, first[n_ranked]) if n_ranked < len(first) else scores.argmax())
        index[n_ranked], score_of[n_ranked] = known.rank(at), scores[at]
    return Picks(index, score_of)


def highest(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the positions of the n highest scores, the first on ties, ascending.

    >>> highest(np.array([1.0, 3.0, 2.0, 2.0]), 2)
    array([1, 2])
    """
    if n >= len(scores):
        return np.arange(len(scores))
    lowest = np.partition(scores, -n)[-n]
    is_taken = scores > lowest
    is_taken[np.flatnonzero(scores == lowest)[: n - np.count_nonzero(is_taken)]] = True
    return np.flatnonzero(is_taken)


#: At least so many features, those with the highest minima, are updated in each step.
FOLLOWED = 64


def rank_by_minimum(
    test: BoundTest,
    target: str,
    positions: np.ndarray,
    relevance: np.ndarray,
    n_features: int,
    start: np.ndarray,
    first: Sequence[int] = (),
    adjusted: bool = False,
) -> Picks:
    """Rank `n_features` features, each time the one with the highest minimum, after those at the positions `first`.

    The minimum is over `start`, (d,), and I(X;T|F) for the ranked features F; the first feature has the highest
    `relevance`, (d,). Table order breaks ties. If `adjusted`, chance is subtracted from I(X;T|F), as from the arrays
    passed.
    """
    scores = _Minima(test, target, positions, start, adjusted)
    relevance = np.round(relevance, DECIMALS)
    index, score_of = np.empty(n_features, dtype=np.int64), np.empty(n_features)
    for n_ranked in range(n_features):
        if n_ranked < len(first):
            best = first[n_ranked]
        else:
            best = int(np.argmax(relevance)) if n_ranked == 0 else scores.best()
        index[n_ranked], score_of[n_ranked] = best, relevance[best] if n_ranked == 0 else scores.least[best]
        scores.rank(best)
    return Picks(index, score_of)


class _Minima:
    """The known minima, and the number of ranked features over which each is taken.

    A query costs more than the counting for a few features, and one that fell behind needs a query for each feature
    ranked since. So the `followed` ones are updated in each step, and twice as many as before if those are not enough.
    """

    def __init__(self, test: BoundTest, target: str, positions: np.ndarray, start: np.ndarray, adjusted: bool) -> None:
        self.test, self.target, self.positions, self.adjusted = test, target, positions, adjusted
        self.least = np.round(start, DECIMALS)
        self.n_seen = np.zeros(len(positions), dtype=np.int64)
        self.ranked: list[int] = []
        self.followed, self.n_followed = np.arange(len(positions)), FOLLOWED

    def rank(self, index: int) -> None:
        self.ranked.append(int(self.positions[index]))
        self.least[index] = -np.inf

    def best(self) -> int:
        """Return the feature with the highest minimum; most features that cannot have it are not updated."""
        self.n_followed = max(FOLLOWED, len(self.ranked), self.n_followed // 2)
        chunk = self.followed = self._highest(self.followed)
        score, best = -np.inf, 0
        while True:
            self._bring_up_to_date(chunk)
            for found in chunk[np.argsort(-self.least[chunk], kind="stable")[:1]].tolist():  # first on ties
                if (self.least[found], -found) > (score, -best):
                    score, best = float(self.least[found]), found
            if not (self.least > score).any() and not (self.least[:best] == score).any():
                return best
            self.n_followed *= 2
            chunk = self._highest(np.flatnonzero(self.n_seen < len(self.ranked)))
            self.followed = np.concatenate((self.followed, chunk))

    def _highest(self, features: np.ndarray) -> np.ndarray:
        """Return the unranked ones with the highest bounds among some features, as many as are followed, ascending."""
        left = np.sort(features[self.least[features] > -np.inf])
        return left[highest(self.least[left], self.n_followed)]

    def _bring_up_to_date(self, chunk: np.ndarray) -> None:
        for k in range(int(self.n_seen[chunk].min(initial=len(self.ranked))), len(self.ranked)):
            stale = chunk[self.n_seen[chunk] == k]
            if len(stale):
                found = information(self.test, self.positions[stale], self.target, [self.ranked[k]], self.adjusted)
                self.least[stale] = np.minimum(self.least[stale], np.round(found, DECIMALS))
                self.n_seen[stale] = k + 1
