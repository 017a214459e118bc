"""Mutual information with a p-value from permutations of the target within the strata of the conditioning set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import IMPUTATIONS, PAIRWISE, RESAMPLED, Card
from ...core.errors import DataError, ParameterError
from ...core.parameters import integer, number
from ...core.results import CIResults
from ...core.seeds import derive_rng
from ...core.table import Table
from ..clusters import Exchange, clusters_of
from ..effect import NATS, nats_per_row
from ..engines import Candidate, Chance
from ..pooling import pooled_p_values
from ..unbound import ROWS, more_permutations, permute_option
from .coded_columns import CodedColumns
from .contingency import ContingencyEngine, DiscreteTest
from .g2_and_chi2 import CORRECTED, G2

#: The largest number of cells of a table, 4 bytes each.
MOST_CELLS = 2**27
#: With fewer rows per stratum hardly any permutation differs from the data, and the test is unreliable.
ROWS_PER_STRATUM = 2


@dataclass
class MIPermutation(DiscreteTest):
    """Permutation test of the plug-in mutual information, for samples too small for the chi-square distribution.

    The target is permuted within each stratum of the conditioning set, which preserves its relation to Z and breaks its
    relation to X. The p-value is exact for any sample size: (1 + b) / (1 + B) for b exceedances in B permutations, or h
    / l if the h-th exceedance occurs at permutation l (Besag, Clifford). The statistic is G2 = 2 n I with adjusted
    degrees of freedom, so that candidates with the smallest possible p-value can be ordered.

    A test is unreliable if strata have fewer than two rows on average: almost nothing is permuted, and p is near 1.

    With `asymptotic_from`, tables with that many rows per cell get the p-value of `g2` with ``small_counts:
    corrected``, which needs no permutations and has no lower limit. It is as accurate there, and much faster on large
    tables.

    With `permute`, whole clusters or the rows within a cluster are permuted. Given Z, a cluster is exchanged only with
    one that has as many rows in each stratum. The test is unreliable if fewer than half of the clusters, or rows, can
    be exchanged.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 3, 60)
    >>> X = np.column_stack([a, (a + rng.integers(0, 2, 60)) % 3, rng.integers(0, 3, 60)])
    >>> test = MIPermutation().bind(X)
    >>> bool(test.test(0, 1).p_value < 0.01), bool(test.test(2, 1, given=[0]).p_value < 0.01)
    (True, False)
    """

    card: ClassVar[Card] = Card(
        id="mi-permutation",
        name="permutation test of the mutual information",
        family="ci-test",
        summary="Permutes the target within strata: right for small samples and tables with few rows per cell.",
        reference="Good (2005) Permutation, Parametric and Bootstrap Tests of Hypotheses, 10.1007/b138696; early "
        "stopping: Besag, Clifford (1991) Sequential Monte Carlo p-values, 10.1093/biomet/78.2.301.",
        guarantee="p-values right in samples of any size, at least 1 / (1 + n_permutations)",
        cost="O(n) per permutation; at most n_permutations, and fewer for larger p",
        measures=("p-value", "mutual-information", "entropy"),
        p_values=RESAMPLED,
        effect=NATS,
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
    )

    n_permutations: int = integer(1000, "Largest number of permutations of a test.", at_least=1)
    enough_exceedances: int = integer(
        20, "A test ends once this many permutations are as dependent as the data.", at_least=1
    )
    asymptotic_from: float | None = number(
        None,
        "Rows per cell from which p is that of g2 with small_counts: corrected, without permutations; null for none.",
        at_least=0,
        nullable=True,
    )
    permute: str = permute_option()

    def prepare(self, table: Table, seed: int, target: int | None) -> _MIPermutationEngine:
        """Return the engine; `seed` fixes the permutations of each target and conditioning set."""
        return _MIPermutationEngine(self, table, seed, target)

    def check(self, where: str | None = None) -> None:
        """Raise `ParameterError` if an option is out of range or options conflict."""
        super().check(where)
        if self.permute != ROWS and self.asymptotic_from is not None:
            raise ParameterError(
                f"{where or self.card.id}: asymptotic_from takes rows as independent, and permute is {self.permute}. "
                "Remove one of the two."
            )

    def smallest_p(self) -> float:
        """Return the p-value without exceedances; 0 if some p-values use no permutations."""
        return self.saturated_p() if self.asymptotic_from is None else 0.0

    def saturated_p(self) -> float:
        """Return the p-value without exceedances."""
        return 1.0 / (1.0 + self.n_permutations)

    def to_reach(self, level: float) -> str:
        """Return in words how many permutations are needed."""
        return more_permutations(level, self.n_permutations)

    def pooled(self, copies: Sequence[CIResults], stacked: CIResults | None) -> CIResults:
        """Return results pooled by their p-values."""
        return pooled_p_values(copies)

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the plug-in mutual information in nats, I = G2 / 2n."""
        return nats_per_row(results)

    effects = mutual_information


