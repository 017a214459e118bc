"""CART decision tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..core.cards import CLASSIFICATION, Card
from ..core.parameters import integer
from .base import Model


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
