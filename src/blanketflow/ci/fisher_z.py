"""Fisher's z test of a vanishing partial correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.cards import ASYMPTOTIC, BOOLEAN, INTEGER, NUMERIC, Card
from ..core.results import CIResults
from ..core.table import Table
from .base import CITest, constant_results
from .tails import normal_two_sided

#: Share of a variance below which it counts as explained away: such a column is collinear with the others.
COLLINEAR = 1e-10


@dataclass
class FisherZ(CITest):
    """Partial correlation of X and Y given Z, transformed to a standard normal z.

    Discrete columns of two levels enter as 0 and 1. Collinear members of the conditioning set count once. A column that
    is constant, or a linear function of the conditioning set, is independent of everything given that set.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> X = np.column_stack([a + rng.normal(size=500), a, a + rng.normal(size=500)])
    >>> test = FisherZ().bind(X)
    >>> bool(test.test(0, 2).p_value < 1e-6), bool(test.test(0, 2, given=[1]).p_value > 0.05)
    (True, True)
    """

    card: ClassVar[Card] = Card(
        id="fisher-z",
        name="Fisher's z test",
        family="ci-test",
        summary="Test of a vanishing partial correlation, for linear relations with Gaussian noise.",
        reference="Fisher (1924) The distribution of the partial correlation coefficient, Metron 3, 329-332.",
        guarantee="p-values right in large samples of multivariate Gaussian columns",
        p_values=ASYMPTOTIC,
        cost="O(n d) for each new column, then O(|Z|^3 + m |Z|^2) for m candidates given Z",
        kinds=(NUMERIC, INTEGER, BOOLEAN),
        symmetric=True,
        measures=("p-value", "mutual-information"),
        max_classes=2,
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> _FisherZEngine:
        """Return the engine; `seed` is not used."""
        return _FisherZEngine(table)

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the mutual information of Gaussian columns in nats, -log(1 - r^2) / 2."""
        scale = np.sqrt(np.maximum(results.dof, 1.0))
        return np.log(np.cosh(results.statistic / scale))


class _FisherZEngine:
    def __init__(self, table: Table) -> None:
        self.table = table
        self._standardised: dict[int, np.ndarray] = {}

    def standardised(self, position: int) -> np.ndarray:
        """Return a column with mean 0 and norm 1, zeros if it is constant."""
        if position not in self._standardised:
            values = self.table[position].numbers()
            scale = np.abs(values).max(initial=0.0)  # guards squares of huge values
            centred = values / scale if scale > 0 else values
            centred = centred - centred.mean()
            norm = np.linalg.norm(centred)
            is_constant = norm <= 1e-14 * np.sqrt(len(values))
            self._standardised[position] = np.zeros_like(centred) if is_constant else centred / norm
        return self._standardised[position]

    def evaluate(self, candidates: Sequence[int], target: int, given: Sequence[int]) -> CIResults:
        """Return z of the partial correlation of each candidate with the target, from one basis of the given set."""
        n = self.table.n_rows
        basis = self._basis(given)
        y = self.standardised(target)
        y = y - basis @ (basis.T @ y)
        X = np.column_stack([self.standardised(candidate) for candidate in candidates])
        X = X - basis @ (basis.T @ X)
        dof = n - basis.shape[1] - 3
        y_variance, x_variance = float(y @ y), np.einsum("ij,ij->j", X, X)
        if dof <= 0 or y_variance <= COLLINEAR:
            return constant_results(len(candidates), n)
        has_variance = x_variance > COLLINEAR
        correlation = np.zeros(len(candidates))
        correlation[has_variance] = (y @ X[:, has_variance]) / np.sqrt(y_variance * x_variance[has_variance])
        largest = 1.0 - 1e-15  # keeps z of a perfect relation finite
        z = np.arctanh(np.clip(correlation, -largest, largest)) * np.sqrt(dof)
        p_value, log_p = normal_two_sided(z)
        return CIResults(
            z, p_value, log_p, np.full(len(z), float(dof)), np.full(len(z), n), np.ones(len(z), dtype=bool)
        )

    def _basis(self, given: Sequence[int]) -> np.ndarray:
        """Return an orthonormal basis of the centred conditioning set, shape (n, rank)."""
        if not given:
            return np.zeros((self.table.n_rows, 0))
        Z = np.column_stack([self.standardised(position) for position in given])
        left, singular_values, _ = np.linalg.svd(Z, full_matrices=False)
        return left[:, singular_values**2 > COLLINEAR]
