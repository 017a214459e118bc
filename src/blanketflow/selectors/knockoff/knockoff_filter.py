"""Which features pass: the knockoff filter on how much more each matters than its knockoff, and draws put together.

Of features that say nothing, as many are expected above any threshold T as below -T. So the number below -T, plus one,
estimates the number of false ones above T: Barber and Candes (2015), doi:10.1214/15-AOS1337.
"""

from __future__ import annotations

import math

import numpy as np

#: Shares are compared up to this rounding.
ROUNDING = 1e-12


def threshold(excess: np.ndarray, q: float) -> float:
    """Return the smallest T > 0 with (1 + number of W <= -T) / (number of W >= T) <= q; infinite if there is none.

    `excess`, (d,), is W: how much more each feature matters than its knockoff. The 1 is the offset with which the false
    discovery rate is controlled at q. O(d log d).

    Examples
    --------
    >>> import numpy as np
    >>> threshold(np.array([3.0, 2.0, 1.0, -0.5, 0.25]), 0.4)
    1.0
    >>> threshold(np.array([3.0, 2.0, 1.0, -0.5, 0.25]), 0.2)
    inf
    """
    found = np.unique(np.abs(excess[excess != 0]))
    ordered = np.sort(excess)
    n_above = len(excess) - np.searchsorted(ordered, found, side="left")
    n_below = np.searchsorted(ordered, -found, side="right")
    passes = (1 + n_below) <= q * n_above * (1.0 + ROUNDING)
    return float(found[np.argmax(passes)]) if passes.any() else math.inf


def e_values(excess: np.ndarray, q: float) -> np.ndarray:
    """Return the e-values of one draw, shape (d,): d / (1 + number of W <= -T) where W >= T = threshold, else 0.

    The expected sum over features that say nothing is at most d: Ren and Barber (2024), doi:10.1093/jrsssb/qkad085.

    Examples
    --------
    >>> import numpy as np
    >>> e_values(np.array([3.0, 2.0, 1.0, -0.5, 0.25]), 0.4).tolist()
    [5.0, 5.0, 5.0, 0.0, 0.0]
    """
    limit = threshold(excess, q)
    return np.where(excess >= limit, len(excess) / (1 + np.count_nonzero(excess <= -limit)), 0.0)


def passing(values: np.ndarray, n_features: int, q: float) -> np.ndarray:
    """Return which features the e-BH procedure selects at the false discovery rate q, shape of `values`.

    The k largest e-values, for the largest k of which the smallest is at least n_features / (q k): Wang and Ramdas
    (2022), doi:10.1111/rssb.12489. Those that `values` leaves out are 0.

    Examples
    --------
    >>> import numpy as np
    >>> passing(np.array([5.0, 5.0, 5.0, 0.0, 0.0]), 5, 0.5).tolist()
    [True, True, True, False, False]
    """
    ordered = np.sort(values)[::-1]
    enough = ordered * q * np.arange(1, len(ordered) + 1) * (1.0 + ROUNDING) >= n_features
    if not enough.any():
        return np.zeros(len(values), dtype=bool)
    return values >= ordered[np.flatnonzero(enough)[-1]]


def fewest(q: float) -> int:
    """Return the smallest number of features that one draw can select at q.

    Examples
    --------
    >>> fewest(0.1), fewest(0.05), fewest(0.3)
    (10, 20, 4)
    """
    return math.ceil((1.0 - ROUNDING) / q)
