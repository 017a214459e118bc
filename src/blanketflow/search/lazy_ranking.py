"""Greedy rankings by a minimum over the ranked features, which can only decrease, so most of it need not be computed.

After Fleuret (2004) Fast binary feature selection with conditional mutual information, JMLR 5, 1531-1555: a feature
whose bound is already below the best score of a step is not updated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..ci.base import BoundTest
from .greedy_ranking import DECIMALS, Pick, information

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
) -> Iterator[Pick]:
    """Rank repeatedly the feature with the highest score, the first in table order on ties.

    The first feature has the highest relevance I(X;T). Later scores are the minimum of the feature's start value and
    I(X;T|F) over the ranked features F; with infinite start values the minimum is over only the ranked features. Arrays
    have shape (d,), in table order; `n_features` is at most d. The features at the positions `first` of these arrays
    are ranked before all others. If `adjusted`, I(X;T|F) is less what it is by chance, and `relevance` and `start` must
    be so already.
    """
    scores = _Minima(test, target, positions, start, adjusted)
    relevance = np.round(relevance, DECIMALS)
    for n_ranked in range(n_features):
        if n_ranked < len(first):
            best = first[n_ranked]
        else:
            best = int(np.argmax(relevance)) if n_ranked == 0 else scores.best()
        yield Pick(best, float(relevance[best] if n_ranked == 0 else scores.least[best]))
        scores.rank(best)


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
        """Remove a feature from the candidates."""
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
        """Complete some minima, as long as they are not below the best score."""
        for k in range(int(self.n_seen[chunk].min()), len(self.ranked)):
            stale = chunk[(self.n_seen[chunk] == k) & (self.least[chunk] >= best_score)]
            if len(stale):
                asked = self.positions[stale], self.target, [self.ranked[k]]
                found = information(self.test, *asked, self.adjusted)
                self.least[stale] = np.minimum(self.least[stale], np.round(found, DECIMALS))
                self.n_seen[stale] = k + 1

    def _better(self, chunk: np.ndarray, best: int, best_score: float) -> tuple[int, float]:
        """Return the best among the best so far and some features; only features that are up to date count."""
        current = chunk[self.n_seen[chunk] == len(self.ranked)]
        if len(current):
            at = int(np.argmax(self.least[current]))  # the first on ties, in table order
            index, score = int(current[at]), float(self.least[current[at]])
            if score > best_score or (score == best_score and index < best):
                return index, score
        return best, best_score
