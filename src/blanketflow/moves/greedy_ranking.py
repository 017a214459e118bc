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
        scores = np.round(score(known), DECIMALS)
        at = int(np.searchsorted(known.indices, first[n_ranked]) if n_ranked < len(first) else np.argmax(scores))
        index[n_ranked], score_of[n_ranked] = known.rank(at), scores[at]
    return Picks(index, score_of)


#: The number of features in the pool of candidates, and the number of them that are updated together.
POOL, CHUNK = 4096, 1024
#: Up to this many cells all features are updated, which is faster than choosing some.
FEW_CELLS = 2**25


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
    """The known minima, and the number of ranked features over which each is taken."""

    def __init__(self, test: BoundTest, target: str, positions: np.ndarray, start: np.ndarray, adjusted: bool) -> None:
        self.test, self.target, self.positions, self.adjusted = test, target, positions, adjusted
        self.least = np.round(start, DECIMALS)
        self.n_seen = np.zeros(len(positions), dtype=np.int64)
        self.ranked: list[int] = []
        is_small = len(positions) * test.table.n_rows <= FEW_CELLS
        self.n_pooled, self.chunk = (len(positions),) * 2 if is_small else (POOL, CHUNK)
        self._fill_pool(self.n_pooled)

    def rank(self, index: int) -> None:
        self.ranked.append(int(self.positions[index]))
        self.least[index] = -np.inf

    def best(self) -> int:
        """Return the feature with the highest minimum; features that cannot have it are not updated."""
        if len(self.pool) > self.n_pooled:
            self._fill_pool(self.n_pooled)  # it grew for an earlier step, when bounds were higher
        while True:
            in_order = self._in_order()
            at, best, best_score = 0, -1, -np.inf
            while at < len(in_order) and self._may_be_better(in_order[at], best, best_score):
                chunk = np.sort(in_order[at : at + self.chunk])
                self._bring_up_to_date(chunk, best_score)
                at += len(chunk)
                best, best_score = self._better(chunk, best, best_score)
            if best_score > self.floor:
                return best
            self._fill_pool(4 * len(self.pool))

    def _in_order(self) -> np.ndarray:
        """Return the unranked features of the pool, the highest bounds first if there are several chunks."""
        left = self.pool[self.least[self.pool] > -np.inf]
        return left if len(left) <= self.chunk else left[np.argsort(-self.least[left], kind="stable")]

    def _fill_pool(self, size: int) -> None:
        """Fill the pool with the highest bounds; no other bound exceeds the floor, because bounds only decrease."""
        n_features = len(self.least)
        if size >= n_features:
            self.pool, self.floor = np.arange(n_features), -np.inf
        else:
            parted = np.argpartition(self.least, n_features - size - 1)
            self.pool = np.sort(parted[n_features - size :])
            self.floor = float(self.least[parted[n_features - size - 1]])

    def _may_be_better(self, index: int, best: int, best_score: float) -> bool:
        bound = self.least[index]
        return bound > best_score or (bound == best_score and index < best)

    def _bring_up_to_date(self, chunk: np.ndarray, best_score: float) -> None:
        """Update some minima, as long as they are not below the best score."""
        for k in range(int(self.n_seen[chunk].min()), len(self.ranked)):
            stale = chunk[(self.n_seen[chunk] == k) & (self.least[chunk] >= best_score)]
            if len(stale):
                asked = self.positions[stale], self.target, [self.ranked[k]]
                found = information(self.test, *asked, self.adjusted)
                self.least[stale] = np.minimum(self.least[stale], np.round(found, DECIMALS))
                self.n_seen[stale] = k + 1

    def _better(self, chunk: np.ndarray, best: int, best_score: float) -> tuple[int, float]:
        """Return the best among the best so far and some features, of which only updated ones count."""
        current = chunk[self.n_seen[chunk] == len(self.ranked)]
        if len(current):
            at = int(np.argmax(self.least[current]))  # the first on ties, in table order
            index, score = int(current[at]), float(self.least[current[at]])
            if score > best_score or (score == best_score and index < best):
                return index, score
        return best, best_score
