"""Fisher's z test of a zero partial correlation, and the F test of a zero multiple partial correlation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import ASYMPTOTIC, BOOLEAN, CROSS_PRODUCTS, IMPUTATIONS, INTEGER, NUMERIC, PAIRWISE, Card
from ...core.results import CIResults
from ...core.table import Table, is_complex
from ..base import CITest
from ..pooling import pooled_p_values, pooled_z, pooled_z_of_p_values
from .partial_correlations import FisherZByClusters, FisherZEngine
from .regressions import rounded_away
from .stabilised_weights import by_weights


@dataclass
class FisherZ(CITest):
    """Fisher's z test: the partial correlation r of X and Y given Z, transformed to a standard normal z.

    z = arctanh(r) sqrt(n - rank(Z) - 3), two-sided. Discrete columns with two levels enter as 0 and 1. Collinear
    members of the conditioning set count once. A column that is constant, or a linear function of the conditioning set,
    is independent of everything given that set.

    A test is not reliable if there are no degrees of freedom, n - rank(Z) - 3, or if rounding has destroyed one of its
    columns: if the standard deviation is below about 90 times the distance between floats of the column's size, as of
    1e15 + noise. Such a column counts as constant.

    A set of columns as X is tested by the exact F test of nested regressions. It tests whether R^2 is 0, the squared
    multiple partial correlation of Y with the q columns of the set that are linearly independent given Z:
    F = R^2 / (1 - R^2) (n - 1 - rank(Z) - q) / q with q and n - 1 - rank(Z) - q degrees of freedom; `statistic` is F,
    `dof` is q (Anderson (2003) An Introduction to Multivariate Statistical Analysis, 3rd ed., Wiley, section 4.4). This
    reads the rows, in O(n (|Z| + q)^2).

    With sampling weights or clusters the correlations are weighted, and a p-value is that of a t-test, for a set of
    columns of an F-test, on the totals of clusters (`clusters.py`), in O(n |Z|^2 + m n |Z|); `statistic` and
    `dof` stay those of as many independent rows.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=500)
    >>> X = np.column_stack([a + rng.normal(size=500), a, a + rng.normal(size=500)])
    >>> test = FisherZ().bind(X)
    >>> bool(test.test(0, 2).p_value < 1e-6), bool(test.test(0, 2, given=[1]).p_value > 0.05)
    (True, True)
    >>> bool(test.test([0, 1], 2).p_value < 1e-6)
    True
    """

    card: ClassVar[Card] = Card(
        id="fisher-z",
        name="Fisher's z test",
        family="ci-test",
        summary="Test of a vanishing partial correlation, for linear relations with Gaussian noise.",
        reference="Fisher (1924) The distribution of the partial correlation coefficient, Metron 3, 329-332.",
        guarantee="p-values right in large samples of multivariate Gaussian columns",
        p_values=ASYMPTOTIC,
        effect="absolute partial correlation, 0 to 1; of a set of columns the multiple one",
        cost="O(n) for each new pair of columns, then O(|Z|^3 + m |Z|^2) for m candidates given Z",
        kinds=(NUMERIC, INTEGER, BOOLEAN),
        symmetric=True,
        measures=("p-value", "mutual-information"),
        design_based=True,
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
        max_classes=2,
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> FisherZEngine:
        """Return the engine; neither `seed` nor `target` is used."""
        if is_complex(table.design):
            return by_weights(FisherZByClusters, table, table.design)
        return FisherZEngine(table)

    @property
    def sums(self) -> str:
        """What tests need of rows: sums of products."""
        return CROSS_PRODUCTS

    def doubts(self, table: Table, target: str, results: CIResults) -> str:
        """Return which columns rounding has destroyed."""
        if not table.has_rows:  # no cells to look at: such tests are not reliable, one by one
            return ""
        return rounded_away(table, target, results)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return z pooled by Rubin's rules."""
        return pooled_z(copies)

    def pooled_sets(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return F pooled by its p-values."""
        return pooled_p_values(copies)

    def pooled_by_design(self, copies: Sequence[CIResults]) -> CIResults:
        """Return z pooled by Rubin's rules, with the p-values that know the design."""
        return pooled_z_of_p_values(copies)

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the mutual information of Gaussian columns in nats, -log(1 - r^2) / 2, for single columns as X."""
        scale = np.sqrt(np.maximum(results.dof, 1.0))
        return np.log(np.cosh(results.statistic / scale))

    def effects(self, results: CIResults) -> np.ndarray:
        """Return the absolute partial correlations, |tanh(z / sqrt(dof))|."""
        return np.abs(np.tanh(results.statistic / np.sqrt(np.maximum(results.dof, 1.0))))

    def effects_of_sets(self, results: CIResults, n_given: int) -> np.ndarray:
        """Return the multiple partial correlations R of F, with all given columns counted, collinear ones too."""
        rest = np.maximum(results.n - 1.0 - n_given - results.dof, 1.0)
        return np.sqrt(1.0 - rest / (results.statistic * results.dof + rest))
