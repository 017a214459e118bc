"""Stability paths: on what share of the halves a feature is among the first 1, 2, 3, ... of the ranking."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.errors import DataError
from ...core.rows import numbers_of
from ...core.seeds import derive_rng

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


#: Numbers of features are compared up to this rounding.
ROUNDING = 1e-9


def worst_case_bound(n_selected: int, n_features: int, threshold: float) -> float:
    """Return the most features kept in expectation whose selection probability is at most n_selected / n_features.

    Let p_k be the probability that the base selector takes feature k on half the rows. Of a complementary pair of
    halves, 1{A takes k and B takes k} >= 1{A takes k} + 1{B takes k} - 1, so a share of halves of at least t means a
    share of pairs in which both take k of at least 2 t - 1. The halves are disjoint, hence independent, and that share
    has the expectation p_k^2. By Markov's inequality k is kept with probability at most p_k^2 / (2 t - 1). Summed over
    the features with p_k at most q / p, where the p_k of all features sum up to q at most, this is at most q^2 / ((2 t
    - 1) p).

    Shah, Samworth (2013), theorem 1 with theta = q / p, doi:10.1111/j.1467-9868.2011.01034.x.

    `n_selected` is q, the most features selected on one half; `threshold` is above 0.5. Whatever the number of pairs.

    Examples
    --------
    >>> worst_case_bound(10, 100, 0.75)
    2.0
    """
    return n_selected**2 / ((2 * threshold - 1) * n_features)


def most_selected(bound: float, n_features: int, threshold: float) -> int:
    """Return the largest q, at most all features, for which `worst_case_bound` is at most `bound`; 0 if there is none.

    Examples
    --------
    >>> most_selected(2.0, 100, 0.75), most_selected(1.99, 100, 0.75), most_selected(0.01, 100, 0.75)
    (10, 9, 0)
    """
    return min(n_features, math.isqrt(math.floor(bound * (2 * threshold - 1) * n_features + ROUNDING)))


#: Rows or groups with which both halves have two.
FEWEST = 4


def complementary_halves(
    n_rows: int, groups: np.ndarray | None, n_pairs: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pairs of halves, each the positions of its rows in table order; of an odd number one row is in neither.

    The halves are not balanced by the target, as the parts of `core.parts` are: then they would depend on each other.

    With `groups`, (n_rows,), half the groups are drawn, each with all its rows. Raises `DataError` if there are fewer
    than 4 rows, or 4 groups.

    Examples
    --------
    >>> first, second = next(complementary_halves(7, None, 1, seed=0))
    >>> len(first), len(second), len(set(first) | set(second))
    (3, 3, 6)
    """
    units = np.arange(n_rows) if groups is None else numbers_of(groups)
    n_units = int(units.max(initial=-1)) + 1
    if n_units < FEWEST:
        what = "rows" if groups is None else "groups of rows"
        raise DataError(
            f"stability selection draws halves and needs at least {FEWEST} {what}, but there are {n_units}."
        )
    half = n_units // 2
    for pair in range(n_pairs):
        order = derive_rng(seed, "stability-selection", pair).permutation(n_units)
        first, second = (np.flatnonzero(np.isin(units, drawn)) for drawn in (order[:half], order[half : 2 * half]))
        yield first, second
