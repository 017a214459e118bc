"""The study of docs/ci-tests.md in small: no test rejects a true null too often, each finds what it is made for."""

import pytest
from calibration.designs import sample
from scipy.stats import binomtest

import blanketflow as bf
from blanketflow.ci.contingency import DiscreteTest
from blanketflow.core.cards import CATEGORICAL
from blanketflow.core.registry import discover

#: All but those that know the truth.
TESTS = {
    name: test for name, test in discover("blanketflow.ci").items() if not test.card.guarantee.startswith("no error")
}
ALPHA, N = 0.05, 200
#: A calibrated test fails here in one of ten thousand studies; the seeds are fixed.
LEVEL = 1e-4
#: Options by which a test is calibrated, where its defaults are not, or quick enough for a suite.
OPTIONS = {"ppi": {"significance": "corrected-t"}, "cpi": {"model": "tree"}}
#: As many samples as take about half a second.
SAMPLES = {"ppi": 80, "hsic": 80, "cpi": 60}
#: Tests that find any dependence. A test that is not named here has to find this one or a linear one.
GENERAL = {"chi2", "cpi", "g2", "hsic", "mi-permutation", "ppi"}


def results(name, design, n, k, n_samples, **options):
    test = bf.get_ci_test(name, **options)
    for number in range(n_samples):
        frame = sample(design, n, k, number)
        yield test.bind(frame, seed=number).test("x", "t", given=list(frame.columns[2:]))


def rejected(*cell, **options):
    found = list(results(*cell, **options))
    assert all(result.reliable for result in found)  # else p = 1 by rule, which would prove nothing
    return sum(result.p_value <= ALPHA for result in found)


def natural_null(test):
    if issubclass(test, DiscreteTest):
        return "discrete"
    return "mixed" if CATEGORICAL in test.card.kinds else "gaussian"


@pytest.mark.parametrize("k", [pytest.param(0, marks=pytest.mark.extended), 1])
@pytest.mark.parametrize("name", TESTS)
def test_a_true_null_is_not_rejected_too_often(name, k):
    n_samples = SAMPLES.get(name, 200)
    count = rejected(name, natural_null(TESTS[name]), N, k, n_samples, **OPTIONS.get(name, {}))
    assert binomtest(count, n_samples, ALPHA, alternative="greater").pvalue > LEVEL


@pytest.mark.extended
@pytest.mark.parametrize(
    ("name", "design", "options"),
    [
        ("g2", "flags", {}),
        ("fisher-z", "two_classes", {}),
        ("lr-mixed", "mixed", {"directions": "linear"}),
        ("mi-permutation", "discrete", {"asymptotic_from": 5}),
    ],
)
def test_what_auto_takes_does_not_reject_true_nulls_of_its_kind_too_often(name, design, options):
    count = rejected(name, design, N, 1, 400, **options)
    assert binomtest(count, 400, ALPHA, alternative="greater").pvalue > LEVEL


@pytest.mark.parametrize("name", TESTS)
def test_a_strong_dependence_is_found_in_four_samples_of_five(name):
    # By Fisher's approximation a partial correlation of 0.24 is found in 93 % of samples of 200 rows.
    designs = [("xor", 1)] if name in GENERAL else [("linear_negative", 0), ("xor", 1)]
    assert any(rejected(name, design, N, k, 50, **OPTIONS.get(name, {})) >= 40 for design, k in designs)


def test_ppi_by_wilcoxon_rejects_too_often_since_its_splits_overlap():
    assert rejected("ppi", "gaussian", 100, 0, 200, significance="wilcoxon", n_repeats=30) > 0.1 * 200


@pytest.mark.parametrize(("name", "is_calibrated"), [("ppi", False), ("cpi", True)])
def test_ppi_rejects_too_often_where_x_follows_z_and_cpi_does_not(name, is_calibrated):
    count = rejected(name, "correlated", N, 3, 60, **OPTIONS.get(name, {}))
    assert (binomtest(count, 60, ALPHA, alternative="greater").pvalue > LEVEL) == is_calibrated
