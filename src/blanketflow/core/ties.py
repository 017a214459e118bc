"""Rounds numbers before they are compared, since rounding errors make equal numbers differ in the last bits.

Two columns with the same information, such as a column and its relabelled copy, have equal p-values except for the
order of summation, which depends on the processor and the library. Of equal ones, a ranking takes the first column.
"""

from __future__ import annotations

import math

import numpy as np

#: Number of bits that are compared, of 53: some 10 digits.
BITS = 33


def comparable(values: np.ndarray) -> np.ndarray:
    """Return an array's numbers rounded to `BITS` bits; infinities and NaN stay.

    Examples
    --------
    >>> comparable(np.array([0.1 + 0.2, 1e-300])) == comparable(np.array([0.3, 2e-300]))
    array([ True, False])
    """
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissas, BITS)), exponents - BITS)


def comparable_number(value: float) -> float:
    """Return a number rounded to `BITS` bits, as `comparable` does, faster for one.

    Examples
    --------
    >>> 0.1 + 0.2 == 0.3, comparable_number(0.1 + 0.2) == comparable_number(0.3)
    (False, True)
    """
    if not math.isfinite(value):
        return value
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, BITS)), exponent - BITS)
