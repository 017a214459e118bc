"""The size of an effect beside its p-value: what is smaller than `min_effect` is independent.

With many rows even a trifle has a small p-value. The size of an effect does not grow with the rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.parameters import Parameter
from ..core.results import CIResults

#: The key of a selector, and the argument of a selector class.
MIN_EFFECT = Parameter(
    "number",
    "Smallest effect that counts as a dependence, beside alpha: an absolute partial correlation with fisher-z, nats "
    "per row with g2, chi2, mi-permutation and lr-mixed; null or 0 for none.",
    at_least=0,
    nullable=True,
)
#: The effect of tests that compare likelihoods, or estimate the mutual information.
NATS = "conditional mutual information, in nats per row"


def nats_per_row(results: CIResults) -> np.ndarray:
    """Return a likelihood-ratio statistic per row, shape (m,): G2 / 2n, the mutual information in nats.

    Examples
    --------
    >>> one = np.ones(1)
    >>> nats_per_row(CIResults(one * 40.0, one, one, one, np.array([200]), one > 0)).tolist()
    [0.1]
    """
    return results.statistic / (2.0 * results.n)


def without_small(results: CIResults, effects: np.ndarray, min_effect: float) -> CIResults:
    """Return results in which an effect below `min_effect` is independent: p = 1. The statistic stays.

    This is the one place where `min_effect` decides. Methods read p-values alone, so each of them obeys.

    Parameters
    ----------
    results : CIResults
        m results of one test.
    effects : ndarray of shape (m,)
        Their effects, in the unit that the test's card says.
    min_effect : float
        In the same unit.

    Examples
    --------
    >>> one = np.ones(2)
    >>> results = CIResults(one, one * 1e-9, np.log(one * 1e-9), one, one, one > 0)
    >>> without_small(results, np.array([0.01, 0.1]), 0.1).p_value.tolist()
    [1.0, 1e-09]
    """
    small = effects < min_effect
    p_value, log_p = np.where(small, 1.0, results.p_value), np.where(small, 0.0, results.log_p)
    return replace(results, p_value=p_value, log_p=log_p)
