"""Nested regressions of a sample with a design: weighted fits, with score tests from the totals of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...core.design import Design
from ...core.results import CIResults
from ...core.table import Table
from ..cluster_totals import Clusters, judged, spread
from ..feature_groups import smallest_of
from .lr_mixed import NOTHING, Direction, LRMixed, LRMixedEngine
from .regressed import Regressed, Variable
from .stabilised_weights import by_weights


def prepared(test: LRMixed, table: Table, design: Design) -> Any:
    """Return the engine of a table with a design."""
    return by_weights(partial(LRMixedByClusters, test), table, design)


class LRMixedByClusters(LRMixedEngine):
    """The engine of a table with a design.

    `statistic`, `dof` and `reliable` are those of as many independent rows. The score of a row is what its log
    likelihood changes by with the coefficients of the added predictors, at those of the smaller regression, which are
    estimated; it is in the unit in which its variance is 1 if the rows are independent.
    """

    correlates: ClassVar[bool] = False

    def __init__(self, test: LRMixed, table: Table, design: Design) -> None:
        super().__init__(test, table)
        self._clusters = Clusters(design, table.n_rows)

    def evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Regress each column of Y on X, Z and those before it; the smallest p-value counts, times their number."""
        return CIResults.from_rows([smallest_of(self._links(x, y, given))])

    def _compare(
        self, pairs: list[tuple[Regressed, Regressed]], rank: int, n_levels: int
    ) -> tuple[Direction, Direction, bool]:
        if self._clusters.n - 1 <= self._clusters.n_costly(rank):
            return NOTHING, NOTHING, False
        return super()._compare(pairs, rank, n_levels)

    def _direction(self, response: Any, added: np.ndarray, dof: int, rest: int) -> Direction:
        totals = self._clusters.totals(scores(response, added))
        squared, n_given = np.sum(totals.sum(axis=-1) ** 2), self._clusters.n_costly(response.rank_given)
        found = judged(np.array([squared]), spread(totals[np.newaxis], n_given), self._clusters.n - 1.0 - n_given)
        p_value, log_p = (float(values[0]) for values in found)
        return Direction(response.likelihood_ratio(added), dof, rest, (p_value, log_p))

    def _tails(
        self, directions: Sequence[Direction], statistic: np.ndarray, dof: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        p_value, log_p = np.array([direction.tail for direction in directions]).reshape(-1, 2).T
        return p_value.copy(), log_p.copy()


def scores(response: Variable, added: np.ndarray) -> np.ndarray:
    """Return the scores of rows, (number of added coefficients, n), of predictors added to a response's regression.

    `added`, (q, n), is orthonormal and orthogonal to the given basis.
    """
    if response.is_numeric:
        return added * response.added[0]
    _, coefficients, design = response.null_model()
    n_others, weights = response.n_equations, response.weights
    exponents = np.vstack([np.zeros(design.shape[1]), coefficients @ design])
    probabilities = np.exp(exponents - exponents.max(axis=0))
    probabilities = (probabilities / probabilities.sum(axis=0))[1:]
    rests = (response.classes == np.arange(1, n_others + 1)[:, np.newaxis]) - probabilities
    more = response.of_variance_1(added)
    of_null, of_added = (_by_equation(weights * rests, columns) for columns in (design, more))
    blocks = [[_information(a, b, weights, probabilities) for b in (design, more)] for a in (design, more)]
    (null, across), (_, own) = blocks
    slopes = np.linalg.pinv(null, hermitian=True) @ across
    values, directions = np.linalg.eigh(own - across.T @ slopes)
    # Far less information than one row's is rounding: the given columns separate the classes.
    varies = values > 1e-10 * max(values.max(initial=0.0), 1.0)
    whitening = directions[:, varies] / np.sqrt(values[varies])
    return whitening.T @ (of_added - slopes.T @ of_null)


def _by_equation(rests: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the products of each equation's residuals, (r - 1, n), with each column, (k, n): shape ((r - 1) k, n)."""
    return (rests[:, np.newaxis] * columns).reshape(-1, columns.shape[1])


def _information(a: np.ndarray, b: np.ndarray, weights: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return the information between the coefficients of columns a and b of all equations."""
    rows = []
    for i, p in enumerate(probabilities):
        variances = [weights * p * ((i == j) - q) for j, q in enumerate(probabilities)]
        rows.append(np.hstack([(a * variance) @ b.T for variance in variances]))
    return np.vstack(rows)
