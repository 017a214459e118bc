"""The bins of a column's values, for trees with many rows."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("void(float64[::1], float64[::1], uint8[::1])", cache=True)
def find_bins(limits, values, codes):
    """Write the number of limits below each value; `limits`, at most 255, ascend."""
    padded = np.full(256, np.inf)
    for k in range(len(limits)):
        padded[k] = limits[k]
    for i in range(len(values)):
        code, step = 0, 128
        while step:
            code += step * (padded[code + step - 1] < values[i])
            step //= 2
        codes[i] = code
