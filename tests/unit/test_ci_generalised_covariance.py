"""The generalised covariance measure against scipy's t-test, Hotelling's formula, Cramér's V and known intervals."""

import numpy as np
import pytest
from scipy import stats

from blanketflow.ci.splines.generalised_covariance import generalised_covariance

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(80, 1)), RNG.standard_t(5, size=(80, 1))


def test_single_columns_are_a_t_test_of_the_products():
    found = generalised_covariance(X, Y)
    products = ((X - X.mean()) * (Y - Y.mean())).ravel()
    oracle = stats.ttest_1samp(products, 0)
    assert found.p_value == pytest.approx(oracle.pvalue, rel=1e-9)
    assert found.statistic == pytest.approx(oracle.statistic, rel=1e-9)
    assert found.effect == pytest.approx(np.corrcoef(X.ravel(), Y.ravel())[0, 1], rel=1e-9)


def test_sign_and_scale():
    found, turned = generalised_covariance(X, Y), generalised_covariance(-1e6 * X, Y + 3)
    assert (turned.statistic, turned.effect) == pytest.approx((-found.statistic, -found.effect))
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
    assert found.low < found.effect < found.high


def test_several_columns_are_hotellings_test():
    labels = np.eye(3)[RNG.integers(3, size=120)]
    y = labels @ np.array([[0.0], [0.5], [1.0]]) + RNG.normal(size=(120, 1))
    found = generalised_covariance(labels, y)
    products = (labels - labels.mean(axis=0))[:, :2] * (y - y.mean())  # the third column is determined by two
    n, d = products.shape
    mean = products.mean(axis=0)
    squared = n * mean @ np.linalg.inv(np.cov(products, rowvar=False)) @ mean
    assert found.statistic == pytest.approx(squared)
    assert found.p_value == pytest.approx(stats.f.sf(squared * (n - d) / d / (n - 1), d, n - d))


def test_effect_of_labels_is_cramers_v():
    one = RNG.integers(3, size=200)
    other = np.where(RNG.random(200) < 0.5, one, RNG.integers(4, size=200))
    table = stats.contingency.crosstab(one, other).count
    found = generalised_covariance(np.eye(3)[one], np.eye(4)[other])
    assert found.effect == pytest.approx(stats.contingency.association(table, method="cramer"))
    assert 0 <= found.low < found.effect < found.high <= 1


def test_interval_of_gaussian_columns_is_that_of_fishers_z():
    x = np.random.default_rng(1).normal(size=(40_000, 1))
    y = 0.6 * x + 0.8 * np.random.default_rng(2).normal(size=(40_000, 1))
    found = generalised_covariance(x, y)
    half = 1.96 / np.sqrt(40_000)
    assert (found.low, found.high) == pytest.approx(
        np.tanh(np.arctanh(found.effect) + half * np.array([-1, 1])), abs=2e-4
    )


def test_copies_of_rows_in_one_group_say_nothing_new():
    groups = np.repeat(np.arange(80), 3)
    found = generalised_covariance(np.repeat(X, 3, axis=0), np.repeat(Y, 3, axis=0), groups)
    alone = generalised_covariance(X, Y)
    assert (found.p_value, found.low, found.high) == pytest.approx((alone.p_value, alone.low, alone.high))


def test_nothing_left_is_no_effect():
    found = generalised_covariance(np.zeros((20, 1)), Y[:20])
    assert (found.p_value, found.effect, found.low, found.high) == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.extended
def test_level_and_coverage():
    seeds, true = range(2000), 0.3
    nulls = covered = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        x, noise = rng.laplace(size=(100, 1)), rng.standard_t(6, size=(100, 1)) / np.sqrt(1.5)
        nulls += generalised_covariance(x, noise).p_value <= 0.05
        found = generalised_covariance(x / np.sqrt(2), true * x / np.sqrt(2) + np.sqrt(1 - true**2) * noise)
        covered += found.low <= true <= found.high
    assert stats.binom.cdf(nulls, 2000, 0.05) > 1e-3 and nulls <= 140
    assert covered >= 1840
