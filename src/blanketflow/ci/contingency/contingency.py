"""The shared part of the tests on contingency tables: their options, and the engine that codes and counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from ...core.mapped_file import any_mapped
from ...core.parameters import choice, integer, number
from ...core.results import CIResult, CIResults
from ...core.table import Design, Table
from ..base import BoundTest, CITest, unreliable_rule
from ..clusters import Clusters, Spread, judged, spread
from ..effect import nats_per_row
from ..engines import Candidate, Chance, columns_of
from ..pooling import pooled_likelihood_ratios, pooled_p_values
from ..tails import chi2_tail
from .binning import BINNINGS, Coder
from .coded_columns import CodedColumns, JointColumns

if TYPE_CHECKING:
    from .coded_columns import PackedColumns

DOF_RULES = ("adjusted", "nominal", "observed")
#: Tables with more cells than this, and more than this many cells per row, are counted by sorting.
MOST_CELLS, CELLS_PER_ROW = 2**17, 16
#: Queries for at least this many columns are answered from bit sets of all columns.
MANY = 256
#: The largest number of codes (4 bytes each) for which sets of columns are coded at once.
MOST_JOINT_CODES = 2**22
#: Most numbers, such as clusters times cells, of a tested table: 256 MiB.
MOST_NUMBERS = 2**25
#: c log c is tabulated up to this count.
MOST_TERMS = 2**20


@dataclass
class DiscreteTest(CITest):
    """A test on level codes, with the options for binning numeric columns."""

    joins_columns: ClassVar[bool] = True

    bins: int = integer(
        5,
        "Bins of a numeric column; a column with no more different values than this keeps its values.",
        at_least=2,
        at_most=10_000,
    )
    binning: str = choice(
        "quantile",
        "How numeric columns are binned: quantile (equal counts), uniform (equal widths), kmeans (nearest of one-"
        "dimensional k-means), mdlp (by the target's classes, as many bins as their description length pays for).",
        BINNINGS,
    )

    def bind_joined(
        self, table: Table, groups: Mapping[str, Sequence[str]], seed: int, target: str | None
    ) -> BoundTest:
        """Bind the test to a table with one column per group, whose levels are the occurring combinations."""
        return self.bind(self.joined(table, groups, target), seed=seed, target=target)

    def joined(self, table: Table, groups: Mapping[str, Sequence[str]], target: str | None) -> Table:
        """Return the table with one column in place of each group."""
        from .coded_columns import with_joint_levels

        coder = Coder(table, self.bins, self.binning, None if target is None else table.position(target))
        return with_joint_levels(table, groups, coder)


@dataclass
class ContingencyTest(DiscreteTest):
    """A test whose statistic of contingency tables has a chi-square distribution in large samples."""

    dof: str = choice(
        "adjusted",
        "Degrees of freedom: adjusted leaves out empty rows, columns and strata; nominal counts all levels; "
        "observed counts all levels in the strata that occur.",
        DOF_RULES,
    )
    min_samples_per_cell: float = number(5.0, "A test with fewer rows per cell than this is not reliable.", at_least=0)
    unreliable: str = unreliable_rule()
    is_pearson: ClassVar[bool] = False
    stacks_copies: ClassVar[bool] = True

    @property
    def is_corrected(self) -> bool:
        """Whether p-values are corrected for small expected counts."""
        return False

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return likelihood ratios pooled by D3, as for G2; Pearson's X2 is asymptotically equal to it."""
        return pooled_p_values(copies) if stacked is None else pooled_likelihood_ratios(copies, stacked)

    def effects(self, results: CIResults) -> np.ndarray:
        """Return the statistic per row, in nats."""
        return nats_per_row(results)


#: Values of `unreliable` under which the p-value of an unreliable test is 1.
P_IS_1 = ("auto", "independent")


