"""Gaussian knockoffs of columns: copies that stand to all columns as these do to each other, and know no target.

Exchanging any columns with their copies leaves the joint law as it is, if the columns are Gaussian with the
correlations that are used: Candes, Fan, Janson and Lv (2018), doi:10.1111/rssb.12265.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from .knockoff_distances import equal_distance, reconstructing_least

#: The constructions, and up to how many columns ``auto`` takes the one that costs the cube of their number.
MINIMUM_RECONSTRUCTABILITY, EQUICORRELATED, AUTO = "mvr", "equicorrelated", "auto"
MOST_BY_SWEEPS = 2000
#: Eigenvalues of correlations below it are raised to it: copies of columns, and combinations of others.
SMALLEST_EIGENVALUE = 1e-8


class KnockoffLaw(ABC):
    """What a law of columns says of their knockoffs: made once, drawn as often as wanted."""

    @abstractmethod
    def draw(self, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of columns of variance 1, both of shape (n, m)."""


def law_of(columns: np.ndarray, construction: str, correlations: np.ndarray | None = None) -> KnockoffLaw:
    """Return the law of the knockoffs of centred columns of variance 1, shape (n, m).

    Without known `correlations`, (m, m), these are estimated from the rows, shrunken towards none as `shrinkage` says.
    """
    n, m = columns.shape
    if not m:
        return DenseLaw(np.empty((0, 0)), np.empty((0, 0)))
    if construction == AUTO:
        construction = MINIMUM_RECONSTRUCTABILITY if m <= MOST_BY_SWEEPS else EQUICORRELATED
    if correlations is None:
        share = shrinkage(columns)
        if construction == EQUICORRELATED and n < m:
            return wide_law(columns, share)
        correlations = (1.0 - share) * (columns.T @ columns) / n + share * np.eye(m)
    values, vectors = np.linalg.eigh(correlations)
    if values[0] < SMALLEST_EIGENVALUE:
        values = np.maximum(values, SMALLEST_EIGENVALUE)
        correlations = (vectors * values) @ vectors.T
    if construction == EQUICORRELATED:
        s = np.full(m, equal_distance(float(values[0])))
    else:
        s = reconstructing_least(correlations)
    change = ((vectors / values) @ vectors.T) * s
    left, axes = np.linalg.eigh(2.0 * np.diag(s) - s[:, np.newaxis] * change)
    return DenseLaw(change, (axes * np.sqrt(np.maximum(left, 0.0))).T)


@dataclass(frozen=True)
class DenseLaw(KnockoffLaw):
    """Knockoffs are X - X C + noise N, where N' N is the covariance left by X; C and N have the shape (m, m)."""

    change: np.ndarray
    noise: np.ndarray

    def draw(self, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of columns."""
        return columns - columns @ self.change + rng.standard_normal(columns.shape) @ self.noise


def wide_law(columns: np.ndarray, share: float) -> KnockoffLaw:
    """Return the equicorrelated law of more columns than rows, with correlations ``(1 - share) X'X / n + share I``.

    The rows span n dimensions; in all others the eigenvalue is `share`. O(n^2 m), without a matrix of shape (m, m).
    """
    _, singular, axes = np.linalg.svd(columns / np.sqrt(len(columns)), full_matrices=False)
    eigenvalues = (1.0 - share) * singular**2 + max(share, SMALLEST_EIGENVALUE)
    outside = max(share, SMALLEST_EIGENVALUE)
    s = equal_distance(outside)
    left = np.sqrt(np.maximum(2.0 * s - s * s / outside, 0.0))
    return WideLaw(axes, s / eigenvalues, np.sqrt(2.0 * s - s * s / eigenvalues) - left, left)


@dataclass(frozen=True)
class WideLaw(KnockoffLaw):
    """The same with C and N as multiples along the axes of the rows, of shape (n, m), and one multiple for all else."""

    axes: np.ndarray
    change: np.ndarray
    noise: np.ndarray
    outside: float

    def draw(self, columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return knockoffs of columns, whose rows lie within the axes."""
        noise = rng.standard_normal(columns.shape)
        along = (noise @ self.axes.T) * self.noise - (columns @ self.axes.T) * self.change
        return columns + along @ self.axes + self.outside * noise


def shrinkage(columns: np.ndarray) -> float:
    """Return the share of the identity in Ledoit and Wolf's (2004, doi:10.1016/S0047-259X(03)00096-4) correlations.

    `columns` are centred and of variance 1, shape (n, m). 1 where nothing can be estimated.

    Examples
    --------
    >>> x = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]])
    >>> shrinkage(x)
    0.0
    """
    n, m = columns.shape
    products = columns @ columns.T if n < m else columns.T @ columns
    together = float(np.sum((products / n) ** 2))
    apart = float(np.sum(np.sum(columns**2, axis=1) ** 2)) / n
    distance = together - m
    return min(1.0, (apart - together) / n / distance) if distance > 0 else 1.0
