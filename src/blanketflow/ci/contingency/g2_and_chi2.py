"""The G2 (likelihood-ratio) and Pearson's chi-square tests of conditional independence; G2 = 2 n I(X;Y|Z) in nats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.cards import ASYMPTOTIC, IMPUTATIONS, PAIRWISE, TRIPLES, Card
from ...core.mapped_file import any_mapped
from ...core.parameters import choice
from ...core.results import CIResults
from ...core.table import Table, is_complex
from ..effect import NATS, nats_per_row
from .contingency import ContingencyByClusters, ContingencyEngine, ContingencyTest
from .packed_codes import PackedTableEngine

#: Values of `small_counts`.
CHI_SQUARE, CORRECTED = "chi-square", "corrected"


class _ChiSquareTest(ContingencyTest):
    """A test on tables counted from rows, from packed codes, by clusters, or elsewhere."""

    def prepare(self, table: Table, seed: int, target: int | None) -> ContingencyEngine:
        """Return the engine; `seed` is not used."""
        if is_complex(table.design):
            return ContingencyByClusters(self, table, target, table.design)
        if any_mapped(table.columns):
            return PackedTableEngine(self, table, target)
        return ContingencyEngine(self, table, target)

    @property
    def sums(self) -> str:
        """What replaces rows: tables of the target and two features, unless bins use the target's classes."""
        return "" if self.binning == "mdlp" else TRIPLES


@dataclass
class G2(_ChiSquareTest):
    """G2 test on the contingency tables of X and Y in each stratum of the conditioning set.

    Numeric columns are binned on the rows of the bound table. A set of columns as X is one variable whose levels are
    the occurring combinations. `contingency.py` defines reliability and degrees of freedom.

    With sampling weights or clusters, counts are sums of weights of mean 1, and p-values have Rao and Scott's
    second-order correction from the totals of clusters (`clusters.py`). `statistic`, `dof` and `reliable` are those of
    as many independent rows; tables that need more than 2^25 numbers, such as cells times clusters, are unreliable.

    With ``small_counts: corrected``, reliable tests are corrected for small expected counts, where chi-square is not
    calibrated. Two columns of two values get Fisher's exact test if fewer than 20 rows are expected in a cell: in up to
    8 strata together (Freeman and Halton); without strata its mid-p-value, which has more power, from 10 rows on. For
    other columns with fewer than 5 expected, the degrees of freedom are the mean of G2 over all permutations of X
    within strata, if it is larger: the semi-parametric test of Tsamardinos and Borboudakis, with the exact mean in
    place of an estimate. `statistic` and `dof` are unchanged. So are p-values above 0.1 and below 1e-10, those with a
    design, and those pooled over imputed copies.

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
        cost="O(n) per test",
        symmetric=True,
        measures=("p-value", "mutual-information", "entropy"),
        p_values=ASYMPTOTIC,
        effect=NATS,
        design_based=True,
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
    )

    small_counts: str = choice(
        CHI_SQUARE,
        "p-values where few rows are expected in a cell: chi-square, as everywhere; or corrected, by an exact test of "
        "two columns of two values, and by the mean of G2 over all permutations for others.",
        (CHI_SQUARE, CORRECTED),
    )

    @property
    def is_corrected(self) -> bool:
        """Whether p-values are corrected for small expected counts."""
        return self.small_counts == CORRECTED

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the plug-in mutual information in nats, eq. 46 of the unified-view paper: I = G2 / 2n."""
        return nats_per_row(results)


@dataclass
class Chi2(_ChiSquareTest):
    """Pearson's X2, summed over the strata of the conditioning set; options, sets of columns and designs as in `G2`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> Chi2(min_samples_per_cell=0).bind(X).test(0, 1).statistic  # n for a perfect relation of two levels
    4.0
    """

    card: ClassVar[Card] = Card(
        id="chi2",
        name="Pearson's chi-square test",
        family="ci-test",
        summary="Compares observed with expected counts of contingency tables; gentler than G2 if cells have few rows.",
        reference="Pearson (1900) On the criterion that a given system of deviations from the probable in the case of "
        "a correlated system of variables is such that it can be reasonably supposed to have arisen from random "
        "sampling, 10.1080/14786440009463897.",
        guarantee="p-values right in large samples",
        cost="O(n) per test",
        symmetric=True,
        measures=("p-value",),
        p_values=ASYMPTOTIC,
        effect="X2 / 2n: about the conditional mutual information in nats per row, where it is small",
        design_based=True,
        incomplete=(PAIRWISE, IMPUTATIONS),
        column_sets=True,
    )
    is_pearson: ClassVar[bool] = True
