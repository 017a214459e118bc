"""What TabArena's selectors are given and must return, for runs without TabArena, and the numbers of its protocol.

`AbstractFeatureSelector` stands in for TabArena's base class, of which it has what selectors see: `max_features` as a
number, a share or a function of the number of columns, features or scores of features from a subclass, and random
features where scores are missing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import pandas as pd

#: Where TabArena has the class, and how many limits it sets a data set.
PATH, N_BUDGETS = "tabarena.benchmark.feature_selection_methods.abstract.abstract_feature_selector", 5

#: Which of them, from 0, all selectors are asked on altered tables.
MIDDLE = 2


class AbstractFeatureSelector:
    """The base class of selectors."""

    name: ClassVar[str]
    feature_scoring_method: bool = False

    def __init__(
        self, max_features: float | Callable[[int], int], *, random_state: int = 0, verbosity: int = 0
    ) -> None:
        self.max_features_input = max_features
        self.random_state, self.verbosity = random_state, verbosity
        self.problem_type: str | None = None
        self.messages: list[str] = []

    def fit_transform(
        self, X: pd.DataFrame, y: pd.Series, *, time_limit: float | None = None, problem_type: str | None = None
    ) -> pd.DataFrame:
        """Return the columns that are selected."""
        self.problem_type, self._original_features = problem_type, list(X.columns)
        self.max_features = self._most(len(self._original_features))
        if self.max_features >= len(self._original_features):
            raise ValueError("max_features is not below the number of features: there is nothing to select.")
        if self.feature_scoring_method:
            scores = self._fit_feature_scoring(X=X, y=y, time_limit=time_limit)
            found = sorted(scores, key=lambda feature: -scores[feature])[: self.max_features]
            left = [feature for feature in self._original_features if feature not in scores]
            drawn = np.random.default_rng(self.random_state).permutation(left).tolist()
            self.n_at_random = self.max_features - len(found)
            found += drawn[: self.n_at_random]
        else:
            found, self.n_at_random = self._fit_feature_selection(X=X, y=y, time_limit=time_limit), 0
        if not isinstance(found, list) or len(set(found)) < len(found):
            raise TypeError(f"{self.name} must return a list of different features.")
        self._selected_features = found
        return X[found]

    def _most(self, n_features: int) -> int:
        asked = self.max_features_input
        if callable(asked):
            return asked(n_features)
        if isinstance(asked, float):
            if not 0 < asked < 1:
                raise ValueError(f"max_features is {asked}: a share must be above 0 and below 1.")
            return math.ceil(n_features * asked)
        return asked

    def _fit_feature_selection(self, *, X: pd.DataFrame, y: pd.Series, time_limit: float | None = None) -> list[str]:
        raise NotImplementedError

    def _fit_feature_scoring(
        self, *, X: pd.DataFrame, y: pd.Series, time_limit: float | None = None
    ) -> dict[str, float]:
        raise NotImplementedError

    def _log(self, level: int, message: str) -> None:
        self.messages.append(message)


def stand_in() -> None:
    """Put the class where TabArena has it."""
    parts = PATH.split(".")
    for end in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:end]), ModuleType(".".join(parts[:end])))
    vars(sys.modules[PATH])["AbstractFeatureSelector"] = AbstractFeatureSelector


def budgets(n_features: int) -> list[int]:
    """Return the numbers of features that TabArena asks for: evenly spaced up to 100 columns, else by powers.

    >>> budgets(30), budgets(500)
    ([5, 10, 15, 20, 25], [3, 8, 23, 63, 178])
    """
    shares = [i / (N_BUDGETS + 1) for i in range(1, N_BUDGETS + 1)]
    return [math.ceil(n_features * share if n_features <= 100 else n_features**share) for share in shares]


def with_noise(X: pd.DataFrame, share: float, rng: np.random.Generator) -> tuple[pd.DataFrame, set[str]]:
    """Return a table with shuffled copies of some of its columns, in random order, and the names of the copies."""
    copied = rng.integers(0, X.shape[1], int(share * X.shape[1]))
    copies: dict[str, Any] = {}
    for place, at in enumerate(copied):
        copies[f"noise_{place}"] = X.iloc[:, at].take(rng.permutation(len(X))).set_axis(X.index)
    joined = pd.concat([X, pd.DataFrame(copies)], axis=1)
    return joined[[joined.columns[at] for at in rng.permutation(joined.shape[1])]], set(copies)
