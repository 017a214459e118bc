"""Corrections for many tests: against scipy's adjusted p-values, and against the papers' definitions in fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from blanketflow.ci.multiple_testing import BH, BONFERRONI, BY, CORRECTIONS, NONE, fewest_rejected, rejected

ALPHAS = st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.3])
P_VALUES = st.lists(st.one_of(st.floats(1e-300, 1.0), st.sampled_from([0.001, 0.01, 0.02, 0.05, 1.0])), max_size=60)


def literal(p_values, alpha, correction):
    """The definitions, in exact arithmetic: the largest k whose k smallest p-values meet the level of rank k."""
    n, alpha = len(p_values), Fraction(str(alpha))
    if correction in (NONE, BONFERRONI):
        return [p <= (alpha if correction == NONE else alpha / n) for p in p_values]
    share = alpha / sum(Fraction(1, i) for i in range(1, n + 1)) if correction == BY else alpha
    ordered = sorted(p_values)
    k = max((k for k in range(1, n + 1) if ordered[k - 1] <= share * k / n), default=0)
    return [k > 0 and p <= ordered[k - 1] for p in p_values]


@settings(max_examples=60)
@given(P_VALUES, ALPHAS, st.sampled_from([BH, BY]))
def test_step_up_rejects_what_the_adjusted_p_values_of_scipy_do(p_values, alpha, correction):
    found = rejected(np.log(p_values), alpha, correction) if p_values else rejected(np.zeros(0), alpha, correction)
    adjusted = false_discovery_control(p_values, method=correction) if p_values else np.zeros(0)
    clear = np.abs(adjusted / alpha - 1.0) > 1e-9  # at the level itself scipy's quotients round either way
    assert (found[clear] == (adjusted <= alpha)[clear]).all()


@settings(max_examples=60)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=40), ALPHAS, st.sampled_from(CORRECTIONS))
def test_p_values_that_equal_their_level_are_rejected(halvings, alpha, correction):
    # Multiples of alpha / n are hit exactly in decimals, as powers of one half are by the p-values of few repeats.
    n = len(halvings)
    exact = [min(Fraction(1), Fraction(str(alpha)) * h / n if h else Fraction(1, 2**20)) for h in halvings]
    log_p = np.array([math.log(p) for p in exact])
    if correction == NONE:
        log_p = np.array(
            [math.log(alpha) if p == Fraction(str(alpha)) else v for p, v in zip(exact, log_p, strict=True)]
        )
    assert rejected(log_p, alpha, correction).tolist() == literal(exact, alpha, correction)


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=30), st.sampled_from(CORRECTIONS))
def test_p_values_that_underflow_are_compared_as_well(halvings, correction):
    log_p = np.array(halvings) * -math.log(2.0)
    expected = literal([Fraction(1, 2**h) for h in halvings], 0.05, correction)
    assert rejected(log_p, 0.05, correction).tolist() == expected


@given(P_VALUES, ALPHAS)
def test_stricter_corrections_reject_fewer(p_values, alpha):
    with np.errstate(divide="ignore"):
        log_p = np.log(np.array(p_values))
    none, bh, by, bonferroni = (rejected(log_p, alpha, how) for how in (NONE, BH, BY, BONFERRONI))
    assert (bh <= none).all() and (by <= bh).all() and (bonferroni <= bh).all()


def test_a_p_value_of_zero_is_rejected_by_all():
    for correction in CORRECTIONS:
        assert rejected(np.array([0.0, -np.inf]), 0.05, correction).tolist() == [False, True]


def test_worked_example_of_benjamini_and_hochberg():
    # Section 3.1 of the paper: 15 endpoints of Neuhaus et al. (1992); Bonferroni rejects 3, their procedure 4.
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528]
    p_values += [0.7590, 1.0000]
    assert rejected(np.log(p_values), 0.05, BONFERRONI).sum() == 3
    assert rejected(np.log(p_values), 0.05, BH).sum() == 4
    assert rejected(np.log(p_values), 0.05, NONE).sum() == 9


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("n_tests", [1, 2, 7, 20, 300])
def test_as_many_smallest_p_values_as_are_said_to_be_needed_are_needed(n_tests, correction):
    for smallest in (0.3, 0.0625, 2.0**-5, 0.005, 1e-3, 1e-5):
        needed = [
            k
            for k in range(1, n_tests + 1)
            if rejected(np.log([smallest] * k + [1.0] * (n_tests - k)), 0.05, correction).any()
        ]
        assert fewest_rejected(smallest, n_tests, 0.05, correction) == (needed[0] if needed else None)
