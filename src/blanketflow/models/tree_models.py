"""Decision tree and random forest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..core.cards import CLASSIFICATION, Card
from ..core.parameters import integer
from .base import LazyEstimator, Model


@dataclass
class Tree(Model):
    """A decision tree, grown to purity unless limited.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(Tree(max_depth=3).build("classification", seed=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    card: ClassVar[Card] = Card(
        id="tree",
        name="decision tree (CART)",
        family="model",
        summary="A single tree of axis-parallel splits, grown until its leaves are pure.",
        reference="Breiman, Friedman, Olshen, Stone (1984) Classification and Regression Trees, 10.1201/9781315139470.",
        cost="O(d n log n) per level",
    )

    max_depth: int | None = integer(None, "Largest depth; null: grown to purity.", at_least=1, nullable=True)
    min_samples_leaf: int = integer(1, "Fewest training rows in a leaf.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the tree; it runs on one core."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        family = DecisionTreeClassifier if task == CLASSIFICATION else DecisionTreeRegressor
        return family(max_depth=self.max_depth, min_samples_leaf=self.min_samples_leaf, random_state=seed)


@dataclass
class Forest(Model):
    """Random forest of scikit-learn: trees on bootstrap samples.

    Each split considers sqrt(d) random columns for classification, d / 3 for regression, as in Breiman's forests.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(Forest(n_estimators=20).build("classification", seed=0).fit(X, y).score(X, y) > 0.9)
    True
    """

    card: ClassVar[Card] = Card(
        id="forest",
        name="random forest",
        family="model",
        summary="The mean of trees, each grown on a bootstrap sample with a few random columns per split.",
        reference="Breiman (2001) Random forests, 10.1023/A:1010933404324.",
        cost="O(sqrt(d) n log n) per level and tree",
    )

    n_estimators: int = integer(100, "Number of trees.", at_least=1)
    max_depth: int | None = integer(None, "Largest depth; null: grown to purity.", at_least=1, nullable=True)
    min_samples_leaf: int = integer(1, "Fewest training rows in a leaf.", at_least=1)

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the forest; its trees do not depend on the number of cores."""
        return ForestEstimator(partial(_forest, task, self.options(), seed, n_jobs), task)


class ForestEstimator(LazyEstimator):
    """A forest that is fitted on any number of cores and predicts on one."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> ForestEstimator:
        """Fit the trees."""
        super().fit(X, y)
        # Several threads would sum the trees' predictions in any order, which would change the last digits.
        self.estimator_.set_params(n_jobs=1)
        return self


def _forest(task: str, options: dict[str, Any], seed: int, n_jobs: int, X: np.ndarray, y: np.ndarray) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    shared = {**options, "random_state": seed, "n_jobs": n_jobs}
    if task == CLASSIFICATION:
        return RandomForestClassifier(**shared, max_features="sqrt")
    return RandomForestRegressor(**shared, max_features=max(1, X.shape[1] // 3))
