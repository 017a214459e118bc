"""Fisher's exact test of two flags of which a cell has few rows, where tests for large samples reject too often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.flags import is_flag
from ..core.results import CIResults
from ..core.summed_table import SummedTable
from ..core.table import Table

#: The smallest expected number of rows in a cell with which tests for large samples are right (Cochran, 1954,
#: doi:10.2307/3001666).
EXPECTED = 5.0
#: Tables are as likely as the one seen up to this rounding.
ROUNDING = 1e-7


def with_exact_tests(results: CIResults, table: Table, candidates: Sequence[int], target: int) -> CIResults:
    """Return tests given nothing, with the p-values of Fisher's test for flags of which a cell has few rows.

    Where 4 % of 1,000 rows are ones of each of two independent flags, 1.6 are expected in a cell, and tests for large
    samples reject up to 19 % at 0.05. Clustered and weighted rows, and tables without rows, keep their tests.
    """
    if table.design is not None or isinstance(table, SummedTable) or not is_flag(table[target]):
        return results
    n, y = table.n_rows, _ones(table, target)
    most = EXPECTED * n / max(min(y.sum(), n - y.sum()), 1)  # of rows in the rarer half of the other flag
    for at, candidate in enumerate(candidates):
        if results.dof[at] > 0 and is_flag(table[candidate]):
            x = _ones(table, candidate)
            if min(x.sum(), n - x.sum()) < most:
                results.log_p[at] = fisher_log_p(int(np.count_nonzero(x & y)), int(x.sum()), int(y.sum()), n)
                results.p_value[at] = np.exp(results.log_p[at])
    return results


def fisher_log_p(both: int, first: int, second: int, n: int) -> float:
    """Return log p of Fisher's two-sided test: of n rows so many are ones of both flags, and of each of them.

    Examples
    --------
    >>> round(float(np.exp(fisher_log_p(8, 10, 9, 20))), 6)  # scipy.stats.fisher_exact([[8, 2], [1, 9]])
    0.005477
    """
    from scipy.special import gammaln

    k = np.arange(max(0, first + second - n), min(first, second) + 1)
    log_p = -(gammaln(k + 1) + gammaln(first - k + 1) + gammaln(second - k + 1) + gammaln(n - first - second + k + 1))
    log_p -= np.logaddexp.reduce(log_p)
    return min(float(np.logaddexp.reduce(log_p[log_p <= log_p[both - k[0]] + ROUNDING])), 0.0)


def _ones(table: Table, column: int) -> np.ndarray:
    values = table[column].numbers()
    return values == values.max()