class _MIPermutationEngine:
    takes_arrays = True

    def __init__(self, test: MIPermutation, table: Table, seed: int, target: int | None) -> None:
        from ...kernels.permutation import permutation_exceedances

        self._exceedances = permutation_exceedances
        self.test, self.table, self.seed = test, table, seed
        self._clusters = clusters_of(test.card.id, table, test.permute)
        options = {"bins": test.bins, "binning": test.binning, "unreliable": "use", "small_counts": CORRECTED}
        rows_per_cell = math.inf if test.asymptotic_from is None else test.asymptotic_from
        self.statistics = ContingencyEngine(G2(**options, min_samples_per_cell=rows_per_cell), table, target)

    def evaluate(self, candidates: Sequence[int], target: int, given: tuple[int, ...]) -> CIResults:
        """Count exceedances of each candidate."""
        results = self.statistics.evaluate(candidates, target, given)
        return self._with_p(results, self.statistics.columns, np.asarray(candidates, dtype=np.int32), target, given)

    def evaluate_sets(self, candidates: Sequence[tuple[int, ...]], target: int, given: tuple[int, ...]) -> CIResults:
        results = self.statistics.evaluate_sets(candidates, target, given)
        positions = np.arange(len(candidates), dtype=np.int32)
        return self._with_p(results, self.statistics.joint(candidates), positions, target, given)

    def information(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> np.ndarray:
        """Return I(X;Y|Z) of each candidate in nats, without permutations."""
        return self.statistics.information(candidates, target, given)

    def information_and_chance(
        self, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, Chance]:
        return self.statistics.information_and_chance(candidates, target, given)

    def chance(self, candidates: np.ndarray, target: int, given: tuple[int, ...]) -> Chance:
        """Return the `information` expected of independent columns, without permutations."""
        return self.statistics.chance(candidates, target, given)

    def entropy(self, candidates: np.ndarray, given: tuple[int, ...]) -> np.ndarray:
        return self.statistics.entropy(candidates, given)

    def rows_needed(self, x: Candidate, target: int, given: tuple[int, ...]) -> int | None:
        """Return how many rows are enough if all combinations of the given levels occur; None with clusters."""
        if self._clusters is not None:
            return None
        return math.ceil(ROWS_PER_STRATUM * self.statistics.n_cells(given))

    def _with_p(
        self, results: CIResults, columns: CodedColumns, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> CIResults:
        """Replace p-values of G2 by permutation p-values in thin tables."""
        thin = np.flatnonzero(~results.reliable)
        if len(thin):
            p_value, is_reliable = self._by_permutations(columns, candidates[thin], target, given)
            results.p_value[thin], results.log_p[thin] = p_value, np.log(p_value)
            results.reliable[thin] = is_reliable
        return results

    def _by_permutations(
        self, columns: CodedColumns, candidates: np.ndarray, target: int, given: tuple[int, ...]
    ) -> tuple[np.ndarray, bool]:
        """Return the p-values of candidates, and whether enough can be permuted."""
        columns.ensure(candidates.tolist())
        exceedances, n_drawn = (np.empty(len(candidates), dtype=np.int64) for _ in range(2))
        cells, n_strata, _ = self.statistics.columns.stratify(given, target)
        names, n_y = self.table.names, int(self.statistics.columns.n_levels[target])
        if n_strata * n_y * int(columns.n_levels.max()) > MOST_CELLS:
            raise DataError(
                f"mi-permutation: {names[target]!r} and the columns that it is tested with have too many levels. "
                "Drop columns that identify rows, or lower bins."
            )
        identity = (self.seed, "mi-permutation", names[target], *sorted(names[z] for z in given))
        seeds = derive_rng(*identity).integers(2**63, size=self.test.n_permutations, dtype=np.uint64)
        strata = (cells // np.uint32(n_y)).astype(np.int64)
        exchange = Exchange.of(self.test.permute, len(cells), self._clusters, strata)
        self._exceedances(
            *columns.arrays[:4], candidates, cells, n_strata, n_y, *self.statistics.fixed_point, exchange.members,
            exchange.blocks, seeds, self.test.enough_exceedances, exceedances, n_drawn,
        )  # fmt: skip
        stopped = exceedances == self.test.enough_exceedances
        n_occurring = np.count_nonzero(np.bincount(cells // np.uint32(n_y), minlength=n_strata))
        is_reliable = not given or len(cells) >= ROWS_PER_STRATUM * n_occurring
        if self._clusters is not None:
            is_reliable = exchange.has_some
        return np.where(stopped, exceedances / n_drawn, (1.0 + exceedances) / (1.0 + n_drawn)), is_reliable
