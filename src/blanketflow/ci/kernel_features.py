"""Kernel features of columns: a matrix Phi with Phi Phi' = K, exact or from landmark rows, so that K is never held."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.table import Column
from .least_squares import standardised

#: A landmark that the others span up to this share of k(x, x) = 1 adds nothing.
SPANNED = 1e-10
#: Most rows that the median distance is taken from.
MEDIAN_ROWS = 1000


class JointKernel:
    """One kernel on the joint vector of some columns: Gaussian on the numbers, times delta on the discrete ones.

    The Gaussian exp(-d^2 / (2 sigma^2)) takes Euclidean distances d of standardised columns; sigma is their median
    non-zero distance. The delta kernel is 1 where all discrete columns (categorical, boolean) agree, else 0.

    Parameters
    ----------
    columns : sequence of Column
        At least one, without missing cells.
    rng : Generator
        Draws the rows for the median where there are more than `MEDIAN_ROWS`.
    """

    def __init__(self, columns: Sequence[Column], rng: np.random.Generator) -> None:
        n_rows = len(columns[0].numbers())
        empty = np.empty((n_rows, 0))
        numbers = [column.numbers() for column in columns if not column.is_discrete]
        discrete = [column.numbers() for column in columns if column.is_discrete]
        self.numbers = standardised(np.column_stack([empty, *numbers]).T).T * np.sqrt(n_rows)
        self.codes = np.column_stack([empty, *discrete])
        if len(discrete) > 1:
            self.codes = np.unique(self.codes, axis=0, return_inverse=True)[1].reshape(-1, 1).astype(float)
        rows = np.arange(n_rows) if n_rows <= MEDIAN_ROWS else np.sort(rng.choice(n_rows, MEDIAN_ROWS, replace=False))
        self.sigma = median_distance(self.numbers[rows])

    def __call__(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the kernel between rows and other rows, shape (len(rows), len(others))."""
        from scipy.spatial.distance import cdist

        kernel = np.ones((len(rows), len(others)))
        if self.numbers.shape[1]:
            kernel = cdist(self.numbers[rows], self.numbers[others], "sqeuclidean")
            kernel *= -0.5 / self.sigma**2
            np.exp(kernel, out=kernel)
        if self.codes.shape[1]:
            kernel *= self.codes[rows] == self.codes[others].T
        return kernel

    def distinct_rows(self) -> np.ndarray:
        """Return one position a distinct row, in ascending order of the values: the others repeat these."""
        return np.unique(np.column_stack([self.numbers, self.codes]), axis=0, return_index=True)[1]


def kernel_features(columns: Sequence[Column], n_landmarks: int, rng: np.random.Generator) -> np.ndarray:
    """Return centred features of the joint kernel of some columns.

    Landmarks are the distinct rows, or a sample of them; the features are those of Nystroem's approximation, which is
    exact where every distinct row is a landmark. A pivoted Cholesky decomposition leaves out what others span.

    Parameters
    ----------
    columns : sequence of Column
        The joint variable.
    n_landmarks : int
        Most landmarks. Memory is O(n n_landmarks + n_landmarks^2).
    rng : Generator
        Draws landmarks, and rows for the median distance.

    Returns
    -------
    ndarray of shape (n, r)
        Phi with Phi Phi' = H K H and r <= n_landmarks; all zeros (to rounding) for constant columns.

    Examples
    --------
    >>> column = Column("c", "categorical", np.array([0, 1, 1, 1]), ("no", "yes"))
    >>> phi = kernel_features([column], 10, np.random.default_rng(0))
    >>> (phi @ phi.T).round(4)[0].tolist()
    [1.125, -0.375, -0.375, -0.375]
    """
    from scipy.linalg import solve_triangular
    from scipy.linalg.lapack import dpstrf

    kernel = JointKernel(columns, rng)
    landmarks = kernel.distinct_rows()
    if len(landmarks) > n_landmarks:
        landmarks = landmarks[np.sort(rng.choice(len(landmarks), n_landmarks, replace=False))]
    upper, pivots, rank, _ = dpstrf(kernel(landmarks, landmarks), tol=SPANNED)
    chosen = landmarks[pivots[:rank] - 1]
    to_chosen = kernel(np.arange(len(kernel.numbers)), chosen)
    features = solve_triangular(upper[:rank, :rank], to_chosen.T, trans="T", overwrite_b=True).T
    features -= features.mean(axis=0)
    return features


def residual_of(features: np.ndarray, ridge: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return what takes from other features, shape (n, s), their kernel ridge regression on these, shape (n, r).

    With K = Phi Phi' it multiplies by R = ridge (K + ridge I)^-1 = I - Phi (Phi' Phi + ridge I)^-1 Phi'.
    """
    from scipy.linalg import cho_factor, cho_solve

    factor = cho_factor(features.T @ features + ridge * np.eye(features.shape[1]))
    return lambda others: others - features @ cho_solve(factor, features.T @ others)


def median_distance(numbers: np.ndarray) -> float:
    """Return the median non-zero Euclidean distance of rows, 1 if all rows are equal.

    Examples
    --------
    >>> median_distance(np.array([[0.0], [0.0], [1.0], [3.0]]))
    2.0
    """
    from scipy.spatial.distance import pdist

    distances = pdist(numbers) if numbers.shape[1] else np.empty(0)
    distances = distances[distances > 0]
    return float(np.median(distances)) if len(distances) else 1.0
