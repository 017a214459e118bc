"""Discoveries at every level of the false discovery rate: the smallest level of each feature, as a table and in words.

For methods with e-values, or with expected numbers of false features, which are their reciprocals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

#: Levels are compared up to this rounding.
ROUNDING = 1e-12
#: Number of levels in a sentence, and the highest of them.
MOST_LEVELS, HIGHEST = 3, 0.5
#: Maximum number of features that are named at one level.
MOST_NAMES = 4


def levels(values: np.ndarray, n_features: int) -> np.ndarray:
    """Return for each feature the smallest level at which the e-BH procedure selects it, shape of `values`.

    At a level q, e-BH selects the k largest e-values, with the largest k for which the smallest is at least
    n_features / (q k) (Wang and Ramdas, 2022, doi:10.1111/rssb.12489). So the k-th largest needs n_features / (k e_k),
    or what a smaller one needs if that is less. Features not in `values` have e-value 0; such a level is infinite.

    **The level may be chosen by the data.** Let R be the features with a level of at most Q, which may depend on
    everything. Each of them has an e-value of at least n_features / (Q size(R)), so the share of false features in R,
    divided by Q, is at most the sum of the e-values of irrelevant features divided by n_features. If its
    mean is at most 1, E[FDP / Q] <= 1, and the false discovery rate is at most Q if Q is fixed.

    >>> import numpy as np
    >>> levels(np.array([5.0, 0.0, 5.0, 1.0, 2.5]), 5).tolist()
    [0.5, inf, 0.5, 1.25, 0.6666666666666666]
    """
    order = np.argsort(-values, kind="stable")
    with np.errstate(divide="ignore"):
        needed = n_features / (np.arange(1, len(values) + 1) * values[order])
    found = np.empty(len(values))
    found[order] = np.minimum.accumulate(needed[::-1])[::-1]
    return found


def reached(smallest: np.ndarray, q: float) -> np.ndarray:
    """Return which features are discoveries at a level, given the smallest level of each."""
    return smallest <= q * (1.0 + ROUNDING)


def by_level(features: Sequence[str], smallest: np.ndarray, **of_features: np.ndarray) -> dict[str, list[Any]]:
    """Return the features with a level below 1, the smallest level first, as columns of JSON types.

    These are feature, q (its level), n_features (number of discoveries at this level), and those of `of_features`.

    >>> by_level(["a", "b", "c"], np.array([1.0, 0.5, 0.25]), e_value=np.array([1.0, 3.0, 12.0]))
    {'feature': ['c', 'b'], 'q': [0.25, 0.5], 'n_features': [1, 2], 'e_value': [12.0, 3.0]}
    """
    order = [at for at in np.argsort(smallest, kind="stable").tolist() if smallest[at] < 1.0 - ROUNDING]
    return {
        "feature": [features[at] for at in order],
        "q": smallest[order].tolist(),
        "n_features": [int(np.count_nonzero(reached(smallest, smallest[at]))) for at in order],
        **{name: values[order].tolist() for name, values in of_features.items()},
    }


def in_words(features: Sequence[str], smallest: np.ndarray, q: float, asked: float) -> str:
    """Return the number of discoveries at the level `q`, which may be above the one asked for, and more at higher ones.

    >>> in_words(["a", "b", "c"], np.array([0.05, 0.05, 0.3]), 0.1, 0.1)
    '2 of 3 features are discoveries at q = 0.1. At higher levels also: c at 0.3.'
    >>> in_words(["a", "b"], np.array([0.2, 0.2]), 0.2, 0.1)
    'No feature is a discovery at q = 0.1, and 2 of 2 features are at q = 0.2, chosen afterwards.'
    """
    n_found = int(np.count_nonzero(reached(smallest, q)))
    n_of = f"{n_found} of {len(features)} features {'are' if n_found > 1 else 'is'}"
    if not n_found:
        said = f"No feature is a discovery at q = {q:.3g}."
    elif q > asked:
        said = f"No feature is a discovery at q = {asked:.3g}, and {n_of} at q = {q:.3g}, chosen afterwards."
    else:
        said = f"{n_of} {'discoveries' if n_found > 1 else 'a discovery'} at q = {q:.3g}."
    higher = np.unique(smallest[~reached(smallest, q) & (smallest <= HIGHEST)]).tolist()
    listed = "; ".join(f"{_named(features, smallest == level)} at {level:.3g}" for level in higher[:MOST_LEVELS])
    return f"{said} At higher levels also: {listed}." if listed else said


def _named(features: Sequence[str], which: np.ndarray) -> str:
    """Return the names of a few features, or the number of many."""
    names = [features[at] for at in np.flatnonzero(which).tolist()]
    return ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} more"
