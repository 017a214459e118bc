"""What the tests on contingency tables share: their options, and the engine that codes and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core.parameters import choice, integer, number
from ..core.results import CIResults
from ..core.table import Table
from .base import CITest
from .binning import BINNINGS, Coder
from .coded_columns import CodedColumns

#: Tables of more cells than this, and this many times the rows, are counted by sorting.
MOST_CELLS, CELLS_A_ROW = 2**17, 16
#: c log c is tabulated up to this count.
MOST_TERMS = 2**20


@dataclass
class DiscreteTest(CITest):
    """A test on level codes: options that say what a level is and what too small a sample means."""

    min_samples_per_cell: float = number(5.0, "A test with fewer rows a cell than this is not reliable.", at_least=0)
    unreliable: str = choice(
        "independent",
        "What an unreliable test says: independent (p = 1), undecided (neither admits nor removes), use (as it is).",
        ("independent", "undecided", "use"),
    )
    bins: int = integer(5, "Bins of a numeric column.", at_least=2)
    binning: str = choice(
        "quantile",
        "How numeric columns are binned: quantile (equal counts), uniform (equal widths), kmeans (nearest of one-"
        "dimensional k-means), mdlp (by the target's classes, as many bins as their description length pays for).",
        BINNINGS,
    )


@dataclass
class ContingencyTest(DiscreteTest):
    """G2 or Pearson's X2: a chi-square distributed statistic of contingency tables."""

    dof: str = choice(
        "adjusted",
        "Degrees of freedom: adjusted leaves out empty rows, columns and strata; nominal counts all levels; "
        "observed counts all levels in the strata that occur.",
        ("adjusted", "nominal", "observed"),
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> ContingencyEngine:
        """Return the engine; `seed` is not used."""
        return ContingencyEngine(self, table, target)


class ContingencyEngine:
    """Counts the candidates of a query and turns statistics into p-values."""

    def __init__(self, test: ContingencyTest, table: Table, target: int | None) -> None:
        from ..kernels.chi_square import chi_square_tails
        from ..kernels.contingency import table_statistics
        from ..kernels.thin_contingency import thin_table_statistic

        self._statistics, self._thin_statistic = table_statistics, thin_table_statistic
        self._tails = chi_square_tails
        self.test, self.n_rows = test, table.n_rows
        self.is_pearson = test.card.id == "chi2"
        self.dof_rule = ("adjusted", "nominal", "observed").index(test.dof)
        self.min_samples_per_cell = float(test.min_samples_per_cell)
        self.unreliable_is_independent = test.unreliable == "independent"
        self.most_cells = max(MOST_CELLS, CELLS_A_ROW * table.n_rows)
        self._n_rows = np.full(len(table), table.n_rows)
        self._n_rows.flags.writeable = False  # results share it
        self.coder = Coder(table, test.bins, test.binning, target)
        self.columns = CodedColumns(table.n_rows, len(table), self.coder.codes)
        self.terms, self.scale = fixed_point_terms(table.n_rows)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each candidate against the target within the strata of the conditioning set."""
        self.columns.ensure(candidates)
        return self._evaluate(self.columns, np.array(candidates, dtype=np.int32), target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        """Test each set of columns as one variable, whose levels are the combinations that occur."""
        joint = CodedColumns(self.n_rows, len(candidates), lambda i: self._joint_codes(candidates[i]))
        joint.ensure(range(len(candidates)))
        return self._evaluate(joint, np.arange(len(candidates), dtype=np.int32), target, given)

    def _joint_codes(self, positions: tuple[int, ...]) -> tuple[np.ndarray, int]:
        strata, _, _ = self.columns.stratify(positions)
        levels, codes = np.unique(strata, return_inverse=True)
        return codes, len(levels)

    def _evaluate(
        self, columns: CodedColumns, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> CIResults:
        cells, n_strata, n_combinations = self.columns.stratify(given, target)
        m, n_y = len(candidates), int(self.columns.n_levels[target])
        most_levels = int(columns.n_levels[candidates[0]]) if m == 1 else int(columns.n_levels[candidates].max())
        statistic, dof, reliable = np.empty(m), np.empty(m), np.empty(m, dtype=bool)
        # X2 is at most n times the smaller number of levels; G2 / 2 at most n log n, for which the scale is made.
        scale = self.scale / 2 ** min(n_y, most_levels).bit_length() if self.is_pearson else self.scale
        if n_strata * n_y * most_levels <= self.most_cells:
            self._statistics(
                columns.rows,
                columns.level_start,
                columns.first_level,
                columns.n_levels,
                columns.level_bits,
                candidates,
                cells,
                n_strata,
                n_y,
                self.terms,
                scale,
                self.is_pearson,
                n_combinations,
                self.dof_rule,
                self.min_samples_per_cell,
                statistic,
                dof,
                reliable,
            )
        else:
            self._count_thin(columns, candidates, target, given, scale, statistic, dof, reliable)
        p_value, log_p = np.empty(m), np.empty(m)
        counts = reliable if self.unreliable_is_independent else np.ones(m, dtype=bool)
        self._tails(statistic, dof, counts, p_value, log_p)
        n = self._n_rows[:m] if m <= len(self._n_rows) else np.full(m, self.n_rows)
        return CIResults(statistic, p_value, log_p, dof, n, reliable)

    def _count_thin(
        self,
        columns: CodedColumns,
        candidates: np.ndarray,
        target: int,
        given: tuple[int, ...],
        scale: float,
        statistic: np.ndarray,
        dof: np.ndarray,
        reliable: np.ndarray,
    ) -> None:
        """Do the same for tables of far more cells than rows."""
        strata, n_strata, n_combinations = self.columns.stratify(given)
        strata, y, n_y = strata.astype(np.int64), self.columns.codes(target), int(self.columns.n_levels[target])
        n_x = columns.n_levels[candidates].astype(float)
        for i, candidate in enumerate(candidates):
            x = columns.codes(candidate)
            statistic[i], dof[i] = self._thin_statistic(x, n_x[i], y, n_y, strata, n_strata, scale, self.is_pearson)
        if self.test.dof != "adjusted":
            counted = n_combinations if self.test.dof == "nominal" else len(np.unique(strata))
            dof[:] = (n_x - 1.0) * (n_y - 1.0) * counted
        reliable[:] = self.n_rows >= self.min_samples_per_cell * n_x * n_y * n_combinations


def fixed_point_terms(n_rows: int) -> tuple[np.ndarray, float]:
    """Return c log c in fixed point for c = 0, 1, ..., and the steps in 1, such that sums over n rows fit 63 bits."""
    scale = 2.0 ** math.floor(61 - math.log2(n_rows * max(math.log(max(n_rows, 1)), 1.0) + 1))
    counts = np.arange(min(n_rows + 1, MOST_TERMS), dtype=np.float64)
    counts[0] = 1.0  # 0 log 0 is 0, as 1 log 1
    return np.rint(counts * np.log(counts) * scale).astype(np.int64), scale
