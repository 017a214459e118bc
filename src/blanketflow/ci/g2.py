"""The G2 (likelihood-ratio) test of conditional independence on contingency tables; G2 = 2 n I(X;Y|Z) in nats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core.cards import ASYMPTOTIC, IMPUTATIONS, PAIRWISE, Card
from ..core.results import CIResults
from .contingency import ContingencyTest
from .effect import NATS, nats_per_row


@dataclass
class G2(ContingencyTest):
    """G2 test on the contingency tables of X and Y in each stratum of the conditioning set.

    Numeric columns are binned on the rows of the bound table. A set of columns as X is one variable whose levels are
    the combinations that occur. `contingency.py` says which tests are reliable and what their degrees of freedom are.

    With sampling weights or clusters counts are sums of weights of mean 1, and p-values those of Rao and Scott's
    correction of the second order from the totals of clusters (`cluster_totals.py`). `statistic`, `dof` and `reliable`
    stay those of as many independent rows; tables that take more than 2^25 numbers, such as cells times clusters, are
    not reliable.

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

    def mutual_information(self, results: CIResults) -> np.ndarray:
        """Return the plug-in mutual information in nats, eq. 46 of the unified-view paper: I = G2 / 2n."""
        return nats_per_row(results)
