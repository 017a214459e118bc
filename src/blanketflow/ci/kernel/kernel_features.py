"""Kernel features of columns: a matrix Phi with Phi Phi' = K, exact or from landmark rows, so that K is never stored.

Rows are in the same random order for all columns, so the first rows are a random sample.

`cross_without_each` computes the HSIC of d columns without each of them in turn. In an exact kernel, and for the
widths, one column is subtracted from the summed squared distances (kernels/gaussian_without_each.py). Between landmarks
and other rows the sums are built by halving: the columns of one half share the sum over the other half, which takes
log2(d) additions per column instead of d - 1. Neither loses digits: rows that are equal without a column have a
distance of exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np

from ...core.numerics import standardised
from ...core.table import Column

#: A landmark is dropped if the others span it up to this share of k(x, x) = 1.
SPANNED = 1e-10
#: The largest number of rows for the median distance.
MEDIAN_ROWS = 1000
#: The largest number of entries of a working matrix, 32 MB.
BLOCK = 2**22
#: Rows of a triangle computed together.
STEP = 128


class JointKernel:
    """One kernel on the joint vector of some complete columns: Gaussian on numeric columns, times delta on discrete
    ones.

    The Gaussian is exp(-d^2 / (2 sigma^2)) with Euclidean distances d of standardised columns; sigma is the median
    non-zero distance of the first `median_rows` rows (default `MEDIAN_ROWS`). The delta kernel is 1 if all discrete
    columns agree, else 0. Rows are in random order.
    """

    def __init__(self, columns: Sequence[Column], median_rows: int | None = None) -> None:
        self.numbers, codes = vectors(columns)
        self.codes = codes
        if codes.shape[1] > 1:
            self.codes = np.unique(codes, axis=0, return_inverse=True)[1].reshape(-1, 1).astype(float)
        self.sigma = median_distance(self.numbers[: median_rows or MEDIAN_ROWS])

    def __call__(self, rows: np.ndarray | slice, others: np.ndarray | slice) -> np.ndarray:
        """Return the kernel between rows and other rows, shape (number of rows, number of others)."""
        from scipy.spatial.distance import cdist

        kernel = cdist(self.numbers[rows], self.numbers[others], "sqeuclidean")  # zeros if there are no columns
        kernel *= -0.5 / self.sigma**2
        np.exp(kernel, out=kernel)
        if self.codes.shape[1]:
            kernel *= self.codes[rows] == self.codes[others].T
        return kernel

    def column(self, row: int) -> np.ndarray:
        """Return the kernel between all rows and one, shape (n,), in a third of the time of a call."""
        kernel = self._by_column - self._by_column[:, row : row + 1]
        kernel *= kernel
        kernel = kernel.sum(axis=0)  # in the order of columns
        kernel *= -0.5 / self.sigma**2
        np.exp(kernel, out=kernel)
        if self.codes.shape[1]:
            kernel *= self.codes[:, 0] == self.codes[row, 0]
        return kernel

    @cached_property
    def _by_column(self) -> np.ndarray:
        return np.ascontiguousarray(self.numbers.T)

    def lower(self, rows: np.ndarray) -> np.ndarray:
        """Return the lower triangle of the kernel among rows, the part read by `factor`; most of the rest is zero."""
        kernel = np.zeros((len(rows), len(rows)))
        for start in range(0, len(rows), STEP):
            part = slice(start, start + STEP)
            kernel[part, : part.stop] = self(rows[part], rows[: part.stop])
        return kernel


def vectors(columns: Sequence[Column]) -> tuple[np.ndarray, np.ndarray]:
    """Return the standardised numbers, shape (n, p), and the codes of the discrete columns, shape (n, q)."""
    n_rows = len(columns[0].numbers())
    empty = np.empty((n_rows, 0))
    numbers = np.column_stack([empty, *[column.numbers() for column in columns if not column.is_discrete]])
    codes = np.column_stack([empty, *[column.numbers() for column in columns if column.is_discrete]])
    return np.ascontiguousarray(standardised(numbers.T).T) * np.sqrt(n_rows), codes


def distinct_rows(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each group of equal rows, ascending, shape (m,), and each row's group, shape (n,).

    >>> distinct_rows(np.array([[3.0], [1.0], [3.0], [2.0]]))
    (array([0, 1, 3]), array([0, 1, 0, 2]))
    """
    if values.shape[1] and len(np.unique(values[:, 0])) == len(values):  # the usual case, and the fast one
        return np.arange(len(values)), np.arange(len(values))
    _, first, kinds = np.unique(values, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[kinds.reshape(-1)]


def landmark_rows(values: np.ndarray, n_landmarks: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the first `n_landmarks` distinct rows, and each row's index among them, or None if there are more rows."""
    if len(values) > n_landmarks and len(np.unique(values[:n_landmarks], axis=0)) == n_landmarks:
        return np.arange(n_landmarks), None  # the usual case, which needs no other rows
    first, kinds = distinct_rows(values)
    return (first, kinds) if len(first) <= n_landmarks else (first[:n_landmarks], None)


def kernel_features(columns: Sequence[Column], n_landmarks: int) -> np.ndarray:
    """Return centred features of the joint kernel of some columns: Phi of shape (n, r) with Phi Phi' = H K H.

    Nystroem's approximation with the first distinct rows, at most `n_landmarks`, as landmarks; exact if every distinct
    row is one. A pivoted Cholesky decomposition drops redundant landmarks. Constant columns have features of 0, to
    rounding. Memory is O(n n_landmarks + n_landmarks^2).

    >>> column = Column("c", "categorical", np.array([0, 1, 1, 1]), ("no", "yes"))
    >>> phi = kernel_features([column], 10)
    >>> (phi @ phi.T).round(4)[0].tolist()
    [1.125, -0.375, -0.375, -0.375]
    """
    kernel = JointKernel(columns)
    landmarks, _ = landmark_rows(np.column_stack([kernel.numbers, kernel.codes]), n_landmarks)
    upper, pivots = factor(kernel.lower(landmarks))
    features = whitened(upper, kernel(slice(None), landmarks[pivots]).T).T
    features -= features.mean(axis=0)
    return features


def low_rank_features(columns: Sequence[Column], trace_error: float, median_rows: int) -> np.ndarray:
    """Return centred features of the joint kernel of some columns that omit at most a share of its trace.

    Phi of shape (n, r) has tr(K - Phi Phi') <= `trace_error` tr K before centring, by an incomplete Cholesky
    decomposition (Fine, Scheinberg, 2001, JMLR 2, 243-264). Costs O(n r^2) operations, n r kernel evaluations and O(n
    r) memory.

    >>> column = Column("c", "categorical", np.array([0, 1, 1, 1]), ("no", "yes"))
    >>> low_rank_features([column], 0.01, 1000).shape
    (4, 2)
    """
    kernel = JointKernel(columns, median_rows)
    n = len(kernel.numbers)
    left, features = np.ones(n), np.empty((min(n, 64), n))
    rank = 0
    while left.sum() > trace_error * n and rank < n:
        pivot = int(left.argmax())
        if rank == len(features):
            features = np.concatenate([features, np.empty((min(rank, n - rank), n))])
        column = kernel.column(pivot)
        column -= features[:rank, pivot] @ features[:rank]
        column /= np.sqrt(left[pivot])
        features[rank] = column
        left -= column * column
        left[pivot] = 0.0
        np.maximum(left, 0.0, out=left)
        rank += 1
    found = features[:rank].T
    return found - found.mean(axis=0)


def cross_of_joint(columns: Sequence[Column], n_landmarks: int, b: np.ndarray) -> float:
    """Return ||Phi' B||^2 for the `kernel_features` Phi of some columns and centred features B, (n, s), without storing
    Phi.

    This is the HSIC times (n - 1)^2. It costs n n_landmarks kernel evaluations, and n_landmarks^3 / 3 operations if it
    is not exact.
    """
    kernel = JointKernel(columns)
    landmarks, places = landmark_rows(np.column_stack([kernel.numbers, kernel.codes]), n_landmarks)
    between = kernel(landmarks, landmarks)
    if places is not None:
        sums = sums_by_kind(b, places, len(landmarks))
        return max(0.0, float(np.sum((between @ sums) * sums)))
    to_landmarks = np.zeros((len(landmarks), b.shape[1]))
    step = max(1, BLOCK // len(landmarks))
    for start in range(0, len(b), step):
        rows = slice(start, start + step)
        to_landmarks += kernel(landmarks, rows) @ b[rows]
    return squared_by_landmarks(between, to_landmarks)


def sums_by_kind(b: np.ndarray, places: np.ndarray, n_kinds: int) -> np.ndarray:
    """Return the sums of each group of equal rows, shape (n_kinds, s); equal rows have equal kernels."""
    return np.column_stack([np.bincount(places, column, n_kinds) for column in b.T])


def squared_by_landmarks(between: np.ndarray, to_landmarks: np.ndarray) -> float:
    """Return tr(C' W^+ C) for the kernel W between landmarks, which is overwritten, and C of shape (m, s)."""
    upper, pivots = factor(between)
    return float(np.sum(whitened(upper, to_landmarks[pivots]) ** 2))


def factor(kernel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return U with U'U = K at rows that span the others, and these rows; overwrites K, of which it reads the lower
    triangle.
    """
    from scipy.linalg.lapack import dpstrf

    upper, pivots, rank, _ = dpstrf(kernel.T, tol=SPANNED, overwrite_a=True)
    return upper[:rank, :rank], pivots[:rank] - 1


def whitened(upper: np.ndarray, to_chosen: np.ndarray) -> np.ndarray:
    """Return U'^-1 C. Only the upper triangle of U is read; C may be overwritten."""
    from scipy.linalg import solve_triangular

    return solve_triangular(upper, to_chosen, trans="T", overwrite_b=True)


def residual_of(features: np.ndarray, ridge: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function from features, (n, s), to their residuals of kernel ridge regression on `features` (n, r).

    It multiplies by R = ridge (K + ridge I)^-1 = I - Phi (Phi' Phi + ridge I)^-1 Phi', where K = Phi Phi'.
    """
    from scipy.linalg import cho_factor, cho_solve

    factors = cho_factor(features.T @ features + ridge * np.eye(features.shape[1]))
    return lambda others: others - features @ cho_solve(factors, features.T @ others)


def median_distance(numbers: np.ndarray) -> float:
    """Return the median non-zero Euclidean distance of rows, 1 if all rows are equal.

    >>> median_distance(np.array([[0.0], [0.0], [1.0], [3.0]]))
    2.0
    """
    from scipy.spatial.distance import pdist

    from ...kernels.middle_values import middle_of_positive, middle_of_squared_differences

    if not (np.ptp(numbers, axis=0) ** 2).any():
        return 1.0
    if numbers.shape[1] == 1:
        middle = middle_of_squared_differences(np.sort(numbers[:, 0]))
    else:
        middle = middle_of_positive(pdist(numbers, "sqeuclidean"))
    return float(np.sqrt(middle).mean())


#: The largest number of entries of a working matrix, 4 MB; about log2(d) of them exist at a time.
LANDMARK_BLOCK = 2**19
#: Size in bytes of the cached products with landmarks.
HELD_BYTES = 2**26

#: A choice of rows of a table.
Rows = np.ndarray | slice


def cross_without_each(columns: Sequence[Column], n_landmarks: int, b: np.ndarray) -> np.ndarray:
    """Return `cross_of_joint` without each of d >= 2 columns, (d,).

    Memory is O(log2(d) n_landmarks^2) plus `HELD_BYTES`.
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
    """Columns to leave out in turn: `values`, (n, d), are standardised numbers, and codes of discrete columns.

    `sigmas`, (d,), are the median distances without each column, and `sigma` is that of all.
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

        The last result is cached, since the widths and the kernels often use the same rows.
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
    from ...kernels.gaussian_without_each import widths_without_each

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
    to_landmarks, step = np.zeros((len(part), m, b.shape[1])), max(1, LANDMARK_BLOCK // m)
    for start in range(0, len(b), step):
        rows = slice(start, start + step)
        for products, kernel in zip(to_landmarks, table.kernels(part, landmarks, rows), strict=True):
            products += kernel @ b[rows]
    for products, kernel in zip(to_landmarks, table.kernels(part, landmarks, landmarks), strict=True):
        are_equal = np.count_nonzero(kernel == 1.0) > m  # beyond the diagonal
        yield np.nan if are_equal else squared_by_landmarks(kernel, products)
