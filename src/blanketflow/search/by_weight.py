"""A ranking by one weight per feature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .steps import Step

#: Weights are rounded to this many decimals before they are compared, so that float noise does not decide ties.
DECIMALS = 12


def heaviest_first(
    features: Sequence[str], weights: np.ndarray, most: int, threshold: float | None = None, unit: float = 1.0
) -> list[Step]:
    """Return the features with the largest weights; ties keep the given order.

    Parameters
    ----------
    features : sequence of str
        Names of the features.
    weights : ndarray of shape (d,)
        Finite weights, which become the statistics and importances of the steps.
    most : int
        The largest number of features to return.
    threshold : float, optional
        Features with a weight at or below it are left out.
    unit : float
        Size of the terms that are summed in a weight; rounding is relative to it.

    Returns
    -------
    list of Step
        Heaviest first.

    Examples
    --------
    >>> [step.feature for step in heaviest_first("abc", np.array([0.1, 0.3, 0.1 + 1e-15]), most=3)]
    ['b', 'a', 'c']
    >>> [step.feature for step in heaviest_first("abc", np.array([0.1, 0.3, 0.2]), most=3, threshold=0.1)]
    ['b', 'c']
    """
    compared = np.round(weights / unit, DECIMALS)
    order = np.argsort(-compared, kind="stable")
    if threshold is not None:
        order = order[compared[order] > np.round(threshold / unit, DECIMALS)]
    order = order[:most]
    # Among tied weights a later one may be larger by float noise.
    importances = np.minimum.accumulate(weights[order])
    return [
        Step(features[i], float(weights[i]), importance=float(importance))
        for i, importance in zip(order, importances, strict=True)
    ]
