"""Least squares on centred columns of length 1, stored as rows of an array (m, n): bases, residuals, explained shares.

Every number is a sum over one pair of columns. So the result for a column is the same to the last bit whether it is
computed alone or with others, and for X and Y swapped.
"""

from __future__ import annotations

import numpy as np

#: A column whose unexplained share of variance is at most this is collinear with the others.
COLLINEAR = 1e-10
#: The unexplained share of a perfect relation, which keeps statistics finite.
SMALLEST_SHARE = 2e-15


def residuals(columns: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return columns, shape (m, n) or (n,), minus their projections on an orthonormal basis of shape (rank, n)."""
    for direction in basis:
        columns = columns - np.vecdot(columns, direction)[..., np.newaxis] * direction
    return columns


def orthonormal_basis(columns: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis, shape (rank, n), of columns of length 1 or of their residuals, shape (m, n).

    Uses the Gram-Schmidt method, taking the column with the largest residual next and leaving out residuals of at most
    `COLLINEAR`.

    Examples
    --------
    >>> from blanketflow.core.spread import standardised
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


def pair_relations(y: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations r of centred y, shape (n,), with columns, shape (m, n), and log(1 - r^2).

    A column that others explain (squared length at most `COLLINEAR`) has r = 0.
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
    """Return log(RSS / TSS) of centred y, shape (n,), regressed on an orthonormal basis; 0 if y does not vary."""
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
