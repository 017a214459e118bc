"""The study of docs/ci-tests.md in small: no test rejects a true null too often, each finds what it is made for."""

import sys
from pathlib import Path

import pytest
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.ci.contingency import DiscreteTest
from blanketflow.core.cards import CATEGORICAL
from blanketflow.core.registry import discover

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from calibration.designs import sample

KNOW_THE_TRUTH = {"oracle", "population"}
TESTS = {name: test for name, test in discover("blanketflow.ci").items() if name not in KNOW_THE_TRUTH}
ALPHA, N = 0.05, 200
#: A calibrated test fails here in one of ten thousand studies; the seeds are fixed.
LEVEL = 1e-4
#: Options by which a test is calibrated, where its defaults are not, or quick enough for a suite.
OPTIONS = {"ppi": {"significance": "corrected-t"}, "cpi": {"model": "tree"}}
#: As many samples as take about a second.
SAMPLES = {"ppi": 120, "hsic": 120, "cpi": 100}
#: Tests of linear relations.
LINEAR = ("fisher-z", "lr-mixed")


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):  # several threads are slower than one on matrices as small as these
        yield


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


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("name", TESTS)
def test_a_true_null_is_not_rejected_too_often(name, k):
    n_samples = SAMPLES.get(name, 400)
    count = rejected(name, natural_null(TESTS[name]), N, k, n_samples, **OPTIONS.get(name, {}))
    assert binomtest(count, n_samples, ALPHA, alternative="greater").pvalue > LEVEL


@pytest.mark.parametrize("name", TESTS)
def test_a_strong_dependence_is_found_in_four_samples_of_five(name):
    # By Fisher's approximation a partial correlation of 0.24 is found in 93 % of samples of 200 rows.
    design, k = ("linear_negative", 0) if name in LINEAR else ("xor", 1)
    assert rejected(name, design, N, k, 50, **OPTIONS.get(name, {})) >= 40


def test_ppi_by_wilcoxon_rejects_too_often_since_its_splits_overlap():
    assert rejected("ppi", "gaussian", 100, 0, 200, significance="wilcoxon", n_repeats=30) > 0.1 * 200


@pytest.mark.parametrize(("name", "is_calibrated"), [("ppi", False), ("cpi", True)])
def test_ppi_rejects_too_often_where_x_follows_z_and_cpi_does_not(name, is_calibrated):
    count = rejected(name, "correlated", N, 3, 60, **OPTIONS.get(name, {}))
    assert (binomtest(count, 60, ALPHA, alternative="greater").pvalue > LEVEL) == is_calibrated
