"""The coefficient of conditional dependence by nearest neighbours, with permutations of Y among neighbours in Z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import IMPUTATIONS, PAIRWISE, RESAMPLED, Card
from ...core.parameters import integer
from ...core.table import Table
from .local_permutations import LocalPermutations, LocalPermutationTest, equal_rows

#: Least of what Z leaves of Y, per row: rounding errors are below.
LEAST_LEFT = 1e-9


@dataclass
class CODEC(LocalPermutationTest):
    """Coefficient of conditional dependence, with permutations of Y among neighbours in Z.

    With R the share of rows whose Y is at most that of a row, and a the sums of min(R_i, R_j) over the rows i, each
    averaged over its `n_neighbors` nearest other rows j, in X and Z, or in Z, the coefficient is (a_xz - a_z) / (sum of
    R - a_z): the share of what Z leaves of Y that X explains. It estimates 0 under independence, and 1 if Y is a
    function of X and Z. Given nothing, a_z is over all rows. With ``n_neighbors: 1`` and numbers it is that of Azadkia
    and Chatterjee, by which FOCI selects features. More neighbours have more power (Lin and Han), and a label as Y has
    whether two labels are equal in place of min(R_i, R_j), a kernel as any other (Huang, Deb and Sen); several columns
    as Y have the product. Distances in X and Z are the largest of any column: of numbers that of ranks, and labels are
    far from each other. Where more than `n_neighbors` rows are equal in these columns, and for labels wherever any are,
    all of them are neighbours in place of some, unless Y has several numbers. Other ties are broken at random.

    For its p-value, (1 + exceedances) / (1 + n_permutations), each row gets the Y of one of its `n_permuted` nearest
    rows in Z, which keeps what Y depends on in Z (Runge 2018). Two rows with the Y of the same row are not compared. If
    Z has labels only, Y is permuted among the rows with equal ones, which is exact, and given nothing among all rows.

    A test is unreliable with fewer than three rows per neighbour, or if rounding has destroyed a column. Y is the
    second column of a query, the target of a search: the test is not symmetric.

    Notes
    -----
    It finds fine patterns such as waves as ``cmi-knn`` does, already in 50 rows, and in about a sixth of the time,
    since neighbours stay as they are while Y is permuted. It has little power for weak smooth relations.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> X = np.column_stack([np.sin(5 * a) + 0.5 * rng.normal(size=200), a, a + rng.normal(size=200)])
    >>> test = CODEC(n_permutations=99).bind(X)
    >>> float(test.test(1, 0).p_value), bool(test.test(2, 0, given=[1]).p_value > 0.05)
    (0.01, True)
    """

    card: ClassVar[Card] = Card(
        id="codec",
        name="coefficient of conditional dependence (CODEC), of FOCI",
        family="ci-test",
        summary="How much more nearest neighbours in X and Z agree in Y than those in Z, Y permuted among the latter.",
        reference="Azadkia, Chatterjee (2021) A simple measure of conditional dependence, Annals of Statistics 49(6), "
        "3070-3102, doi:10.1214/21-AOS2073; more neighbours: Lin, Han (2023) On boosting the power of "
        "Chatterjee's rank correlation, Biometrika 110(2), 283-299, doi:10.1093/biomet/asac048; labels: Huang, "
        "Deb, Sen (2022) Kernel partial correlation coefficient - a measure of conditional dependence, JMLR "
        "23(216), 1-58; permutations: Runge (2018) Conditional independence testing based on a nearest-neighbor "
        "estimator of conditional mutual information, AISTATS, PMLR 84, 938-947.",
        guarantee="p-values exact given nothing or labels, at least 1 / (1 + n_permutations); given numbers right in "
        "large samples if Y varies little with Z among neighbours",
        cost="O(n log n) and n_permutations times n_neighbors times n, per candidate",
        p_values=RESAMPLED,
        measures=("p-value",),
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
        takes_max_rows=True,
    )

    n_neighbors: int = integer(7, "Nearest neighbours in X and Z, and in Z (1 in the paper).", at_least=1)

    def prepare(self, table: Table, seed: int, target: int | None) -> _Agreements:
        """Return the engine; `seed` fixes the permutations of each conditioning set, and the order of ties."""
        return _Agreements(self, table, seed)


class _Agreements(LocalPermutations):
    def statistics(
        self, candidates: list[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> np.ndarray:
        """Return the coefficient of each candidate as Y is, and permuted, (m, 1 + n_permutations)."""
        from ...kernels.nearest_information import agreement_of_all

        moved, is_label = self.permutations(given), np.array([self._table[at].is_discrete for at in targets])
        y = np.ascontiguousarray(np.column_stack([self._shares_below(at) for at in targets]))
        if given:
            of_z = self._agreements(y, is_label, given, moved)
        else:
            of_z = np.full(len(moved), agreement_of_all(y, is_label))
        found = np.array([self._agreements(y, is_label, (*columns, *given), moved) for columns in candidates])
        of_each = np.where(is_label, 1.0, y).prod(axis=1)
        left = of_each[moved].sum(axis=1) - of_z
        return (found - of_z) / np.maximum(left, LEAST_LEFT * len(y))

    def _agreements(
        self, y: np.ndarray, is_label: np.ndarray, columns: tuple[int, ...], moved: np.ndarray
    ) -> np.ndarray:
        """Return the sums of mean agreements in Y, (n, p), with the nearest other rows in some columns, (b,)."""
        from ...kernels.nearest_information import add_agreements_of_equal, agreements

        n, totals = len(y), np.zeros(len(moved))
        groups = self._groups(columns) if (~is_label).sum() < 2 else np.full(n, -1)
        if groups.min() < 0:
            agreements(y, is_label, self._others(columns), groups, moved, totals)
        if groups.max() >= 0:
            values = np.where(is_label, 1.0, y).prod(axis=1)
            labels = equal_rows(y[:, is_label].T) if is_label.any() else np.zeros(n, dtype=np.intp)
            add_agreements_of_equal(values, labels, np.argsort(values, kind="stable"), groups, moved, totals)
        return totals

    def _groups(self, columns: tuple[int, ...]) -> np.ndarray:
        """Return a number of the rows equal to each in some columns, or -1 for its nearest ones, which are more.

        Rows with other labels are no neighbours, unless there are no others.
        """
        codes = equal_rows([self._places(at) for at in columns])
        fewest = 0 if all(self._table[at].is_discrete for at in columns) else self._test.n_neighbors
        is_large = np.bincount(codes) - 1 > fewest
        return np.where(is_large, np.cumsum(is_large) - 1, -1)[codes]

    def _others(self, columns: tuple[int, ...]) -> np.ndarray:
        """Return the nearest other rows of each, (n, k)."""
        near = self.nearest(columns, 1 + min(self._test.n_neighbors, self._table.n_rows - 1))
        return np.ascontiguousarray(near[:, 1:])

    def _shares_below(self, at: int) -> np.ndarray:
        """Return for each value of a number the share of rows with at most it; the codes of labels."""
        column = self._table[at]
        if column.is_discrete:
            return self._places(at).astype(np.float64)
        values = column.numbers()
        return np.searchsorted(np.sort(values), values, side="right") / len(values)
