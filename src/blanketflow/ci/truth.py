"""What the tests that know the truth share: their answers are certain, so p is 1 or as good as 0."""

from __future__ import annotations

import numpy as np

from ..core.results import CIResults

#: Stands for a p-value of 0; its logarithm is finite.
CERTAIN = 1e-300
LOG_CERTAIN = float(np.log(CERTAIN))


def certain_results(statistic: np.ndarray, is_dependent: np.ndarray, n_rows: int) -> CIResults:
    """Return results with p = 1 where independent and p = 1e-300 where dependent."""
    m = len(is_dependent)
    p_value, log_p = np.where(is_dependent, CERTAIN, 1.0), np.where(is_dependent, LOG_CERTAIN, 0.0)
    return CIResults(statistic, p_value, log_p, np.ones(m), np.full(m, n_rows), np.ones(m, dtype=bool))
