"""Fisher's z test of a zero partial correlation, and the F test of a zero multiple partial correlation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import ASYMPTOTIC, BOOLEAN, CROSS_PRODUCTS, IMPUTATIONS, INTEGER, NUMERIC, PAIRWISE, Card
from ...core.numerics import (
    COLLINEAR,
    SMALLEST_SHARE,
    SMALLEST_SPREAD,
    is_rounded_away,
    log_unexplained_share,
    orthonormal_basis,
    pair_relations,
    residuals,
    standardised,
)
from ...core.results import CIResults
from ...core.table import Design, Table, is_complex
from ..base import CITest
from ..clusters import Clusters, Spread, judged, spread
from ..engines import Candidate, constant_results
from ..pooling import pooled_p_values, pooled_z, pooled_z_of_p_values
from ..tails import f_greater, normal_two_sided, rao_f
from .regressions import by_weights, rounded_away

#: Least unexplained share of variance for which the correlation matrix is used instead of the rows. The matrix squares
#: condition numbers: rounding errors of 1e-15 grow by at most the inverse of two such shares.
WELL_CONDITIONED = 1e-3
#: An unexplained share of variance up to this is 0 except for rounding errors.
VANISHING = 1e-11
#: The whole matrix is computed at once if it takes at most this many multiplications (about 20 ms).
WHOLE_MATRIX = 2**28
#: Of up to so many columns it is, too, if the pivots of a search cannot all be cached: each would be read many times.
MOST_AT_ONCE = 256
#: Number of cells of columns standardised at once: 8 MiB.
BLOCK_CELLS = 2**20
#: Number of cells cached for pivots: 128 MiB.
KEPT_CELLS = 2**24


class FisherZEngine:
    """Partial correlations from the correlation matrix, or from the rows where that is inaccurate."""

    #: Unexplained shares of variance down to which the matrix is used, and up to which only rounding errors remain.
    well_conditioned, vanishing = WELL_CONDITIONED, VANISHING

    def __init__(self, table: Table) -> None:
        self.n_rows = table.n_rows
        self.correlations = Correlations(table)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Return z of the partial correlation of each candidate with the target."""
        columns = np.asarray(candidates)
        return self._results(columns, target, given, *self.partial_correlations(columns, target, given))

    def partial_correlations(
        self, columns: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Return partial correlations r of columns with the target, log(1 - r^2), and the rank of the given columns.

        r is 0 if the given columns explain either of the two.
        """
        swept = self._sweep(columns, target, given)
        if swept is None:
            return self._from_rows(columns, target, given)
        partial, is_sound, rank = swept
        log_unexplained = np.log1p(-(np.where(is_sound, partial, 0.0) ** 2))
        doubtful = np.flatnonzero(~is_sound)
        if len(doubtful):
            partial[doubtful], log_unexplained[doubtful], _ = self._from_rows(columns[doubtful], target, given)
        return partial, log_unexplained, rank

    def _results(
        self,
        columns: np.ndarray,
        target: int,
        given: tuple[int, ...],
        partial: np.ndarray,
        log_unexplained: np.ndarray,
        rank: int,
    ) -> CIResults:
        """Return z of partial correlations r, given log(1 - r^2) and the rank of the given columns."""
        dof = self.n_rows - rank - 3
        if dof <= 0:
            nothing = constant_results(len(columns), self.n_rows)
            nothing.reliable[:] = False
            return nothing
        # arctanh |r|, with all digits of 1 - r^2
        z = np.copysign((np.log1p(np.abs(partial)) - 0.5 * log_unexplained) * math.sqrt(dof), partial)
        m = len(columns)
        n, reliable = np.full(m, self.n_rows), self._are_reliable(columns[:, np.newaxis], target, given)
        return CIResults(z, *normal_two_sided(z), np.full(m, float(dof)), n, reliable)

    def _are_reliable(
        self, candidates: Sequence[Sequence[int]] | np.ndarray, target: int, given: tuple[int, ...]
    ) -> np.ndarray:
        """Return which tests have no column destroyed by rounding, shape (m,)."""
        rounded = self.correlations.rounded
        if not rounded:
            return np.ones(len(candidates), dtype=bool)
        if not rounded.isdisjoint((target, *given)):
            return np.zeros(len(candidates), dtype=bool)
        asked = candidates.tolist() if isinstance(candidates, np.ndarray) else candidates
        return np.array([rounded.isdisjoint(columns) for columns in asked], dtype=bool)

    def _sweep(
        self, columns: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray, int] | None:
        """Return partial correlations, whether each is accurate, and the rank of the given columns; None if none is
        accurate.

        Eliminates the given columns by Gauss's method from their rows and the target's row of the correlation matrix.
        The remaining variance of a column is the share that the given columns do not explain.
        """
        n_given, rank = len(given), 0
        matrix, shares = self.correlations.between([*given, target], np.array([*given, target, *columns]))
        for i in range(n_given):
            share = float(shares[i])
            if share <= self.vanishing:  # a linear function of the columns before it
                continue
            if share < self.well_conditioned:
                return None
            row = matrix[i] / math.sqrt(share)
            matrix[i + 1 :] -= row[i + 1 : n_given + 1, np.newaxis] * row
            shares -= row * row
            rank += 1
        of_target, of_columns, products = shares[n_given], shares[n_given + 1 :], matrix[n_given, n_given + 1 :]
        if of_target <= self.vanishing:
            return np.zeros(len(columns)), np.ones(len(columns), dtype=bool), rank
        if of_target < self.well_conditioned:
            return None
        is_explained = of_columns <= self.vanishing
        partial = np.where(is_explained, 0.0, products / np.sqrt(np.where(is_explained, 1.0, of_columns) * of_target))
        is_sound = is_explained | (
            (of_columns >= self.well_conditioned) & (partial * partial <= 1.0 - self.well_conditioned)
        )
        return partial, is_sound, rank

    def _from_rows(
        self, columns: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """Return partial correlations r, log(1 - r^2) and the rank of the given columns, from the residuals."""
        basis, y = self.regressed(target, given)
        found = [
            pair_relations(y, residuals(self.correlations.standardised(block), basis))
            for block in self.correlations.blocks(columns)
        ]
        partial, log_unexplained = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return partial, log_unexplained, len(basis)

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int:
        """Return the number of rows that gives one degree of freedom."""
        return len(given) + (2 + len(x) if isinstance(x, tuple) else 4)

    def regressed(self, target: int, given: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return an orthonormal basis of the given columns and the residual of the target."""
        basis = orthonormal_basis(self.correlations.standardised(given))
        return basis, residuals(self.correlations.standardised([target])[0], basis)

    def directions(self, columns: Sequence[int], basis: np.ndarray) -> np.ndarray:
        """Return an orthonormal basis, (q, n), of the part of columns that the given ones do not span."""
        return orthonormal_basis(residuals(self.correlations.standardised(columns), basis))

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Return F of the nested regressions of the target on the given columns, with and without each set."""
        basis, y = self.regressed(target, given)
        added = [self.directions(columns, basis) for columns in candidates]
        log_unexplained = np.array([log_unexplained_share(y, directions) for directions in added])
        dof = np.array([float(len(directions)) for directions in added])
        rest = self.n_rows - 1.0 - len(basis) - dof
        dof[rest <= 0] = 0.0  # nothing left to compare with
        f = np.where(dof > 0, np.expm1(-log_unexplained) * rest / np.maximum(dof, 1.0), 0.0)
        n, reliable = np.full(len(f), self.n_rows), self._are_reliable(candidates, target, given) & (rest > 0)
        return CIResults(f, *f_greater(f, dof, np.maximum(rest, 1.0)), dof, n, reliable)

    def evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Return Rao's F of Wilks' lambda of two sets of columns; `dof` is the product of their ranks given Z."""
        basis = orthonormal_basis(self.correlations.standardised(given))
        of_x, of_y = (self.directions(columns, basis) for columns in (x, y))
        results = constant_results(1, self.n_rows)
        results.reliable[:] = self._are_reliable([(*x, *y)], x[0], given)
        if len(of_x) and len(of_y):
            squares = np.linalg.svd(of_x @ of_y.T, compute_uv=False) ** 2
            log_lambda = float(np.log(np.maximum(1.0 - squares, SMALLEST_SHARE)).sum())
            found = rao_f(log_lambda, len(of_x), len(of_y), self.n_rows - 1.0 - len(basis))
            results.reliable &= found is not None
            if found is not None:
                results.statistic[:], results.p_value[:], results.log_p[:] = found
                results.dof[:] = len(of_x) * len(of_y)
        return results


class Correlations:
    """Correlations of the columns of one table without missing cells, 0 for a constant column.

    The d x d matrix is computed at once only for a small table, or a narrow one that is too long for what follows. For
    each pivot (a target or a member of a conditioning set) the standardised column and its row of correlations are
    cached, up to `KEPT_CELLS`. `rounded` are the positions of varying columns, among those read so far, that rounding
    has destroyed.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self._shares = None if table.design is None else table.design.shares()
        n, d = table.n_rows, len(table)
        self._matrix: np.ndarray | None = None
        self._n_kept = max(1, KEPT_CELLS // (n + d))
        self._is_long = self._n_kept < d <= MOST_AT_ONCE and self._shares is None
        self._is_narrow = self._is_long or (d * d * n <= WHOLE_MATRIX and d * d <= KEPT_CELLS)
        self._pivots: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._variances = np.full(d, np.nan)
        self.rounded: set[int] = set()

    def standardised(self, positions: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return columns with mean 0 and length 1, or 0 if constant, shape (m, n)."""
        columns = standardised(self.table.matrix(positions).T, self._shares)
        positions, varies = np.asarray(positions, dtype=np.intp), np.any(columns, axis=1)
        self._variances[positions] = varies
        for position in positions[~varies].tolist():
            if is_rounded_away(self.table[position]):
                self.rounded.add(position)
        return columns

    def blocks(self, positions: np.ndarray) -> list[np.ndarray]:
        """Split positions into blocks of at most `BLOCK_CELLS` cells, but at least one column."""
        size = max(1, BLOCK_CELLS // max(1, self.table.n_rows))
        return [positions[start : start + size] for start in range(0, len(positions), size)]

    def between(self, pivots: Sequence[int], columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the correlations of pivots with columns, (pivots, columns), and the columns' variances, 0 or 1.

        Each is the product of two standardised columns, independent of earlier queries.
        """
        if self._is_narrow:
            if self._matrix is None:
                if self._is_long:
                    self._matrix = self._summed()
                else:
                    values = self.standardised(range(len(self.table)))
                    self._matrix = np.array([np.vecdot(values, column) for column in values])
            return self._matrix[np.asarray(pivots)[:, np.newaxis], columns], self._variances[columns]
        kept = [self._pivot(pivot) for pivot in pivots]
        found = np.array([row[columns] for _, row in kept])
        unknown = np.unique(columns[np.isnan(found).any(axis=0)])
        if len(unknown):
            for block in self.blocks(unknown):
                values = self.standardised(block)
                for column, row in kept:
                    row[block] = np.vecdot(values, column)
            found = np.array([row[columns] for _, row in kept])
        return found, self._variances[columns]

    def _summed(self) -> np.ndarray:
        """Return the whole matrix, with one block of rows in memory at a time; sums are equal up to rounding."""
        from threadpoolctl import threadpool_limits

        n, d, places = self.table.n_rows, len(self.table), range(len(self.table))
        exponents, means = np.zeros(d, dtype=np.int64), np.zeros(d)
        for at in places:
            cells = self.table.matrix([at])[:, 0]
            exponents[at] = -np.frexp(np.abs(cells).max())[1]
            means[at] = np.ldexp(cells, exponents[at]).mean()
        sums, products = np.zeros(d), np.zeros((d, d))
        with threadpool_limits(1):  # more threads change the last digits
            for start in range(0, n, max(1, BLOCK_CELLS // d)):
                rows = np.arange(start, min(n, start + max(1, BLOCK_CELLS // d)))
                cells = np.ldexp(self.table.take(rows).matrix(), exponents) - means
                sums += cells.sum(axis=0)
                products += cells.T @ cells
        products -= np.outer(sums, sums) / n  # what rounding left of the means
        length = np.sqrt(products.diagonal())
        varies = length > SMALLEST_SPREAD * math.sqrt(n)
        self._variances = varies.astype(np.float64)
        self.rounded |= {at for at in np.flatnonzero(~varies).tolist() if is_rounded_away(self.table[at])}
        return products / np.outer(*[np.where(varies, length, np.inf)] * 2)

    def _pivot(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a pivot's standardised column and its row of correlations, NaN where not yet computed."""
        pivot = self._pivots.pop(position, None)
        if pivot is None:
            pivot = self.standardised([position])[0], np.full(len(self.table), np.nan)
        self._pivots[position] = pivot  # the most recent pivot is last
        if len(self._pivots) > self._n_kept:
            del self._pivots[next(iter(self._pivots))]
        return pivot


class FisherZByClusters(FisherZEngine):
    """The engine for a sample design; `statistic` and `dof` are those of as many independent rows.

    A row's score is the product of the residuals of X and Y given Z, each of weighted length 1. The scores sum to the
    weighted partial correlation.
    """

    def __init__(self, table: Table, design: Design) -> None:
        super().__init__(table)
        self._clusters = Clusters(design, table.n_rows)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Return z of the weighted partial correlation of each candidate with the target, with its p-value."""
        columns = np.asarray(candidates)
        basis, y = self.regressed(target, given)
        y = _of_length_1(y[np.newaxis])
        found = []
        for block in self.correlations.blocks(columns):
            x = _of_length_1(residuals(self.correlations.standardised(block), basis))
            found.append(self._clusters.totals(x * y)[:, np.newaxis])
        return self._judged(super().evaluate(candidates, target, given), found, len(basis))

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Return F of the weighted nested regressions of the target, with and without each set, with its p-value."""
        basis, y = self.regressed(target, given)
        y = _of_length_1(y[np.newaxis])
        found = [self._clusters.totals(self.directions(columns, basis) * y)[np.newaxis] for columns in candidates]
        return self._judged(super().evaluate_sets(candidates, target, given), found, len(basis))

    def evaluate_pair(self, x: tuple[int, ...], y: tuple[int, ...], given: tuple[int, ...]) -> CIResults:
        """Return Rao's F of two sets of columns, with the p-value of the products of all directions of both."""
        basis = orthonormal_basis(self.correlations.standardised(given))
        of_x, of_y = (self.directions(columns, basis) for columns in (x, y))
        totals = self._clusters.totals((of_x[:, np.newaxis] * of_y).reshape(-1, self.n_rows))
        return self._judged(super().evaluate_pair(x, y, given), [totals[np.newaxis]], len(basis))

    def _judged(self, results: CIResults, totals: Sequence[np.ndarray], rank: int) -> CIResults:
        """Replace p-values by those of cluster totals, arrays (some candidates, q, C), given `rank` columns."""
        n_given = self._clusters.n_costly(rank)
        rest = self._clusters.n - 1.0 - n_given
        if rest <= 0:
            results.p_value[:], results.log_p[:], results.reliable[:] = 1.0, 0.0, False
            return results
        found = [spread(one, n_given) for one in totals]
        together = Spread(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
        squared = np.concatenate([np.sum(one.sum(axis=-1) ** 2, axis=-1) for one in totals])
        tested = results.dof > 0  # else no row is left to compare with
        p_value, log_p = judged(squared, together, rest)
        results.p_value, results.log_p = np.where(tested, p_value, 1.0), np.where(tested, log_p, 0.0)
        return results


def _of_length_1(columns: np.ndarray) -> np.ndarray:
    """Return columns, (m, n), scaled to length 1; zeros if others explain a column."""
    squares = np.vecdot(columns, columns)
    varies = squares > COLLINEAR
    return columns / np.where(varies, np.sqrt(np.where(varies, squares, 1.0)), np.inf)[:, np.newaxis]


@dataclass
class FisherZ(CITest):
    """Fisher's z test: the partial correlation r of X and Y given Z, transformed to a standard normal z.

    z = arctanh(r) sqrt(n - rank(Z) - 3), two-sided. Discrete columns with two levels enter as 0 and 1. Collinear
    members of the conditioning set count once. A column that is constant, or a linear function of the conditioning set,
    is independent of everything given that set.

    A test is unreliable without degrees of freedom, n - rank(Z) - 3, or if rounding has destroyed one of its columns:
    the standard deviation is below about 90 times the spacing of floats of the column's size, as in 1e15 + noise. Such
    a column counts as constant.

    A set of columns as X is tested by the exact F test of nested regressions. It tests whether R^2 is 0, the squared
    multiple partial correlation of Y with the q columns of the set that are linearly independent given Z: F = R^2 / (1
    - R^2) (n - 1 - rank(Z) - q) / q with q and n - 1 - rank(Z) - q degrees of freedom; `statistic` is F, `dof` is q
    (Anderson (2003) An Introduction to Multivariate Statistical Analysis, 3rd ed., Wiley, section 4.4). It costs O(n
    (|Z| + q)^2).

    With sampling weights or clusters the correlations are weighted, and the p-value is that of a t-test, for a set of
    columns an F-test, on the totals of clusters (`clusters.py`), in O(n |Z|^2 + m n |Z|); `statistic` and `dof` are
    those of as many independent rows.

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
        """What replaces rows: sums of products."""
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
        """Return z pooled by Rubin's rules, with the p-values of the design."""
        return pooled_z_of_p_values(copies)

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the mutual information of Gaussian columns in nats, -log(1 - r^2) / 2, for single columns as X."""
        scale = np.sqrt(np.maximum(results.dof, 1.0))
        return np.log(np.cosh(results.statistic / scale))

    def effects(self, results: CIResults) -> np.ndarray:
        """Return the absolute partial correlations, |tanh(z / sqrt(dof))|."""
        return np.abs(np.tanh(results.statistic / np.sqrt(np.maximum(results.dof, 1.0))))

    def effects_of_sets(self, results: CIResults, n_given: int) -> np.ndarray:
        """Return the multiple partial correlations R from F, with all given columns counted, collinear ones too."""
        rest = np.maximum(results.n - 1.0 - n_given - results.dof, 1.0)
        return np.sqrt(1.0 - rest / (results.statistic * results.dof + rest))
