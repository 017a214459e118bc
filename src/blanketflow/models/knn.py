"""k nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import CLASSIFICATION, Card
from ..core.parameters import integer
from .base import Model
from .deferred import Deferred


@dataclass
class KNN(Model):
    """k nearest neighbours on standardised columns; all training rows where they are fewer than k.

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
        summary="The vote or mean of the k nearest training rows, in Euclidean distance on standardised columns.",
        reference="Cover, Hart (1967) Nearest neighbor pattern classification, 10.1109/TIT.1967.1053964.",
        cost="O(d n) a prediction",
    )

    n_neighbors: int = integer(5, "Number of neighbours.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the estimator; nothing in it is random."""
        return Deferred(partial(_neighbours, task, self.n_neighbors, n_jobs), task)


def _neighbours(task: str, n_neighbors: int, n_jobs: int, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    family = KNeighborsClassifier if task == CLASSIFICATION else KNeighborsRegressor
    return make_pipeline(StandardScaler(), family(n_neighbors=min(n_neighbors, len(X)), n_jobs=n_jobs))
