"""The G2 (likelihood-ratio) test of conditional independence on contingency tables; G2 = 2 n I(X;Y|Z) in nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.cards import ASYMPTOTIC, Card
from ..core.parameters import choice, integer, number
from ..core.results import CIResults
from ..core.table import Table
from .base import CITest
from .binning import level_codes
from .tails import chi2_tail


@dataclass
class G2(CITest):
    """G2 test on the contingency tables of X and Y in each stratum of the conditioning set.

    Numeric columns are binned on the rows of the table bound.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> G2(min_samples_per_cell=0).bind(X).test(0, 1).statistic / (2 * 4)  # mutual information, here log 2
    0.6931471805599453
    """

    card: ClassVar[Card] = Card(
        id="g2",
        name="G2 (likelihood-ratio) test",
        family="ci-test",
        summary="Likelihood-ratio test on contingency tables; also the plug-in mutual information, I = G2 / 2n.",
        reference="Agresti (2013) Categorical Data Analysis, 3rd ed., Wiley; "
        "sample-size rule: Yu, Liu, Li (2018) A Unified View of Causal and Non-causal Feature Selection, eq. 45-46.",
        guarantee="p-values right in large samples",
        p_values=ASYMPTOTIC,
        cost="O(n) a test",
        symmetric=True,
        measures=("p-value", "mutual-information"),
    )

    dof: str = choice(
        "adjusted",
        "Degrees of freedom: adjusted leaves out empty rows, columns and strata; nominal counts all levels; "
        "observed counts all levels in the strata that occur.",
        ("adjusted", "nominal", "observed"),
    )
    min_samples_per_cell: float = number(5.0, "A test with fewer rows a cell than this is not reliable.", at_least=0)
    unreliable: str = choice(
        "independent",
        "What an unreliable test says: independent (p = 1), undecided (neither admits nor removes), use (as it is).",
        ("independent", "undecided", "use"),
    )
    bins: int = integer(5, "Bins of a numeric column.", at_least=2)
    binning: str = choice(
        "quantile", "Equal counts (quantile) or equal widths (uniform) a bin.", ("quantile", "uniform")
    )

    def prepare(self, table: Table, seed: int, target: int | None) -> _G2Engine:
        """Return the engine; `seed` is not used."""
        return _G2Engine(self, table)

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the plug-in mutual information in nats, eq. 46 of the unified-view paper: I = G2 / 2n."""
        return results.statistic / (2.0 * results.n)


class _G2Engine:
    def __init__(self, test: G2, table: Table) -> None:
        self.test, self.table = test, table
        self._codes: dict[int, tuple[np.ndarray, int]] = {}

    def codes(self, position: int) -> tuple[np.ndarray, int]:
        """Return codes and number of levels of a column, coded once."""
        if position not in self._codes:
            self._codes[position] = level_codes(self.table[position], self.test.bins, self.test.binning)
        return self._codes[position]

    def evaluate(self, candidates: Sequence[int], target: int, given: Sequence[int]) -> CIResults:
        """Count each candidate against the target within the strata of the conditioning set."""
        n = self.table.n_rows
        y, n_y = self.codes(target)
        strata, n_strata, n_cells_given = self._strata(given)
        statistic, dof, cells = (np.empty(len(candidates)) for _ in range(3))
        for i, candidate in enumerate(candidates):
            x, n_x = self.codes(candidate)
            counts = np.bincount((strata * n_x + x) * n_y + y, minlength=n_strata * n_x * n_y)
            statistic[i], adjusted = _g2(counts.reshape(n_strata, n_x, n_y))
            cells[i] = n_x * n_y * n_cells_given
            if self.test.dof == "adjusted":
                dof[i] = adjusted
            else:
                dof[i] = (n_x - 1) * (n_y - 1) * (n_cells_given if self.test.dof == "nominal" else n_strata)
        p_value, log_p = chi2_tail(statistic, dof)
        reliable = n >= self.test.min_samples_per_cell * cells
        if self.test.unreliable == "independent":
            p_value, log_p = np.where(reliable, p_value, 1.0), np.where(reliable, log_p, 0.0)
        return CIResults(statistic, p_value, log_p, dof, np.full(len(candidates), n), reliable)

    def _strata(self, given: Sequence[int]) -> tuple[np.ndarray, int, float]:
        """Return stratum codes, the number of strata that occur, and the number of all level combinations."""
        strata, n_strata, n_cells = np.zeros(self.table.n_rows, dtype=np.int64), 1, 1.0
        for position in given:
            codes, n_levels = self.codes(position)
            present, strata = np.unique(strata * n_levels + codes, return_inverse=True)
            n_strata, n_cells = len(present), n_cells * n_levels
        return strata, n_strata, n_cells


def _g2(counts: np.ndarray) -> tuple[float, int]:
    """Return G2 and the adjusted degrees of freedom of counts of shape (strata, levels of X, levels of Y)."""
    rows, columns = counts.sum(axis=2), counts.sum(axis=1)
    dof = ((np.count_nonzero(rows, axis=1) - 1) * (np.count_nonzero(columns, axis=1) - 1)).sum()

    def entropy_term(c: np.ndarray) -> float:
        positive = np.sort(c[c > 0]).astype(np.float64)  # so that relabelled columns tie to the last bit
        return float(np.sum(positive * np.log(positive)))

    g2 = 2.0 * (entropy_term(counts) - entropy_term(rows) - entropy_term(columns) + entropy_term(rows.sum(axis=1)))
    return max(g2, 0.0), int(dof)
