"""Fisher's exact test of two flags of which a cell has few rows, where tests for large samples reject too often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.flags import is_flag
from ...core.results import CIResults
from ...core.summed_table import SummedTable
from ...core.table import Table


def with_exact_tests(results: CIResults, table: Table, candidates: Sequence[int], target: int) -> CIResults:
    """Return tests given nothing, with the p-values of Fisher's test for flags of which a cell has few rows.

    Where 4 % of 1,000 rows are ones of each of two independent flags, 1.6 are expected in a cell, and tests for large
    samples reject up to 19 % at 0.05. Clustered and weighted rows, and tables without rows, keep their tests.
    """
    if table.design is not None or isinstance(table, SummedTable) or not is_flag(table[target]):
        return results
    from ...kernels.small_margins import flags_log_p

    y = _ones(table, target)
    for at, candidate in enumerate(candidates):
        if results.dof[at] > 0 and is_flag(table[candidate]):
            x = _ones(table, candidate)
            log_p = flags_log_p(np.count_nonzero(x & y), np.count_nonzero(x), np.count_nonzero(y), table.n_rows)
            if log_p <= 0.0:
                results.log_p[at], results.p_value[at] = log_p, np.exp(log_p)
    return results


def _ones(table: Table, column: int) -> np.ndarray:
    values = table[column].numbers()
    return values == values.max()
