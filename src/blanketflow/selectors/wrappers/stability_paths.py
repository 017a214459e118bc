"""Stability paths: the share of halves that select a feature, by the number of features that they select."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Maximum features with a path, and points of a path.
MOST_PATHS, MOST_POINTS = 30, 50


class Places:
    """Places of features in the rankings of the halves, each of its first `n_selected` features.

    >>> places = Places(2)
    >>> places.add([1, 0]); places.add([1, 2])
    >>> places.paths(2, ["a", "b", "c"], [1, 0, 2], 0.75)["shares"]
    {'b': [1.0, 1.0], 'a': [0.0, 0.5], 'c': [0.0, 0.5]}
    """

    def __init__(self, n_selected: int) -> None:
        self.n_selected = n_selected
        self._counts: dict[int, np.ndarray] = {}

    def add(self, first: Sequence[int]) -> None:
        """Count one half, given the positions of its first features in order."""
        for place, j in enumerate(first[: self.n_selected]):
            if j not in self._counts:
                self._counts[j] = np.zeros(self.n_selected, dtype=np.int64)
            self._counts[j][place] += 1

    def paths(self, n_halves: int, features: Sequence[str], order: Sequence[int], threshold: float) -> dict[str, Any]:
        """Return the shares of up to 30 features by the number of features of a half (up to 50), as JSON types."""
        at = np.unique(np.round(np.linspace(1, self.n_selected, min(self.n_selected, MOST_POINTS))).astype(int))
        shown = [j for j in order if j in self._counts][:MOST_PATHS]
        shares = {features[j]: (self._counts[j].cumsum()[at - 1] / n_halves).tolist() for j in shown}
        return {"n_features": at.tolist(), "shares": shares, "threshold": threshold}


def paths_by_strength(
    shares: np.ndarray, sizes: np.ndarray, features: Sequence[str], order: Sequence[int], threshold: float
) -> dict[str, Any]:
    """Return the stability paths of up to 30 features by the mean number of features selected, as JSON types.

    `shares`, (strengths, d), are of the halves that select a feature, and `sizes` the mean numbers selected.
    """
    shown = [j for j in order if shares[:, j].any()][:MOST_PATHS]
    of = {features[j]: shares[:, j].tolist() for j in shown}
    return {"n_features": sizes.tolist(), "shares": of, "threshold": threshold}
