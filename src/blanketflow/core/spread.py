"""The spread of a column: standardised columns, and those of which rounding has left nothing, such as 1e15 + noise."""

from __future__ import annotations

import numpy as np

from .table import Column

#: A column whose standard deviation is below this share of its largest value, or up to twice of it, counts as constant:
#: rounding has left too little of what it was.
SMALLEST_SPREAD = 1e-14


def standardised(columns: np.ndarray, shares: np.ndarray | None = None) -> np.ndarray:
    """Return columns, shape (m, n), with mean 0 and length 1; zeros if a column is constant but for rounding.

    With `shares`, weights of mean 1 of shape (n,), it is the weighted mean that is 0, and each cell is multiplied by
    the square root of its weight: products of such columns are weighted covariances.
    """
    _, exponents = np.frexp(np.abs(columns).max(axis=1, initial=0.0))
    # Scaling by powers of two does not round, and keeps the squares of huge and tiny values in range. The power of
    # numbers below 2^-1000 is no float, but the product of two.
    centred = columns * np.ldexp(1.0, np.minimum(-exponents, 1000))[:, np.newaxis]
    if (exponents < -1000).any():
        centred *= np.ldexp(1.0, np.maximum(-exponents - 1000, 0))[:, np.newaxis]
    for _ in range(2):  # the second pass removes the rounding error of a mean that is much larger than the spread
        centred -= (centred if shares is None else centred * shares).mean(axis=1, keepdims=True)
    if shares is not None:
        centred *= np.sqrt(shares)
    length = np.sqrt(np.vecdot(centred, centred))
    varies = length > SMALLEST_SPREAD * np.sqrt(columns.shape[1])
    return centred / np.where(varies, length, np.inf)[:, np.newaxis]


def is_rounded_away(column: Column) -> bool:
    """Whether a column without missing cells varies, but by too little for the floats of its size.

    The standard deviation is then below about 90 times the distance between neighbouring floats. Above that, p-values
    are those of exact numbers: at an offset of 1e13, 500 times the distance, log p differs by less than 0.02.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=50)
    >>> [is_rounded_away(Column("a", "numeric", noise + offset)) for offset in (0.0, 1e13, 1e15)]
    [False, False, True]
    >>> is_rounded_away(Column("a", "numeric", np.full(50, 0.1)))
    False
    """
    if column.is_discrete:
        return False
    cells = column.cells()
    if not len(cells) or cells.min() == cells.max():
        return False
    values = column.numbers()
    low, high = float(values.min()), float(values.max())
    # The standard deviation is at least the range / sqrt(2 n).
    if high / 2 - low / 2 > 2 * SMALLEST_SPREAD * np.sqrt(len(values)) * max(abs(low), abs(high)):
        return False
    return not standardised(values[np.newaxis]).any()
