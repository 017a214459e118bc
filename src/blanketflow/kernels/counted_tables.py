"""The tests of kernels/contingency.py on given tables, with identical results."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .chi_square import log_tail
from .contingency import _fixed, candidate_statistic, corrected, pearson_scale, shared_by_candidates


@njit(
    "Tuple((float64, float64, boolean, float64, float64))"
    "(int64[:, ::1], int64, int64, int64, float64, int64[::1], float64, boolean, int64, float64, boolean, boolean)",
    cache=True,
    nogil=True,
)
def table_test(
    counts, n_y, n_rows, most_levels, n_combinations,
    terms, scale, pearson, dof_rule, min_samples_per_cell, unreliable_is_independent, is_corrected,
):  # fmt: skip
    """Return statistic, degrees of freedom, whether the test is reliable, log p and p.

    `counts`, (r, strata * n_y), has a row per level of the candidate; all r levels and all n_y of the target occur.
    `most_levels` is the largest r among candidates tested together. Other arguments are as in `contingency.cell_tests`.
    """
    r, n_cells = counts.shape
    totals = counts.sum(axis=0)
    shared = shared_by_candidates(totals, n_cells // n_y, n_y, terms, scale)
    if pearson:
        scale = pearson_scale(n_rows, min(most_levels, n_y))
    statistic, dof = candidate_statistic(
        counts.ravel(), totals, shared, n_y, r, n_combinations, terms, scale, pearson, dof_rule
    )
    reliable = n_rows >= min_samples_per_cell * r * n_y * n_combinations
    log_p = 0.0 if unreliable_is_independent and not reliable else log_tail(statistic, dof)
    if is_corrected and reliable:
        log_p = corrected(counts.ravel(), totals, shared[0], n_y, r, statistic, dof, log_p)
    return statistic, dof, reliable, log_p, math.exp(log_p)


@njit("int64(int64[::1], int64[::1], float64)", cache=True, nogil=True)
def sum_of_terms(counts, terms, scale):
    """Return the sum of ``c log c`` over the cells in fixed point."""
    total = np.int64(0)
    for count in counts:
        total += _fixed(count, terms, scale)
    return total
