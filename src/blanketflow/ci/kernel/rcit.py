"""RCIT: a kernel test in linear time, by random Fourier features in place of kernel matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar

import numpy as np

from ...core.cards import ASYMPTOTIC, IMPUTATIONS, PAIRWISE, Card
from ...core.numerics import standardised
from ...core.parameters import integer, number
from ...core.results import CIResult, CIResults
from ...core.seeds import derive_rng
from ...core.table import Column, Table
from ..base import CITest
from ..joint_engine import JointEngine
from ..linear.regressions import FunctionsOf, present_levels
from ..pooling import pooled_p_values
from ..tails import weighted_chi2_tail

#: Most rows whose median distance is the width of a kernel.
MEDIAN_ROWS = 200
#: The fewest rows of a test, and rows per random feature of the given columns.
FEWEST_ROWS, ROWS_PER_FEATURE = 20, 4
#: Columns of which at least this share is left are no functions of Z.
LITTLE_LEFT = 0.1
#: Residuals are divided by at least this share, which a row's own regression leaves it.
LEAST_FREE = 0.1


@dataclass
class RCIT(CITest):
    """Randomised conditional independence test: covariances of random Fourier features, less their regressions on Z.

    The joint vector of X and Z, and that of Y and Z, are each mapped to `n_features` functions sqrt(2) cos(w'v / s +
    b), with normal w, uniform b and the median distance s of rows: their products approximate a Gaussian kernel.
    Numbers are standardised, and a label is a vector of indicators. All are regressed on such functions of Z, up to
    `n_given_features`, and the statistic is n times the sum of their squared residual covariances. Its null
    distribution, a weighted sum of chi-squares with the eigenvalues of the products' covariance as weights, is
    approximated by its first three moments (Hall 1983, Buckley and Eagleson 1988).

    Two changes of the paper's test make it calibrated in small samples: there are at most n / 4 functions of Z, and the
    products' covariance has leave-one-out residuals. Z joins both sides, so that the test is symmetric; in the paper it
    joins X only. Without Z on either side (the paper's RCoT) the test is blind to X XOR Z, and no better calibrated up
    to three given columns. `seed` fixes the functions; a column has the same ones in every test.

    Two flags with a small cell, given nothing, are tested by Fisher's exact test. A column that is a function of Z is
    independent. A test is unreliable with fewer than 20 rows, or if rounding has destroyed a column.

    Notes
    -----
    It finds dependence of any form as ``hsic`` does, in a fraction of the time, with less power: a few random functions
    do not see all of a kernel, and with some seeds they miss a relation that others see.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=300)
    >>> X = np.column_stack([a**2 + 0.1 * rng.normal(size=300), a, a + rng.normal(size=300)])
    >>> test = RCIT().bind(X, seed=1)
    >>> bool(test.test(0, 1).p_value < 1e-3), bool(test.test(0, 2, given=[1]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="rcit",
        name="randomised conditional independence test (RCIT)",
        family="ci-test",
        summary="Covariances of random Fourier features less their regressions on Z: a kernel test in linear time.",
        reference="Strobl, Zhang, Visweswaran (2019) Approximate kernel-based conditional independence tests for fast "
        "non-parametric causal discovery, Journal of Causal Inference 7(1), doi:10.1515/jci-2018-0017.",
        guarantee="p-values right in large samples if the regressions on functions of Z are",
        p_values=ASYMPTOTIC,
        cost="O(n d^2 + d^3) for d functions of Z, once for all candidates, and O(n d) per candidate",
        symmetric=True,
        measures=("p-value",),
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
        takes_max_rows=True,
    )
    draws_rows: ClassVar[bool] = True  # type: ignore[misc] # for the median distance

    n_features: int = integer(8, "Random functions of X, and of Y (5 in the paper).", at_least=1)
    n_given_features: int = integer(100, "Random functions of Z; at most a quarter of the rows.", at_least=1)
    ridge: float = number(0.001, "Ridge of the regressions on Z, as a share of the functions' variance.", above=0)

    def prepare(self, table: Table, seed: int, target: int | None) -> _RandomFeatures:
        """Return the engine; `seed` fixes the random functions."""
        return _RandomFeatures(self, table, seed)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return results pooled by their p-values."""
        return pooled_p_values(copies)


class _RandomFeatures(JointEngine):
    def __init__(self, test: RCIT, table: Table, seed: int) -> None:
        super().__init__(table)
        self._test, self._seed = test, seed
        few = derive_rng(seed, "median").permutation(table.n_rows)[:MEDIAN_ROWS]
        self._few = np.sort(few)

    def each(
        self, candidates: Sequence[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> CIResults:
        """Test each set of columns with the targets, as one joint variable."""
        n, by = self._table.n_rows, _Given(self, given)
        is_rounded = any(map(self._is_rounded, (*targets, *given)))
        y = None if n < FEWEST_ROWS or is_rounded else self._side(targets, by)
        answers = []
        for columns in candidates:
            if n < FEWEST_ROWS or is_rounded or any(map(self._is_rounded, columns)):
                answers.append(CIResult(0.0, 1.0, 0.0, 0.0, n, False))
                continue
            x = self._side(columns, by) if y else None
            answers.append(self._answer(x, y) if x and y else CIResult(0.0, 1.0, 0.0, 0.0, n, True))
        return CIResults.from_rows(answers)

    def _answer(self, x: _Residuals, y: _Residuals) -> CIResult:
        n, r = self._table.n_rows, len(x.plain)
        covariance = x.plain @ y.plain.T / n
        statistic = n * float(np.sum(covariance * covariance))
        # The covariances of all products of one of X with one of Y; their eigenvalues are the weights.
        of_pairs, places = x.pairs @ y.pairs.T / n, _places_of_pairs(r)
        products = of_pairs[places[:, np.newaxis, :, np.newaxis], places[:, np.newaxis, :]].reshape(r * r, r * r)
        squared = products @ products
        sums = float(np.trace(products)), float(np.trace(squared)), float(np.vdot(products, squared))
        return CIResult(statistic, *weighted_chi2_tail(statistic, sums), 1.0, n, True)

    def _side(self, columns: tuple[int, ...], by: _Given) -> _Residuals | None:
        tested = [self._table[at] for at in columns]
        if all(column.is_constant() for column in tested):
            return None
        found = by.residuals(self.features(self.joint(columns, "side", self._test.n_features) + by.joint))
        # Asking the nearest neighbours takes several times as long as the test.
        is_followed = by.given and np.mean(found.plain**2) < LITTLE_LEFT
        return None if is_followed and by.functions.include(tested) else found

    def joint(self, columns: tuple[int, ...], role: str, n_features: int) -> _Joint:
        """Return the joint vector of some columns, by its random projections, (r, n), and distances of few rows."""
        from scipy.spatial.distance import pdist

        found = _Joint(frozenset(), role, np.zeros((n_features, self._table.n_rows)), np.zeros(1))
        for name in sorted(self._table.names[at] for at in columns):
            vectors = _vectors(self._table[name])
            frequencies = derive_rng(self._seed, role, name).normal(size=(vectors.shape[1], n_features))
            squares = pdist(vectors[self._few], "sqeuclidean")
            found += _Joint(frozenset([name]), role, frequencies.T @ vectors.T, squares)
        return found

    def features(self, joint: _Joint) -> np.ndarray:
        """Return standardised random Fourier features of a joint vector, (r, n)."""
        rng = derive_rng(self._seed, joint.role, "phases", *sorted(joint.names))
        phases = rng.uniform(0.0, 2.0 * np.pi, len(joint.projections))
        found = np.cos(joint.projections / _median_root(joint.squares) + phases[:, np.newaxis])
        return standardised(found) * np.sqrt(self._table.n_rows)

    def regression(self, given: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray] | None:
        """Return whitened random features of given columns, (d, n), and what they leave of each row; None of none."""
        n = self._table.n_rows
        if not given or n < FEWEST_ROWS:
            return None
        from scipy.linalg import cho_factor, solve_triangular

        of_given = self.features(self.joint(given, "given", min(self._test.n_given_features, n // ROWS_PER_FEATURE)))
        products = of_given @ of_given.T
        upper, _ = cho_factor(products + self._test.ridge * n * np.eye(len(products)))
        basis = solve_triangular(upper, of_given, trans="T")
        return basis, np.sqrt(np.maximum(1.0 - 1.0 / n - (basis * basis).sum(axis=0), LEAST_FREE))


class _Given:
    """The conditioning set of some tests, and what they share of it."""

    def __init__(self, engine: _RandomFeatures, given: tuple[int, ...]) -> None:
        self.given, self._regression = given, engine.regression(given)
        self.joint = engine.joint(given, "side", engine._test.n_features)
        self.functions = FunctionsOf([engine._table[at] for at in given])

    def residuals(self, features: np.ndarray) -> _Residuals:
        """Return the residuals of features, (r, n), on random features of the given columns."""
        if self._regression is None:
            return _Residuals(features, features)
        basis, free = self._regression
        plain = features - (features @ basis.T) @ basis
        return _Residuals(plain, plain / free)


@dataclass
class _Joint:
    """A joint vector of columns by its random projections, (r, n), and squared distances of few rows, (pairs,)."""

    names: frozenset[str]
    role: str
    projections: np.ndarray
    squares: np.ndarray

    def __add__(self, other: _Joint) -> _Joint:
        """Return the vector of the columns of both."""
        projections, squares = self.projections + other.projections, self.squares + other.squares
        return _Joint(self.names | other.names, self.role, projections, squares)


@dataclass
class _Residuals:
    """Residuals of features, (r, n), and larger ones for the variance of their products."""

    plain: np.ndarray
    without_row: np.ndarray

    @cached_property
    def pairs(self) -> np.ndarray:
        """The products of each two, once, (r (r + 1) / 2, n)."""
        return np.vstack([one * self.without_row[at:] for at, one in enumerate(self.without_row)])


@cache
def _places_of_pairs(r: int) -> np.ndarray:
    """Return the place of each two of r among `pairs`, (r, r)."""
    first, second = np.triu_indices(r)
    found = np.empty((r, r), dtype=np.intp)
    found[first, second] = found[second, first] = np.arange(len(first))
    return found


def _median_root(squares: np.ndarray) -> float:
    """Return the square root of the median positive number, the mean of two, or 1 if there is none."""
    n_zero = np.count_nonzero(squares == 0.0)
    if n_zero == len(squares):
        return 1.0
    last = len(squares) - n_zero - 1
    middle = [n_zero + last // 2, n_zero + (last + 1) // 2]
    return float(np.sqrt(np.partition(squares, middle)[middle]).mean())


def _vectors(column: Column) -> np.ndarray:
    """Return a number standardised, (n, 1), or the indicators of a label's levels, by how many rows have them."""
    if not column.is_discrete:
        return standardised(column.numbers()[np.newaxis]).T * np.sqrt(column.n_rows)
    codes, n_levels = present_levels(column)
    order = np.argsort(-np.bincount(codes, minlength=n_levels), kind="stable")
    return (codes[:, np.newaxis] == order).astype(np.float64)
