"""k nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import Any, ClassVar

import numpy as np

from ..core.cards import CLASSIFICATION, Card
from ..core.parameters import integer
from .base import LazyEstimator, Model

#: Distances are equal if they differ relatively by no more than this, which is rounding.
TIE = 1e-12
#: The largest number of distances in memory at a time.
MOST_DISTANCES = 10_000_000
#: Minimum rows and maximum columns for a tree search: at 48,000 rows it takes a third of the time with
#: five, and five times the time with fifteen.
MANY_ROWS, FEW_COLUMNS = 20_000, 7


@dataclass
class KNN(Model):
    """k nearest neighbours on standardised columns; all training rows if there are fewer than k.

    All training rows as near as the k-th nearest count. Ties are common in columns of few values, and the order of rows
    would decide them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(KNN(n_neighbors=3).build("classification", seed=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    card: ClassVar[Card] = Card(
        id="knn",
        name="k nearest neighbours",
        family="model",
        summary="The vote or mean of the k nearest training rows, and of all that are as near as the last of them, in "
        "Euclidean distance on standardised columns.",
        reference="Cover, Hart (1967) Nearest neighbor pattern classification, 10.1109/TIT.1967.1053964.",
        cost="O(d n) per prediction",
    )

    n_neighbors: int = integer(5, "Number of neighbours; others that are as near as the last are added.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator; nothing in it is random."""
        return LazyEstimator(partial(_neighbours, task, self.n_neighbors, n_jobs), task)

    def predict_by_sets(
        self,
        task: str,
        seed: int,
        train: tuple[np.ndarray, np.ndarray],
        X: np.ndarray,
        sets: Sequence[Sequence[int]],
        check_time: Callable[[], None],
    ) -> Iterator[np.ndarray]:
        """Yield the predictions of each model; distances in columns that sets share are computed once.

        For many rows and few columns a tree search is faster than all distances.
        """
        known = Neighbours(task, min(self.n_neighbors, len(train[0])), n_jobs=1).keep(*train)
        are_many = len(train[0]) > MANY_ROWS
        for are_few, group in groupby(sets, lambda columns: are_many and len(columns) <= FEW_COLUMNS):
            if are_few:
                yield from super().predict_by_sets(task, seed, train, X, list(group), check_time)
            else:
                yield from known.predict_by_sets(X, list(group), check_time)


class Neighbours:
    """Predicts the mean of the nearest training rows' targets, or their class shares; `n_jobs` threads search."""

    def __init__(self, task: str, n_neighbors: int, n_jobs: int) -> None:
        self.task = task
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def fit(self, X: np.ndarray, y: np.ndarray) -> Neighbours:
        """Store the training rows and prepare the search."""
        from sklearn.neighbors import NearestNeighbors

        self.keep(X, y)
        self.search_ = NearestNeighbors(n_jobs=self.n_jobs).fit(self.rows_)
        return self

    def keep(self, X: np.ndarray, y: np.ndarray) -> Neighbours:
        """Standardise the columns and store the training rows."""
        from sklearn.preprocessing import StandardScaler

        if self.task == CLASSIFICATION:
            self.classes_ = np.unique(y)
            self.values_ = (np.asarray(y)[:, None] == self.classes_).astype(float)
        else:
            self.values_ = np.asarray(y, dtype=float)[:, None]
        self.scaler_ = StandardScaler().fit(X)
        self.rows_ = self.scaler_.transform(X)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return for each row the class with the most votes (the first on ties), or the mean."""
        return self._predicted(self._means(X))

    def predict_by_sets(
        self, X: np.ndarray, sets: Sequence[Sequence[int]], check_time: Callable[[], None]
    ) -> Iterator[np.ndarray]:
        """Yield the predictions of each set of columns."""
        from ..kernels.nearest_rows import nearest_means

        columns, values = np.ascontiguousarray(self.rows_.T), np.ascontiguousarray(self.values_)
        X, n_values = self.scaler_.transform(X), self.values_.shape[1]
        for some in _blocks(len(sets), max(1, MOST_DISTANCES // max(1, len(X) * n_values))):
            steps = steps_between(sets[some])
            found = np.empty((len(sets[some]), len(X), n_values))
            for block in _blocks(len(X), max(1, MOST_DISTANCES // (len(self.rows_) * len(found)))):
                check_time()
                means = np.empty((len(found), len(X[block]), n_values))
                nearest_means(columns, X[block], *steps, values, self.n_neighbors, 1 + TIE, means)
                found[:, block] = means
            yield from map(self._predicted, found)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the shares of votes, with columns in the order of `classes_`."""
        return self._means(X)

    def _predicted(self, means: np.ndarray) -> np.ndarray:
        return self.classes_[means.argmax(axis=1)] if self.task == CLASSIFICATION else means[:, 0]

    def _means(self, X: np.ndarray) -> np.ndarray:
        X, k = self.scaler_.transform(X), self.n_neighbors
        nearest = self.search_.kneighbors(X, min(k + 1, len(self.rows_)), return_distance=False)
        found = self.values_[nearest[:, :k]].mean(axis=1)
        if nearest.shape[1] > k:
            last, next_one = (_squared(X - self.rows_[nearest[:, at]]) for at in (k - 1, k))
            # The margin allows for the rounding of the search.
            self._with_ties(found, X, np.flatnonzero(next_one <= last + 1e-9 * (1 + last)))
        return found

    def _with_ties(self, found: np.ndarray, X: np.ndarray, tied: np.ndarray) -> None:
        """Replace means over k rows by means over all rows as near as the k-th."""
        from scipy.spatial.distance import cdist

        if not len(tied):
            return
        asked, same = np.unique(X[tied], axis=0, return_inverse=True)
        means = np.empty((len(asked), found.shape[1]))
        for block in _blocks(len(asked), max(1, MOST_DISTANCES // len(self.rows_))):
            squared = cdist(asked[block], self.rows_, "sqeuclidean")
            last = np.partition(squared, self.n_neighbors - 1, axis=1)[:, self.n_neighbors - 1, None]
            counts = squared <= last * (1 + TIE)
            means[block] = counts @ self.values_ / counts.sum(axis=1, keepdims=True)
        found[tied] = means[same.reshape(-1)]


def steps_between(sets: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the common columns of some sets, the columns added by each (values, ends), and if it extends the last.

    A set adds its columns to the previous set if that is a subset, else to the common ones.

    >>> [array.tolist() for array in steps_between([[5, 1], [5, 2], [5, 2, 3]])]
    [[5], [1, 2, 3], [1, 2, 3], [False, False, True]]
    """
    each = [frozenset(columns) for columns in sets]
    common = frozenset.intersection(*each)
    goes_on = [False, *(before <= columns for before, columns in pairwise(each))]
    known = [before if on else common for before, on in zip([common, *each], goes_on, strict=False)]
    added = [sorted(columns - before) for columns, before in zip(each, known, strict=True)]
    stops = np.cumsum([len(columns) for columns in added])
    flat = np.array([column for columns in added for column in columns], dtype=np.int64)
    return np.array(sorted(common), dtype=np.int64), flat, stops, np.array(goes_on)


def _squared(differences: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", differences, differences)


def _blocks(n: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, n, size))


def _neighbours(task: str, n_neighbors: int, n_jobs: int, X: np.ndarray, y: np.ndarray) -> Neighbours:
    return Neighbours(task, min(n_neighbors, len(X)), n_jobs)
