"""RCIT: a kernel test in linear time, by random Fourier features in place of kernel matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
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
from ..linear.regressions import is_function, present_levels
from ..pooling import pooled_p_values
from ..tails import weighted_chi2_tail
from .kernel_features import median_distance

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
        self._vectors: Callable[[str], np.ndarray] = cache(lambda name: _vectors(table[name]))

    def each(
        self, candidates: Sequence[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> CIResults:
        """Test each set of columns with the targets, as one joint variable."""
        n, residuals = self._table.n_rows, self._regression(given)
        is_rounded = any(map(self._is_rounded, (*targets, *given)))
        y = self._side(targets, given, residuals)
        answers = []
        for columns in candidates:
            if n < FEWEST_ROWS or is_rounded or any(map(self._is_rounded, columns)):
                answers.append(CIResult(0.0, 1.0, 0.0, 0.0, n, False))
                continue
            x = self._side(columns, given, residuals)
            answers.append(self._answer(x, y))
        return CIResults.from_rows(answers)

    def _answer(self, x: _Residuals | None, y: _Residuals | None) -> CIResult:
        n = self._table.n_rows
        if x is None or y is None:
            return CIResult(0.0, 1.0, 0.0, 0.0, n, True)
        covariance = x.plain.T @ y.plain / n
        statistic = n * float(np.sum(covariance * covariance))
        products = (x.without_row[:, :, np.newaxis] * y.without_row[:, np.newaxis, :]).reshape(n, -1)
        p_value, log_p = weighted_chi2_tail(statistic, np.linalg.eigvalsh(products.T @ products / n))
        return CIResult(statistic, p_value, log_p, 1.0, n, True)

    def _side(
        self, columns: tuple[int, ...], given: tuple[int, ...], residuals: Callable[[np.ndarray], _Residuals]
    ) -> _Residuals | None:
        tested = [self._table[at] for at in columns]
        if all(column.is_constant() for column in tested):
            return None
        found = residuals(self._features(self._names(columns + given), "side", self._test.n_features))
        # Asking the nearest neighbours takes several times as long as the test.
        is_followed = given and np.mean(found.plain**2) < LITTLE_LEFT
        if is_followed and is_function(tested, [self._table[at] for at in given]):
            return None
        return found

    def _names(self, columns: Sequence[int]) -> list[str]:
        return sorted(self._table.names[at] for at in columns)

    def _features(self, names: list[str], role: str, n_features: int) -> np.ndarray:
        """Return standardised random Fourier features of the joint vector of some columns, (n, r)."""
        vectors = np.hstack([self._vectors(name) for name in names])
        frequencies = [
            derive_rng(self._seed, role, name).normal(size=(self._vectors(name).shape[1], n_features)) for name in names
        ]
        phases = derive_rng(self._seed, role, "phases", *names).uniform(0.0, 2.0 * np.pi, n_features)
        width = median_distance(vectors[self._few])
        found = np.cos(vectors @ (np.vstack(frequencies) / width) + phases)
        return np.ascontiguousarray(standardised(found.T).T) * np.sqrt(self._table.n_rows)

    def _regression(self, given: tuple[int, ...]) -> Callable[[np.ndarray], _Residuals]:
        """Return what takes the residuals of features, (n, r), on random features of given columns."""
        n = self._table.n_rows
        if not given or n < FEWEST_ROWS:
            return lambda features: _Residuals(features, features)
        from scipy.linalg import cho_factor, solve_triangular

        of_given = self._features(self._names(given), "given", min(self._test.n_given_features, n // ROWS_PER_FEATURE))
        products = of_given.T @ of_given
        upper, _ = cho_factor(products + self._test.ridge * n * np.eye(len(products)))
        basis = solve_triangular(upper, of_given.T, trans="T").T
        free = np.maximum(1.0 - 1.0 / n - np.vecdot(basis, basis), LEAST_FREE)[:, np.newaxis]

        def residuals(features: np.ndarray) -> _Residuals:
            plain = features - basis @ (basis.T @ features)
            return _Residuals(plain, plain / np.sqrt(free))

        return residuals


@dataclass
class _Residuals:
    """Residuals of features, (n, r), and larger ones for the variance of their products."""

    plain: np.ndarray
    without_row: np.ndarray


def _vectors(column: Column) -> np.ndarray:
    """Return a number standardised, (n, 1), or the indicators of a label's levels, by how many rows have them."""
    if not column.is_discrete:
        return standardised(column.numbers()[np.newaxis]).T * np.sqrt(column.n_rows)
    codes, n_levels = present_levels(column)
    order = np.argsort(-np.bincount(codes, minlength=n_levels), kind="stable")
    return (codes[:, np.newaxis] == order).astype(np.float64)
