"""Conditional mutual information by nearest neighbours, with p-values from permutations among neighbours in Z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import IMPUTATIONS, PAIRWISE, RESAMPLED, Card
from ...core.parameters import integer
from ...core.table import Table
from .local_permutations import LocalPermutations, LocalPermutationTest

#: The most entries of a matrix of distances between some rows and all.
BLOCK = 2**21


@dataclass
class CMIKnn(LocalPermutationTest):
    """Conditional mutual information by nearest neighbours, with permutations of X among neighbours in Z.

    The estimate is that of Mesner and Shalizi: with the distance rho of a row's k-th nearest other row in all columns,
    and the numbers n of other rows within it in X and Z, Y and Z, and Z, it is the mean of psi(k) - psi(n_xz) -
    psi(n_yz) + psi(n_z). Rows at a distance of 0 are all counted in place of k, so columns may be numbers, labels or
    numbers with ties. Distances are the largest of any column: of numbers that of ranks, and of labels the largest
    possible one unless they are equal. `statistic` is the estimate in nats.

    For its p-value, (1 + exceedances) / (1 + n_permutations), each row gets the X of one of its `n_permuted` nearest
    rows in Z, which keeps what X depends on in Z (Runge 2018). If Z has labels only, X is permuted among the rows with
    equal ones, which is exact, and given nothing among all rows.

    A test is unreliable with fewer than three rows per neighbour, or if rounding has destroyed a column.

    Notes
    -----
    It finds fine patterns that kernels and splines smooth away, such as waves, rings and checkerboards, and has less
    power than these for smooth relations. Neighbours in several given numbers are far apart in small samples, so that X
    permuted among them loses some of its relation to Z, and true nulls are rejected too often (docs/ci-tests.md).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=200)
    >>> X = np.column_stack([a**2 + 0.1 * rng.normal(size=200), a, a + rng.normal(size=200)])
    >>> test = CMIKnn(n_permutations=99).bind(X)
    >>> float(test.test(0, 1).p_value), bool(test.test(0, 2, given=[1]).p_value > 0.05)
    (0.01, True)
    """

    card: ClassVar[Card] = Card(
        id="cmi-knn",
        name="conditional mutual information by nearest neighbours (CMIknn)",
        family="ci-test",
        summary="Mutual information of numbers and labels by nearest neighbours, X permuted among neighbours in Z.",
        reference="Mesner, Shalizi (2021) Conditional mutual information estimation for mixed, discrete and continuous "
        "data, IEEE Transactions on Information Theory 67(1), 464-484, doi:10.1109/TIT.2020.3024886; permutations: "
        "Runge (2018) Conditional independence testing based on a nearest-neighbor estimator of conditional mutual "
        "information, AISTATS, PMLR 84, 938-947.",
        guarantee="p-values exact given nothing or labels, at least 1 / (1 + n_permutations); given numbers right in "
        "large samples if X varies little with Z among neighbours",
        cost="O(n^2 log n) once for all candidates, and n_permutations times the rows in all neighbourhoods of each",
        p_values=RESAMPLED,
        measures=("p-value",),
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
        takes_max_rows=True,
    )

    n_neighbors: int = integer(7, "Nearest neighbours in all columns (k).", at_least=1)
    n_permuted: int = integer(
        5, "Nearest neighbours in Z, the row itself included, among which X is permuted.", at_least=2
    )
    n_permutations: int = integer(200, "Permutations of a test.", at_least=1)

    def prepare(self, table: Table, seed: int, target: int | None) -> _Neighbours:
        """Return the engine; `seed` fixes the permutations of each conditioning set."""
        return _Neighbours(self, table, seed)


class _Neighbours(LocalPermutations):
    def statistics(
        self, candidates: list[tuple[int, ...]], targets: tuple[int, ...], given: tuple[int, ...]
    ) -> np.ndarray:
        """Return the estimates of each candidate as it is, and permuted, (m, 1 + n_permutations)."""
        from scipy.special import digamma

        from ...kernels.nearest_information import add_information

        n, psi = self._table.n_rows, np.append(0.0, digamma(np.arange(1.0, self._table.n_rows + 1)))
        moved, totals = self.permutations(given), np.zeros((len(candidates), 1 + self._test.n_permutations))
        x = [np.stack([self._places(at) for at in columns]).astype(np.float32) for columns in candidates]
        are_labels = [np.array([self._table[at].is_discrete for at in columns]) for columns in candidates]
        k = min(self._test.n_neighbors, n - 1)
        for start in range(0, n, step := max(1, BLOCK // n)):
            rows = slice(start, start + step)
            in_z = self._distances(rows, given)
            in_yz = np.maximum(in_z, self._distances(rows, targets))
            by_z, by_yz = (np.argsort(one, axis=1, kind="stable").astype(np.int32) for one in (in_z, in_yz))
            of_z, of_yz = (
                np.take_along_axis(one, by, axis=1).astype(np.float32) for one, by in ((in_z, by_z), (in_yz, by_yz))
            )
            for at in range(len(candidates)):
                is_ordered = not given and len(x[at]) == 1 and not are_labels[at][0]
                columns = x[at], are_labels[at], np.sort(x[at][0])[: n if is_ordered else 0]
                add_information(of_yz, by_yz, of_z, by_z, *columns, moved, start, k, self._far, psi, totals[at])
        return totals / n

    def _distances(self, rows: slice, columns: tuple[int, ...]) -> np.ndarray:
        """Return the distances of some rows to all in some columns, (r, n)."""
        n = self._table.n_rows
        found = np.zeros((len(range(*rows.indices(n))), n), dtype=np.int32)
        for at in columns:
            places = self._places(at)
            one = np.abs(places[rows, np.newaxis] - places)
            np.maximum(found, np.where(one > 0, self._far, 0) if self._table[at].is_discrete else one, out=found)
        return found
