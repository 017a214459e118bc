"""Comparison, standardisation and projection of numbers that are equal up to rounding.

Columns with the same information, such as a relabelled copy, have equal p-values up to the order of summation, which
depends on processor and library. Numbers are therefore rounded before they are compared.

Least squares use centred columns of length 1, stored as rows of an array (m, n). Every number is a sum over one pair of
columns, so the result for a column is bit-identical whether computed alone or with others, and for X and Y swapped.
"""

from __future__ import annotations

import math

import numpy as np

from .table import Column

#: A column with at most this unexplained share of variance is collinear.
COLLINEAR = 1e-10
#: Unexplained share of a perfect relation, to keep statistics finite.
SMALLEST_SHARE = 2e-15


def residuals(columns: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return columns, (m, n) or (n,), minus their projections on an orthonormal basis, (rank, n)."""
    for direction in basis:
        columns = columns - np.vecdot(columns, direction)[..., np.newaxis] * direction
    return columns


def orthonormal_basis(columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis, (rank, n), of columns of length 1 or of their residuals, (m, n).

    Gram-Schmidt with the largest residual next; residuals of at most `COLLINEAR` are skipped.

    >>> from blanketflow.core.numerics import standardised
    >>> a, b = standardised(np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 1.0]]))
    >>> orthonormal_basis(np.array([a, b, -a, (a + b) / 2])).shape
    (2, 4)
    """
    basis = np.empty_like(columns)
    rank = 0
    for _ in range(len(columns)):
        variance = np.vecdot(columns, columns)
        largest = int(np.argmax(variance))
        if variance[largest] <= COLLINEAR:
            break
        direction = residuals(columns[largest], basis[:rank])  # repeated because of rounding
        basis[rank] = direction / np.sqrt(np.vecdot(direction, direction))
        columns = residuals(columns, basis[rank : rank + 1])
        rank += 1
    return basis[:rank]


def efficient_scores(scores: np.ndarray, information: np.ndarray, n_added: int) -> np.ndarray:
    """Return the scores of rows by added parameters, less what those of the null model explain, (q, n).

    `scores`, (p, n), are derivatives of each row's log likelihood at the fit of the null model, last by the `n_added`
    parameters; `information`, (p, p), is minus the second derivative of their sum, or its expectation. The result is
    scaled to variance 1 of the sums for independent rows. Directions without information are left out.

    >>> efficient_scores(np.array([[1.0, 1.0, -2.0], [0.0, 2.0, 1.0]]), np.array([[4.0, 2.0], [2.0, 2.0]]), 1)
    array([[-0.5,  1.5,  2. ]])
    """
    n_null = len(scores) - n_added
    null, own, across = information[:n_null, :n_null], information[n_null:, n_null:], information[:n_null, n_null:]
    slopes = np.linalg.pinv(null, hermitian=True) @ across
    values, directions = np.linalg.eigh(own - across.T @ slopes)
    # Much less information than that of one row is rounding: the null model leaves nothing to tell.
    varies = values > 1e-10 * max(values.max(initial=0.0), 1.0)
    whitening = directions[:, varies] / np.sqrt(values[varies])
    return whitening.T @ (scores[n_null:] - slopes.T @ scores[:n_null])


def pair_relations(y: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations r of centred y, (n,), with columns, (m, n), and log(1 - r^2).

    A column explained by others (squared length at most `COLLINEAR`) has r = 0.
    """
    y_variance, variances = np.vecdot(y, y), np.vecdot(columns, columns)
    correlations, log_unexplained = np.zeros(len(columns)), np.zeros(len(columns))
    varies = np.flatnonzero(np.minimum(variances, y_variance) > COLLINEAR)
    if len(varies):
        y, columns = y / np.sqrt(y_variance), columns[varies] / np.sqrt(variances[varies])[:, np.newaxis]
        r = np.vecdot(columns, y)
        log_share = np.log1p(-np.minimum(r * r, 0.75))
        near = np.flatnonzero(r * r > 0.5)
        if len(near):  # 1 - r^2 loses digits there, but 1 - |r| is half the squared distance
            gap = columns[near] - np.sign(r[near])[:, np.newaxis] * y
            gap = np.vecdot(gap, gap) / 2.0
            log_share[near] = np.log(np.maximum(gap * (2.0 - gap), SMALLEST_SHARE))
        correlations[varies], log_unexplained[varies] = np.clip(r, -1.0, 1.0), log_share
    return correlations, log_unexplained


def log_unexplained_share(y: np.ndarray, basis: np.ndarray) -> float:
    """Return log(RSS / TSS) of centred y, (n,), regressed on an orthonormal basis; 0 if y is constant."""
    total = np.vecdot(y, y)
    if total <= COLLINEAR or not len(basis):
        return 0.0
    if len(basis) == 1:  # symmetric in y and the column
        return float(pair_relations(y, basis)[1][0])
    explained = np.sum(np.vecdot(basis, y) ** 2) / total
    if explained <= 0.5:
        return float(np.log1p(-explained))
    rest = residuals(y, basis)
    return float(np.log(max(np.vecdot(rest, rest) / total, SMALLEST_SHARE)))


#: Compared bits, of 53: about 10 digits.
BITS = 33


def comparable(values: np.ndarray) -> np.ndarray:
    """Return numbers rounded to `BITS` bits; infinities and NaN are unchanged.

    >>> comparable(np.array([0.1 + 0.2, 1e-300])) == comparable(np.array([0.3, 2e-300]))
    array([ True, False])
    """
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissas, BITS)), exponents - BITS)


def comparable_number(value: float) -> float:
    """Return `comparable` of one number, faster.

    >>> 0.1 + 0.2 == 0.3, comparable_number(0.1 + 0.2) == comparable_number(0.3)
    (False, True)
    """
    if not math.isfinite(value):
        return value
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, BITS)), exponent - BITS)


#: A column whose standard deviation is below this share of its largest value, or up to twice of it, counts as constant:
#: rounding has destroyed too much of it.
SMALLEST_SPREAD = 1e-14


def standardised(columns: np.ndarray, shares: np.ndarray | None = None) -> np.ndarray:
    """Return columns, (m, n), with mean 0 and length 1; zeros for a column that is constant up to rounding.

    With weights `shares`, (n,), of mean 1, the weighted mean is 0 and each cell is multiplied by the square root of its
    weight, so products of columns are weighted covariances.
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
    """Whether a complete column varies, but by too little for the float precision at its size.

    Its standard deviation is then below about 90 times the distance between neighbouring floats. At an offset of 1e13,
    500 times that distance, log p differs from that of exact numbers by less than 0.02.

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


#: Numbers are far from the others beyond this many times the distance from the median within which nine tenths are of
#: those that differ from it: 16 standard deviations of normal numbers.
FAR, NEAR_SHARE = 10.0, 0.9


def usual_range(values: np.ndarray) -> tuple[float, float]:
    """Return the limits beyond which numbers, (n,), are far from all others, without missing ones; infinite for none.

    >>> usual_range(np.array([*range(20), 5000.0]))
    (-90.0, 110.0)
    >>> usual_range(np.repeat([0.0, 1.0], [99, 1]))
    (-10.0, 10.0)
    """
    if not len(values):
        return -np.inf, np.inf
    middle = float(np.partition(values, len(values) // 2)[len(values) // 2])
    with np.errstate(over="ignore"):
        far = np.abs(values - middle)
    far = far[far > 0]
    if not len(far):
        return -np.inf, np.inf
    at = int(NEAR_SHARE * len(far))
    reach = FAR * float(np.partition(far, at)[at])
    return middle - reach, middle + reach
