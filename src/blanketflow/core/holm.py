"""Holm's correction of several p-values that are looked at together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for all of them being looked at, valid under any dependence. O(m log m).

    The chance that any true hypothesis has a corrected p-value of at most alpha is at most alpha. Holm (1979) A simple
    sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, 0.005])
    [0.03, 0.06, 0.06, 0.02]
    """
    order = np.argsort(p_values, kind="stable")
    raised = np.sort(p_values) * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected.tolist()
