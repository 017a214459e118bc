"""Effect sizes, which do not grow with the rows: effects below `min_effect` count as independent."""

from __future__ import annotations

import math
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
#: Number of rows from which a correlation of 0.02 has p = 0.05.
MANY_ROWS = 10_000
#: P-values do not select if at least this share of at least this many features has p <= alpha.
NEARLY_ALL, FEWEST_FEATURES = 0.9, 10
#: The effect of tests that compare likelihoods, or estimate the mutual information.
NATS = "conditional mutual information, in nats per row"


def nats_per_row(results: CIResults) -> np.ndarray:
    """Return a likelihood-ratio statistic per row, shape (m,): G2 / 2n, the mutual information in nats.

    >>> one = np.ones(1)
    >>> nats_per_row(CIResults(one * 40.0, one, one, one, np.array([200]), one > 0)).tolist()
    [0.1]
    """
    return results.statistic / (2.0 * results.n)


def without_small(results: CIResults, effects: np.ndarray, min_effect: float) -> CIResults:
    """Return results with p = 1 where the effect, (m,) in the card's unit, is below `min_effect`; methods read only p.

    >>> one = np.ones(2)
    >>> results = CIResults(one, one * 1e-9, np.log(one * 1e-9), one, one, one > 0)
    >>> without_small(results, np.array([0.01, 0.1]), 0.1).p_value.tolist()
    [1.0, 1e-09]
    """
    small = effects < min_effect
    p_value, log_p = np.where(small, 1.0, results.p_value), np.where(small, 0.0, results.log_p)
    return replace(results, p_value=p_value, log_p=log_p)


def why_p_values_do_not_select(results: CIResults, alpha: float) -> str:
    """Return a message if, with many rows, nearly all features depend on the target marginally; otherwise empty.

    >>> ones = np.ones(20)
    >>> results = CIResults(ones, ones * 1e-9, np.log(ones * 1e-9), ones, ones * 50_000, ones > 0)
    >>> why_p_values_do_not_select(results, 0.05).partition(":")[0]
    'with 50,000 rows 20 of 20 features have p <= 0.05 given nothing'
    """
    n_rows, n_features = int(results.n.max(initial=0)), len(results)
    n_dependent = int(np.count_nonzero(results.log_p <= math.log(alpha)))
    if n_rows < MANY_ROWS or n_features < FEWEST_FEATURES or n_dependent < NEARLY_ALL * n_features:
        return ""
    return (
        f"with {n_rows:,} rows {n_dependent:,} of {n_features:,} features have p <= {alpha:g} given nothing: p-values "
        "no longer select. Set min_effect, the smallest effect that counts (blanketflow explain docs/many-rows.md)"
    )