class ContingencyEngine:
    """Counts the tables of candidates and computes p-values."""

    takes_arrays = True

    def __init__(self, test: ContingencyTest, table: Table, target: int | None) -> None:
        from ...kernels import contingency

        self._given_tests, self._cell_tests = contingency.given_tests, contingency.cell_tests
        self._coder = Coder(table, test.bins, test.binning, target)
        self.columns = CodedColumns(table.n_rows, len(table), self._coder.codes, any_mapped(table.columns))
        self._set_rules(test, table.n_rows)

    def _set_rules(self, test: ContingencyTest, n_rows: int) -> None:
        self.test, self.n_rows = test, n_rows
        self._levels: dict[int, float] = {}
        self._n = np.empty(0, dtype=np.int64)
        self._one = _outputs(self._empty_results(1))
        self.most_cells = max(MOST_CELLS, CELLS_PER_ROW * n_rows)
        terms, self.scale = fixed_point_terms(n_rows)
        reliable_from, p_is_1 = float(test.min_samples_per_cell), test.unreliable in P_IS_1
        rules = test.is_pearson, DOF_RULES.index(test.dof), reliable_from, p_is_1, test.is_corrected
        self._rules = terms, self.scale, *rules

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate against the target within the strata of the conditioning set."""
        if len(candidates) >= MANY and not given and not self.test.is_pearson:
            return self._test_many_marginally(np.asarray(candidates), target)
        return self._tests(candidates, target, given)

    def evaluate_one(self, candidate: int, target: int, given: tuple[int, ...]) -> CIResult:
        """Test one candidate, like `evaluate` but faster."""
        columns, found = self.columns, self._one
        columns.ensure((candidate, target, *given))
        asked, conditions = np.array((candidate,), dtype=np.int32), np.array(given, dtype=np.int32)
        fits = self._given_tests(
            *columns.arrays, asked, target, conditions, self.n_rows, self.most_cells, *self._rules, *found
        )
        if not fits:
            return self._thin_tests(columns, asked, target, given)[0]
        statistic, p_value, log_p, dof, reliable = [array.item() for array in found]
        return CIResult(statistic, p_value, log_p, dof, self.n_rows, reliable)

    def _tests(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        columns, results = self.columns, self._empty_results(len(candidates))
        columns.ensure((*candidates, target, *given))
        asked, conditions = np.array(candidates, dtype=np.int32), np.array(given, dtype=np.int32)
        fits = self._given_tests(
            *columns.arrays, asked, target, conditions, self.n_rows, self.most_cells, *self._rules, *_outputs(results)
        )
        return results if fits else self._thin_tests(columns, asked, target, given)

    def _test_many_marginally(self, candidates: np.ndarray, target: int) -> CIResults:
        """Test candidates with an empty conditioning set, where only the number of occurring levels matters."""
        statistic = self._g2(candidates, target, ())
        n_x, n_y = self.packed.n_levels[candidates], float(self.packed.n_levels[target])
        found = self._judged(statistic, (n_x - 1.0) * (n_y - 1.0), self.test.min_samples_per_cell * n_x * n_y)
        if self.test.is_corrected:
            self._correct_marginally(found, candidates, target)
        return found

    def _correct_marginally(self, found: CIResults, candidates: np.ndarray, target: int) -> None:
        """Correct p-values for small expected counts, from the level counts if columns are packed."""
        from ...kernels.small_margins import correct_marginal_tests

        counted = self.packed.is_packed(candidates) & self.packed.is_packed(np.array([target]))
        asked = np.flatnonzero(found.reliable & counted)
        correct_marginal_tests(
            *self.packed.level_counts(candidates[asked]), self.packed.level_counts(np.array([target]))[0], asked,
            found.statistic, found.dof, found.log_p, found.p_value,
        )  # fmt: skip
        others = np.flatnonzero(~counted)
        on_rows = self._tests(candidates[others].tolist(), target, ())
        found.p_value[others], found.log_p[others] = on_rows.p_value, on_rows.log_p

    def _judged(self, statistic: np.ndarray, dof: np.ndarray, rows_needed: np.ndarray) -> CIResults:
        """Return the results for statistics, degrees of freedom and the rows of a reliable test, each of shape (m,)."""
        reliable = self.n_rows >= rows_needed
        p_value, log_p = chi2_tail(statistic, dof)
        if self.test.unreliable in P_IS_1:
            p_value[~reliable], log_p[~reliable] = 1.0, 0.0
        return CIResults(statistic, p_value, log_p, dof, np.full(len(statistic), self.n_rows), reliable)

    @cached_property
    def packed(self) -> PackedColumns:
        """All columns as bit sets, for queries about many columns."""
        from .coded_columns import PackedColumns

        return PackedColumns(self._coder)

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return the plug-in estimate of I(X;Y|Z) of each candidate in nats."""
        return self._g2(candidates, target, given) / (2.0 * self.n_rows)

    def information_and_chance(
        self, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, Chance]:
        """Return `information` and `chance` together, which is faster."""
        (g2, expected, dofs), counted = self._by_packed(candidates, (*given, target), target, self.log_factorials)
        if counted is not None:
            return self.information(candidates, target, given), self.chance(candidates, target, given)
        return g2 / (2.0 * self.n_rows), self._chance(expected, dofs)

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return the `information` expected of independent columns, from level counts in the strata."""
        is_packed, of_target = self.packed.is_packed(candidates), np.array([target])
        if not given and is_packed.all() and self.packed.is_packed(of_target).all():
            return self._chance_of(self.packed.level_counts(candidates), self.packed.level_counts(of_target))
        strata, n_strata, _ = self.columns.stratify(given)
        strata = strata.astype(np.int64)
        of_y = self._by_stratum(target, strata, n_strata)
        found = [self._chance_of(self._by_stratum(x, strata, n_strata), of_y) for x in candidates.tolist()]
        return Chance.joined(found)

    def _by_stratum(self, column: int, strata: np.ndarray, n_strata: int) -> tuple[np.ndarray, np.ndarray]:
        """Return a column's level counts in each stratum, and where those of each stratum start."""
        codes = self.columns.codes(column)
        n_levels = int(self.columns.n_levels[column])
        keys, counts = np.unique(strata * n_levels + codes, return_counts=True)
        return counts, np.searchsorted(keys, np.arange(n_strata + 1) * n_levels)

    def _chance_of(self, of_x: tuple[np.ndarray, np.ndarray], of_y: tuple[np.ndarray, np.ndarray]) -> Chance:
        """Return `chance` from level counts and their starts, see `kernels.expected_information`."""
        from ...kernels.expected_information import expected_sums

        m = (len(of_x[1]) - 1) // (len(of_y[1]) - 1)
        sums, dofs = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
        expected_sums(*of_x, *of_y, *self.fixed_point, self.log_factorials, sums, dofs)
        return self._chance(sums, dofs)

    def _chance(self, sums: np.ndarray, dofs: np.ndarray) -> Chance:
        return Chance.of(np.maximum(sums / self.scale / self.n_rows, 0.0), dofs)

    @cached_property
    def log_factorials(self) -> np.ndarray:
        """Logarithms of k! for k = 0, 1, ..., n, at most `MOST_TERMS`."""
        counts = range(min(self.n_rows + 1, MOST_TERMS))
        return np.fromiter((math.lgamma(k + 1.0) for k in counts), dtype=np.float64, count=len(counts))

    def _g2(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        (by_packed, _, _), counted = self._by_packed(candidates, (*given, target), target)
        if counted is None:
            return by_packed
        statistic = np.empty(len(candidates))
        statistic[counted] = by_packed
        statistic[~counted] = self._tests(candidates[~counted].tolist(), target, given).statistic
        return statistic

    def _by_packed(
        self, candidates: np.ndarray, columns: tuple[int, ...], target: int, factorials: np.ndarray | None = None
    ) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray | None]:
        """Return G2 of the candidates that are packed, and which these are; None if all are.

        With `factorials`, also the expected n I of independent columns in fixed point, and the degrees of freedom.
        """
        packed, found = self.packed, self.packed.cells(columns)
        if found is None:
            return (np.empty(0), np.empty(0), np.empty(0)), np.zeros(len(candidates), dtype=bool)
        counted, (cells, n_cells), n_y = None, found, packed.n_cell_levels(target)
        if not (packed.all_packed or (are_packed := packed.is_packed(candidates)).all()):
            counted, candidates = are_packed, candidates[are_packed]
        how = n_cells // n_y, n_y, *self.fixed_point
        return packed.sums(candidates, cells, *how, factorials=factorials), counted

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats."""
        found, sums = self.packed.cells(given), np.empty(len(candidates))
        counted = self.packed.is_packed(candidates) & (found is not None)
        if counted.any():
            sums[counted] = self.packed.sums(candidates[counted], *found, 1, *self.fixed_point, True)[0]
        for i in np.flatnonzero(~counted):
            joint = self.columns.stratify((int(candidates[i]), *given))[0]
            counts = np.unique(joint, return_counts=True)[1]
            sums[i] = np.rint(counts * np.log(counts) * self.scale).sum() / self.scale
        return np.log(self.n_rows) - sums / self.n_rows

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set as one variable, whose levels are the occurring combinations."""
        results = self._empty_results(len(candidates))
        cells, n_strata, n_combinations = self.columns.stratify(given, target)
        n_y = int(self.columns.n_levels[target])
        at_a_time = max(1, MOST_JOINT_CODES // max(1, self.n_rows))
        for start in range(0, len(candidates), at_a_time):
            joint = self.joint(candidates[start : start + at_a_time])
            asked = np.arange(len(joint.n_levels), dtype=np.int32)
            outputs = [array[start : start + at_a_time] for array in _outputs(results)]
            if n_strata * n_y * int(joint.n_levels.max()) > self.most_cells:
                for array, found in zip(outputs, _outputs(self._thin_tests(joint, asked, target, given)), strict=True):
                    array[:] = found
            else:
                self._cell_tests(*joint.arrays, asked, cells, n_strata, n_y, n_combinations, *self._rules, *outputs)
        return results

    @property
    def most_reliable_cells(self) -> float:
        """The largest number of cells with enough rows for a reliable test."""
        return self.n_rows / self.test.min_samples_per_cell if self.test.min_samples_per_cell else math.inf

    def n_levels(self, column: int) -> float:
        """Return the number of occurring levels of a column."""
        if column not in self._levels:
            self.columns.ensure((column,))
            self._levels[column] = float(self.columns.n_levels[column])
        return self._levels[column]

    def n_cells(self, columns: Sequence[int]) -> float:
        """Return the number of cells of the joint table of some columns, from occurring levels."""
        return math.prod(map(self.n_levels, columns), start=1.0)

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int:
        """Return how many rows give `min_samples_per_cell` rows per cell."""
        return math.ceil(self.test.min_samples_per_cell * self.n_cells((*columns_of(x), target, *given)))

    def joint(self, sets: Sequence[tuple[int, ...]]) -> JointColumns:
        """Return one coded column per set of columns."""
        return JointColumns(self.columns, sets)

    @property
    def fixed_point(self) -> tuple[np.ndarray, float]:
        """The values of c log c in fixed point, and the number of steps per unit."""
        return self._rules[0], self.scale

    def _empty_results(self, m: int) -> CIResults:
        if m > len(self._n):
            self._n = np.full(m, self.n_rows)
            self._n.flags.writeable = False  # all results share it
        return CIResults(np.empty(m), np.empty(m), np.empty(m), np.empty(m), self._n[:m], np.empty(m, dtype=bool))

    def _thin_tests(
        self, columns: CodedColumns, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> CIResults:
        """Test candidates in tables with far more cells than rows."""
        from ...kernels.thin_contingency import thin_table_statistic

        strata, n_strata, n_combinations = self.columns.stratify(given)
        strata, y, n_y = strata.astype(np.int64), self.columns.codes(target), int(self.columns.n_levels[target])
        n_x, pearson = columns.n_levels[candidates].astype(float), self.test.is_pearson
        found = [
            thin_table_statistic(columns.codes(x), columns.n_levels[x], y, n_y, strata, n_strata, self.scale, pearson)
            for x in candidates
        ]
        statistic, dof = (np.array(values) for values in zip(*found, strict=True))
        if self.test.dof != "adjusted":
            counted = n_combinations if self.test.dof == "nominal" else len(np.unique(strata))
            dof = (n_x - 1.0) * (n_y - 1.0) * counted
        return self._judged(statistic, dof, self.test.min_samples_per_cell * n_x * n_y * n_combinations)


def _outputs(results: CIResults) -> tuple[np.ndarray, ...]:
    return results.statistic, results.p_value, results.log_p, results.dof, results.reliable


def fixed_point_terms(n_rows: int) -> tuple[np.ndarray, float]:
    """Return c log c in fixed point for c = 0, 1, ..., and the steps per unit, so that sums over n rows fit 63 bits."""
    scale = 2.0 ** math.floor(61 - math.log2(n_rows * max(math.log(max(n_rows, 1)), 1.0) + 1))
    counts = np.arange(min(n_rows + 1, MOST_TERMS), dtype=np.float64)
    counts[0] = 1.0  # 0 log 0 is 0, like 1 log 1
    return np.rint(counts * np.log(counts) * scale).astype(np.int64), scale


class ContingencyByClusters(ContingencyEngine):
    """The engine for a sample design; `dof` and `reliable` are those of as many independent rows.

    Counts are sums of weights of mean 1. A row's score for a cell is the product of the deviations of its two level
    indicators from their shares in the stratum, over the root of the expected count; the squared sums of scores are the
    terms of X2.
    """

    def __init__(self, test: ContingencyTest, table: Table, target: int | None, design: Design) -> None:
        super().__init__(test, table, target)
        self._clusters, self._weights = Clusters(design, table.n_rows), design.shares()

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate against the target within the strata of the conditioning set."""
        results = super().evaluate(candidates, target, given)
        self.columns.ensure(candidates)
        return self._judge_all(results, self.columns, candidates, target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set as one variable, whose levels are the occurring combinations."""
        results = super().evaluate_sets(candidates, target, given)
        for at, columns in enumerate(candidates):
            one = CIResults(*(values[at : at + 1] for values in results.columns().values()))
            self._judge_all(one, self.joint([columns]), [0], target, given)
        return results

    def evaluate_one(self, candidate: int, target: int, given: tuple[int, ...]) -> CIResult:
        """Test one candidate."""
        return self.evaluate([candidate], target, given)[0]

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return the plug-in estimate of I(X;Y|Z) of each candidate in nats, of the weighted distribution."""
        if self._weights is None:
            return super().information(candidates, target, given)
        of_given, with_target = (self._entropy(columns) for columns in (given, (target, *given)))
        found = [self._entropy((x, *given)) - self._entropy((x, target, *given)) for x in candidates.tolist()]
        return np.maximum(np.array(found) + with_target - of_given, 0.0)

    def information_and_chance(
        self, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, Chance]:
        """Return `information` and `chance`."""
        return self.information(candidates, target, given), self.chance(candidates, target, given)

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return the chance of as many independent rows, times the mean design effect of Rao and Scott.

        The design effect is the trace of the scores' spread per degree of freedom, or 1 if the table is too large.
        """
        found, effects = super().chance(candidates, target, given), np.ones(len(candidates))
        dof, strata = self._tests(candidates.tolist(), target, given).dof, self._strata(target, given)
        for at, x in enumerate(candidates.tolist()):
            if dof[at] and self._n_numbers(strata, int(self.columns.n_levels[x]), False) <= MOST_NUMBERS:
                effects[at] = self._spread(self._counts(self.columns, x, strata)).trace[0] / dof[at]
        return Chance(found.mean * effects, found.deviation * effects)

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        """Return H(X, Z) of each candidate in nats, of the weighted distribution."""
        if self._weights is None:
            return super().entropy(candidates, given)
        return np.array([self._entropy((x, *given)) for x in candidates.tolist()])

    def _entropy(self, columns: tuple[int, ...]) -> float:
        counts = np.bincount(self.columns.stratify(columns)[0], self._weights)
        shares = counts[counts > 0] / self.n_rows
        return -float(np.sum(shares * np.log(shares)))

    def _judge_all(
        self, results: CIResults, columns: CodedColumns, positions: Sequence[int], target: int, given: tuple[int, ...]
    ) -> CIResults:
        """Replace p-values, and with weights statistics, by those of the design."""
        strata = self._strata(target, given)
        for at, x in enumerate(positions):
            says_nothing = not results.reliable[at] and self.test.unreliable in P_IS_1
            if says_nothing and self._weights is None:
                continue
            if self._n_numbers(strata, int(columns.n_levels[x]), says_nothing) > MOST_NUMBERS:
                results.p_value[at], results.log_p[at], results.reliable[at] = 1.0, 0.0, False
                continue
            counts = self._counts(columns, x, strata)
            if self._weights is not None:
                results.statistic[at] = counts.x2() if self.test.is_pearson else counts.g2()
            if says_nothing:
                continue
            found = judged(results.statistic[at : at + 1], self._spread(counts), self._clusters.n - 1.0)
            results.p_value[at], results.log_p[at] = (float(values[0]) for values in found)
        return results

    def _strata(self, target: int, given: tuple[int, ...]) -> tuple[np.ndarray, int, np.ndarray, int]:
        """Return each row's stratum and the number of nonempty strata, and the same for the target's levels."""
        strata = np.unique(self.columns.stratify(given)[0], return_inverse=True)[1]
        y = self.columns.codes(target)
        return strata, int(strata.max(initial=0)) + 1, y, int(self.columns.n_levels[target])

    def _n_numbers(self, strata: tuple[np.ndarray, int, np.ndarray, int], n_x: int, counts_alone: bool) -> int:
        """Return the memory, in numbers, of a table's counts or of its spread."""
        _, n_strata, _, n_y = strata
        if self._clusters.are_rows and not counts_alone:
            return n_strata * max(n_x, n_y) ** 2
        return n_strata * n_y * n_x * (1 if counts_alone else self._clusters.n)

    def _counts(self, columns: CodedColumns, x: int, strata: tuple[np.ndarray, int, np.ndarray, int]) -> Counts:
        stratum, n_strata, y, n_y = strata
        n_x = int(columns.n_levels[x])
        cells = (stratum * n_y + y) * n_x + columns.codes(x)
        shape = n_strata, n_y, n_x
        return Counts(cells, np.bincount(cells, self._weights, n_strata * n_y * n_x).reshape(shape).astype(float))

    def _spread(self, counts: Counts) -> Spread:
        if self._clusters.are_rows:
            squares = None if self._weights is None else self._weights**2
            return counts.spread_of_rows(np.bincount(counts.cells, squares, counts.observed.size))
        n, size = self._clusters.n, counts.observed.size
        of_clusters = np.bincount(self._clusters.numbers * size + counts.cells, self._weights, n * size)
        scores = counts.scores(of_clusters.reshape(n, *counts.observed.shape))
        return spread(scores.reshape(n, size).T[np.newaxis])


class Counts(NamedTuple):
    """Each row's cell, (n,), and the table of summed weights, (strata, levels of Y, levels of X)."""

    cells: np.ndarray
    observed: np.ndarray

    @property
    def shares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Broadcastable shares of the levels of Y and of X in each stratum, and the counts of strata."""
        of_stratum = self.observed.sum(axis=(1, 2), keepdims=True)
        return (
            self.observed.sum(axis=2, keepdims=True) / of_stratum,
            self.observed.sum(axis=1, keepdims=True) / of_stratum,
            of_stratum,
        )

    def g2(self) -> float:
        """Return G2, twice the sum of O log(O / E)."""
        of_y, of_x, of_stratum = self.shares
        expected = of_y * of_x * of_stratum
        occurs = self.observed > 0
        found = self.observed[occurs]
        return max(2.0 * float(np.sum(found * np.log(found / expected[occurs]))), 0.0)

    def x2(self) -> float:
        """Return Pearson's X2, the sum of (O - E)^2 / E."""
        return float(np.sum(self.scores(self.observed) ** 2))

    def scores(self, of_rows: np.ndarray) -> np.ndarray:
        """Return the sums of scores of some rows, from their counts, (..., strata, levels of Y, levels of X)."""
        of_y, of_x, of_stratum = self.shares
        expected = of_y * of_x * of_stratum
        centred = of_rows - of_x * of_rows.sum(axis=-1, keepdims=True)
        centred -= of_y * centred.sum(axis=-2, keepdims=True)
        return centred / np.where(expected > 0, np.sqrt(expected), np.inf)

    def spread_of_rows(self, squares: np.ndarray) -> Spread:
        """Return the spread where each row is a cluster, from the cells' sums of squared weights.

        Rows of one cell have equal scores up to their weights; rows of two strata share no nonzero scores.
        """
        n, squares = len(self.cells), squares.reshape(self.observed.shape)
        of_y, of_x, of_stratum = self.shares
        y, x = (_products(shares.reshape(len(squares), -1)) for shares in (of_y, of_x))
        of_cells = squares / of_stratum
        total = self.scores(self.observed)
        roots = [np.sqrt(np.where(shares > 0, shares, np.inf)) for shares in (of_y, of_x)]
        along = total / roots[0] / roots[1]  # each cell's scores times the total
        trace = np.einsum("sba,sbb,saa->", of_cells, y, x)
        of_square = np.sum(of_cells * (y**2 @ of_cells @ x**2))
        projected, squared = np.sum(of_cells * along**2), np.sum(total**2)
        factor = n / max(n - 1.0, 1.0)
        of_square += squared**2 / n**2 - 2.0 * projected / n
        return Spread(np.array([factor * (trace - squared / n)]), np.array([factor**2 * of_square]))


def _products(shares: np.ndarray) -> np.ndarray:
    """Return the products of the scores of two levels, (strata, r, r), from the shares of r levels in each stratum."""
    inverse = np.divide(1.0, shares, out=np.zeros_like(shares), where=shares > 0)
    return np.eye(shares.shape[1]) * inverse[:, np.newaxis] - 1.0
