"""Stability paths: on what share of the halves a feature is among the first 1, 2, 3, ... of the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Features with a path, and numbers of features at which it is told.
MOST_PATHS, MOST_POINTS = 30, 50


class Places:
    """Where each feature stood on the halves, of which each has an order of its first `n_selected` features.

    >>> places = Places(2)
    >>> places.add([1, 0]); places.add([1, 2])
    >>> places.paths(["a", "b", "c"], [1, 0, 2], 2, 0.75)["shares"]
    {'b': [1.0, 1.0], 'a': [0.0, 0.5], 'c': [0.0, 0.5]}
    """

    def __init__(self, n_selected: int) -> None:
        self._n_selected = n_selected
        self._counts: dict[int, np.ndarray] = {}

    def add(self, first: Sequence[int]) -> None:
        """Count one half, by the positions of its first features in their order."""
        for place, j in enumerate(first[: self._n_selected]):
            if j not in self._counts:
                self._counts[j] = np.zeros(self._n_selected, dtype=np.int64)
            self._counts[j][place] += 1

    def paths(self, features: Sequence[str], order: Sequence[int], n_halves: int, threshold: float) -> dict[str, Any]:
        """Return the shares of the features that come first in an order, by the number of features of a half.

        At most 30 features and 50 numbers; plain types, as JSON has them.
        """
        at = np.unique(np.round(np.linspace(1, self._n_selected, min(self._n_selected, MOST_POINTS))).astype(int))
        shown = [j for j in order if j in self._counts][:MOST_PATHS]
        shares = {features[j]: (self._counts[j].cumsum()[at - 1] / n_halves).tolist() for j in shown}
        return {"n_features": at.tolist(), "shares": shares, "threshold": threshold}
