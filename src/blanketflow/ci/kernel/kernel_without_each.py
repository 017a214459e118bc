"""The HSIC of a set of columns without each of them in turn, for about the cost of a few evaluations per column.

Squared distances are sums over columns. Between the rows of an exact kernel, and for the widths, one column is
subtracted from the sum over all (kernels/gaussian_without_each.py). Between landmarks and other rows the sum over all
columns but one is built by halving: the columns of one half share the sum over the other half. This takes log2(d)
additions per column instead of d - 1. Neither loses digits, so rows that are equal without a column have a distance of
exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...core.table import Column
from .kernel_features import (
    MEDIAN_ROWS,
    cross_of_joint,
    landmark_rows,
    squared_by_landmarks,
    sums_by_kind,
    vectors,
)

#: The largest number of entries of a working matrix, 4 MB; about log2(d) of them exist at a time.
BLOCK = 2**19
#: Size in bytes of the products with landmarks that are stored.
HELD_BYTES = 2**26

#: A choice of rows of a table.
Rows = np.ndarray | slice


def cross_without_each(columns: Sequence[Column], n_landmarks: int, b: np.ndarray) -> np.ndarray:
    """Return `cross_of_joint` of all d columns but one, leaving out each in turn, shape (d,).

    There are at least two columns, with rows in random order. Memory is O(log2(d) n_landmarks^2) plus `HELD_BYTES`.
    """
    table = _LeaveOneOut(columns)
    landmarks, places = landmark_rows(table.values, n_landmarks)
    if places is not None:
        return _exact(table, landmarks, sums_by_kind(b, places, len(landmarks)))
    size = max(1, HELD_BYTES // (8 * n_landmarks * b.shape[1]))
    parts = [range(start, min(len(columns), start + size)) for start in range(0, len(columns), size)]
    crosses = [cross for part in parts for cross in _by_landmarks(table, part, landmarks, b)]
    for i, cross in enumerate(crosses):
        if np.isnan(cross):  # without this column some landmarks are equal, so it needs other landmarks
            crosses[i] = cross_of_joint([*columns[:i], *columns[i + 1 :]], n_landmarks, b)
    return np.array(crosses)


class _LeaveOneOut:
    """Columns, each of which is left out in turn.

    `values`, (n, d), are standardised numbers, and codes of discrete columns; `sigmas`, (d,), are the median distances
    without each column, and `sigma` is that of all.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        numbers, codes = vectors(columns)
        self.is_discrete = np.array([column.is_discrete for column in columns])
        self.values = np.empty((len(numbers), len(columns)))
        self.values[:, ~self.is_discrete], self.values[:, self.is_discrete] = numbers, codes
        self._last = np.empty(0, dtype=np.int64), (np.empty((0, 0)), np.empty((0, 0)))
        first = np.arange(min(len(self.values), MEDIAN_ROWS))
        self.sigma, numeric_sigmas = _widths(*self.squared_distances(first))
        self.sigmas = np.full(len(columns), self.sigma)
        self.sigmas[~self.is_discrete] = numeric_sigmas

    def squared_distances(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers by column, (p, m), and squared distances in all of them above the diagonal, (m, m).

        The rows for the widths are often those of the kernels, too; they are not computed twice in a row.
        """
        from ...kernels.gaussian_without_each import squared_distances

        if not np.array_equal(rows, self._last[0]):
            numbers = np.ascontiguousarray(self.values[rows][:, ~self.is_discrete].T)
            squares = np.empty((numbers.shape[1], numbers.shape[1]))
            squared_distances(numbers, squares)
            self._last = rows, (numbers, squares)
        return self._last[1]

    def kernels(self, part: range, rows: Rows, others: Rows | None = None) -> Iterator[np.ndarray]:
        """Yield the kernel without each column of a part, between rows and others, or for each pair of rows."""
        rests = _without_each(part, len(self.sigmas), lambda members: self.squares(members, rows, others))
        for i, rest in zip(part, rests, strict=True):
            weights = rest * (-0.5 / self.sigmas[i] ** 2)
            yield np.exp(weights, out=weights)

    def squares(self, members: Sequence[int], rows: Rows, others: Rows | None = None) -> np.ndarray:
        """Return squared distances in some columns, infinite if levels differ."""
        from scipy.spatial.distance import cdist, pdist

        def between(columns: np.ndarray) -> np.ndarray:
            values = self.values[rows][:, columns]
            if others is None:
                return pdist(values, "sqeuclidean")
            return cdist(values, self.values[others][:, columns], "sqeuclidean")

        chosen = np.asarray(members, dtype=np.int64)
        is_discrete = self.is_discrete[chosen]
        squares = between(chosen[~is_discrete])
        if is_discrete.any():
            squares[between(chosen[is_discrete]) > 0] = np.inf
        return squares


def _without_each(part: range, n: int, sum_over: Callable[[Sequence[int]], np.ndarray]) -> Iterator[np.ndarray]:
    """Yield the sum over all n columns but one, leaving out each column of a part in turn."""

    def visit(members: range, rest: np.ndarray) -> Iterator[np.ndarray]:
        if len(members) == 1:
            yield rest
            return
        left, right = members[: len(members) // 2], members[len(members) // 2 :]
        yield from visit(left, rest + sum_over(right))
        yield from visit(right, rest + sum_over(left))

    return visit(part, sum_over([i for i in range(n) if i not in part]))


def _widths(numbers: np.ndarray, squares: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the median positive distance in all numeric columns, 1 if there is none, and without each, (p,)."""
    from ...kernels.widths_without_each import widths_without_each

    none_left_out = np.vstack([numbers, np.zeros((1, numbers.shape[1]))])
    widths = np.empty(len(none_left_out))
    widths_without_each(none_left_out, squares, widths)
    return float(widths[-1]), widths[:-1]


def _exact(table: _LeaveOneOut, rows: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Return sum_ij K_ij (B B')_ij over distinct rows without each column, with B summed over equal rows."""
    from ...kernels.gaussian_without_each import sums_without_each

    products = sums @ sums.T
    diagonal = np.trace(products)
    numbers, squares = table.squared_distances(rows)
    codes = table.values[rows][:, table.is_discrete].T
    n_differing = np.zeros(squares.shape, dtype=np.int32)
    for code in codes:
        n_differing += code[:, None] != code
    crosses, numeric = np.empty(len(table.sigmas)), np.empty(len(numbers))
    where_equal = np.where(n_differing == 0, products, 0.0)
    sums_without_each(numbers, squares, table.sigmas[~table.is_discrete], where_equal, numeric)
    crosses[~table.is_discrete] = numeric
    if len(codes):
        kernel = np.triu(np.exp(squares * (-0.5 / table.sigma**2)) * products, 1)
        crosses[table.is_discrete] = [kernel[n_differing == (code[:, None] != code)].sum() for code in codes]
    return np.maximum(diagonal + 2.0 * crosses, 0.0)


def _by_landmarks(table: _LeaveOneOut, part: range, landmarks: np.ndarray, b: np.ndarray) -> Iterator[float]:
    """Yield Nystroem's approximation without each column of a part; NaN if landmarks become equal."""
    m = len(landmarks)
    to_landmarks, step = np.zeros((len(part), m, b.shape[1])), max(1, BLOCK // m)
    for start in range(0, len(b), step):
        rows = slice(start, start + step)
        for products, kernel in zip(to_landmarks, table.kernels(part, landmarks, rows), strict=True):
            products += kernel @ b[rows]
    for products, kernel in zip(to_landmarks, table.kernels(part, landmarks, landmarks), strict=True):
        are_equal = np.count_nonzero(kernel == 1.0) > m  # beyond the diagonal
        yield np.nan if are_equal else squared_by_landmarks(kernel, products)
