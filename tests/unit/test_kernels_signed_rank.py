"""The signed-rank kernel against all sign flips and against scipy; the corrected t-test against its formula."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from blanketflow.ci.predictive.risk_differences import corrected_t, risk_differences, smallest_p, wilcoxon
from literal import signed_rank_by_flips


def tied_differences(rng, n):
    """Return multiples of a half with many ties and zeros."""
    return rng.integers(-3, 5, n) / 2


def test_up_to_13_pairs_equal_all_sign_flips():
    rng = np.random.default_rng(0)
    for n in [2, 3, 4, 5, 6, 8, 10, 13]:
        tables = [tied_differences(rng, n) for _ in range(4)] + [rng.normal(0.3, 1, n), -np.arange(n), np.eye(n)[0]]
        p, log_p = wilcoxon(np.array(tables))
        wanted = [signed_rank_by_flips(row.tolist()) for row in tables]
        np.testing.assert_allclose(p, wanted, rtol=0, atol=1e-12)
        np.testing.assert_allclose(log_p, np.log(wanted), rtol=0, atol=1e-12)


@given(st.lists(st.lists(st.integers(-5, 5), min_size=7, max_size=7), min_size=1, max_size=6), st.integers(1, 7))
@settings(max_examples=200, deadline=None)
def test_ties_and_zeros_equal_all_sign_flips(rows, n):
    rows = np.array(rows)[:, :n] / 4
    p, _ = wilcoxon(rows)
    np.testing.assert_allclose(p, [signed_rank_by_flips(row.tolist()) for row in rows], rtol=1e-13)


@given(st.lists(st.integers(-9, 9), min_size=2, max_size=9))
@settings(max_examples=50, deadline=None)
def test_up_to_13_pairs_equal_the_permutation_test_of_scipy(row):
    row = np.array(row) / 8
    if not row.any():
        return

    def positive_ranks(d):
        signs = (d > 0) + 0.5 * (d == 0)
        return (stats.rankdata(np.abs(d), axis=-1) * signs).sum(axis=-1)

    flips = stats.permutation_test(
        (row,),
        lambda d, axis: positive_ranks(d),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
        vectorized=True,
    )
    assert wilcoxon(row[None])[0][0] == pytest.approx(flips.pvalue, rel=1e-12)


def test_a_hand_worked_table():
    # |d| = 0 1 2 2 3 ranks 1 2 3.5 3.5 5; positive: half of 1, 3.5 + 5. Of the 16 signings of (2, 3.5, 3.5, 5) those
    # with a sum of at least 8.5: {3.5,5} twice, {2,3.5,3.5}, {2,3.5,5} twice, {3.5,3.5,5}, all four.
    p, _ = wilcoxon(np.array([[0.0, -1.0, 2.0, -2.0, 3.0]]))
    assert p[0] == 7 / 16


def test_above_13_pairs_equal_scipy():
    rng = np.random.default_rng(1)
    for n in [14, 15, 20, 30, 45, 60]:
        for row in [tied_differences(rng, n), rng.normal(0.2, 1, n), np.round(rng.normal(0.5, 1, n), 1), -np.ones(n)]:
            p, log_p = wilcoxon(row[None, :])
            wanted = stats.wilcoxon(
                row, zero_method="zsplit", alternative="greater", method="asymptotic", correction=False
            ).pvalue
            assert p[0] == pytest.approx(wanted, rel=1e-9)
            assert log_p[0] == pytest.approx(math.log(wanted), rel=1e-9)


def test_swapped_risks_with_the_other_alternative_are_the_same_test():
    rng = np.random.default_rng(2)
    risks, permuted = np.round(rng.normal(size=30), 1), np.round(rng.normal(0.3, 1, 30), 1)
    p, _ = wilcoxon(risk_differences(risks[None, :], permuted[None, :]))
    less = stats.wilcoxon(np.round(risks - permuted, 12), zero_method="zsplit", alternative="less", method="asymptotic")
    assert p[0] == pytest.approx(less.pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [2, 13, 14, 100])
def test_no_difference_gives_p_one(n):
    p, log_p = wilcoxon(np.zeros((1, n)))
    assert (p[0], log_p[0]) == (1.0, 0.0)


def test_log_p_keeps_its_order_where_p_underflows():
    n = 3000
    rows = np.array([np.where(np.arange(n) < k, -1.0, 1.0) * np.arange(1, n + 1) for k in (0, 200, 400, 600)])
    p, log_p = wilcoxon(rows)
    assert p[0] == 0.0
    assert np.isfinite(log_p).all()
    assert (np.diff(log_p) > 0).all()
    positive = np.array([row[row > 0].sum() for row in rows])
    z = (positive - n * (n + 1) / 4) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    np.testing.assert_allclose(log_p, stats.norm.logsf(z), rtol=1e-6)


def test_corrected_t_equals_its_formula():
    rng = np.random.default_rng(3)
    for n, share in [(5, 0.25), (10, 1 / 9), (30, 0.5)]:
        d = rng.normal(0.2, 1, n)
        t = np.mean(d) / math.sqrt((1 / n + share) * np.var(d, ddof=1))
        p, log_p = corrected_t(d[None, :], share)
        assert p[0] == pytest.approx(stats.t.sf(t, n - 1), rel=1e-10)
        assert log_p[0] == pytest.approx(stats.t.logsf(t, n - 1), rel=1e-9)


def test_corrected_t_of_equal_differences_goes_by_their_signs():
    p, log_p = corrected_t(np.array([[0.0] * 5, [0.1] * 5, [-0.1] * 5]), 0.25)
    assert p.tolist() == [1.0, 2.0**-5, 1.0]
    np.testing.assert_allclose(log_p, np.log(p))


def test_float_noise_does_not_decide_ties():
    exact = np.array([[0.3, -0.3, 0.6, 0.0]])
    noisy = risk_differences(np.zeros((1, 4)), exact + np.array([[1e-15, 2e-15, -1e-15, 1e-16]]))
    assert wilcoxon(noisy)[0][0] == wilcoxon(exact)[0][0] == signed_rank_by_flips(exact[0].tolist())


@pytest.mark.parametrize("n", [2, 5, 10, 13])
def test_the_smallest_p_of_few_repeats_is_one_flip_of_all(n):
    assert smallest_p(n) == 2.0**-n


@pytest.mark.parametrize("n", [14, 20, 30, 100])
def test_the_smallest_p_of_many_repeats_is_that_of_equal_differences(n):
    assert smallest_p(n) == pytest.approx(stats.norm.sf(math.sqrt(n)), rel=1e-9)
    rng = np.random.default_rng(n)
    rows = [rng.integers(0, top, n) for top in range(2, 12) for _ in range(20)] + [np.arange(1, n + 1), np.ones(n)]
    assert wilcoxon(np.array(rows, dtype=float))[0].min() >= smallest_p(n)


def test_the_corrected_t_test_has_no_smallest_p():
    assert smallest_p(5, "corrected-t") == 0.0
    assert corrected_t(np.array([[0.3, 0.3, 0.3, 0.3, 0.3 + 1e-6]]), 0.25)[0][0] < 1e-15
