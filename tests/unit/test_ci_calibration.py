"""The study of docs/ci-tests.md in small: no test rejects a true null too often, each finds what it is made for."""

import numpy as np
import pytest
from scipy.stats import binomtest

import blanketflow as bf
from blanketflow.ci.contingency.contingency import DiscreteTest
from blanketflow.core.cards import CATEGORICAL
from blanketflow.core.registry import discover
from levels import Level
from studies.calibration import study
from studies.calibration.designs import ALTERNATIVES, FEWEST_GIVEN, NULLS, sample
from studies.calibration.page import bounds, rates, reach, verdict

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
SAMPLES = {"ppi": 80, "hsic": 80, "cpi": 60, "pcm": 40, "rcit": 100, "cmi-knn": 60, "codec": 100}
#: Tests that find any dependence. A test that is not named here has to find this one or a linear one.
GENERAL = {"chi2", "cmi-knn", "codec", "cpi", "g2", "hsic", "mi-permutation", "pcm", "ppi", "rcit"}


def rejections(name, design, n, k, n_samples, **options):
    """Whether samples are rejected, one after the other."""
    test = bf.get_ci_test(name, **options)
    for number in range(n_samples):
        frame = sample(design, n, k, number)
        result = test.bind(frame, seed=number).test("x", "t", given=list(frame.columns[2:]))
        assert result.reliable  # else p = 1 by rule, which would prove nothing
        yield result.p_value <= ALPHA


def rejected(*cell, **options):
    return sum(rejections(*cell, **options))


def natural_null(test):
    if issubclass(test, DiscreteTest):
        return "discrete"
    return "mixed" if CATEGORICAL in test.card.kinds else "gaussian"


@pytest.mark.parametrize("k", [pytest.param(0, marks=pytest.mark.extended), 1])
@pytest.mark.parametrize("name", TESTS)
def test_a_true_null_is_not_rejected_too_often(name, k):
    n_samples = SAMPLES.get(name, 200)
    found = rejections(name, natural_null(TESTS[name]), N, k, n_samples, **OPTIONS.get(name, {}))
    assert not Level(n_samples, LEVEL, ALPHA).is_exceeded(found)


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
    assert not Level(400, LEVEL, ALPHA).is_exceeded(rejections(name, design, N, 1, 400, **options))


@pytest.mark.parametrize("name", TESTS)
def test_a_strong_dependence_is_found_in_four_samples_of_five(name):
    # By Fisher's approximation a partial correlation of 0.24 is found in 93 % of samples of 200 rows.
    designs = [("xor", 1)] if name in GENERAL else [("linear_negative", 0), ("xor", 1)]
    assert any(rejected(name, design, N, k, 50, **OPTIONS.get(name, {})) >= 40 for design, k in designs)


def test_ppi_by_wilcoxon_rejects_too_often_since_its_splits_overlap():
    assert rejected("ppi", "gaussian", 100, 0, 200, significance="wilcoxon", n_repeats=30) > 0.1 * 200


@pytest.mark.parametrize(("name", "is_calibrated"), [("ppi", False), ("cpi", True)])
def test_ppi_rejects_too_often_where_x_follows_z_and_cpi_does_not(name, is_calibrated):
    found = rejections(name, "correlated", N, 3, 60, **OPTIONS.get(name, {}))
    assert Level(60, LEVEL, ALPHA).is_exceeded(found) != is_calibrated


class Redrawn:
    """A generator of random numbers of which one draw is another one."""

    def __init__(self, changed):
        self.rng, self.other = (np.random.default_rng(seed) for seed in (0, 1))
        self.changed, self.n_draws = changed, 0

    def __getattr__(self, name):
        def draw(*arguments, **options):
            values, others = (getattr(rng, name)(*arguments, **options) for rng in (self.rng, self.other))
            self.n_draws += 1
            return others if self.n_draws - 1 == self.changed else values

        return draw


def is_changed_together(design, k):
    """Whether x and t both change with a draw that z does not depend on."""
    asked = Redrawn(None)
    frame = design(asked, 400, k)
    for draw in range(asked.n_draws):
        other = design(Redrawn(draw), 400, k)
        same = {name: frame[name].equals(other[name]) for name in frame}
        if all(same[name] for name in frame.columns[2:]) and not (same["x"] or same["t"]):
            return True
    return False


@pytest.mark.parametrize("k", study.SET_SIZES)
@pytest.mark.parametrize("name", NULLS)
def test_x_and_t_share_nothing_but_the_given_columns_in_a_null(name, k):
    if k >= FEWEST_GIVEN.get(name, 0):
        assert not is_changed_together(NULLS[name], k)


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_x_and_t_share_more_in_an_alternative(name):
    assert is_changed_together(ALTERNATIVES[name], study.POWER_SET_SIZES[name])


@pytest.mark.parametrize("name", ["squares", "variances_and_means", "heavy_tails", "rare_4"])
def test_x_and_t_depend_on_each_other_where_nothing_is_given(name):
    frame = sample(name, 10_000, 1, 0)
    x, t = frame["x"].astype(float), frame["t"].map({"yes": 1.0, "no": 0.0}) if name == "rare_4" else frame["t"]
    assert np.corrcoef(x, t)[0, 1] > 0.05


@pytest.mark.parametrize("share", [1, 4, 10, 30])
def test_rare_flags_have_their_share_of_ones(share):
    frame = sample(f"rare_{share}", 1000, 1, 0)
    assert frame["x"].sum() == (frame["t"] == "yes").sum() == 10 * share


def test_bounds_are_exact_and_one_sided():
    low, high = bounds(np.array([0, 2, 10]), np.array([10, 10, 10]))
    assert high[[0, 2]] == pytest.approx([1 - 0.01**0.1, 1.0])
    assert low[[0, 2]] == pytest.approx([0.0, 0.01**0.1])
    # At the bound, so many or more (fewer) have a chance of 1 %.
    assert binomtest(2, 10, high[1], alternative="less").pvalue == pytest.approx(0.01)
    assert binomtest(2, 10, low[1], alternative="greater").pvalue == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("rejected", "samples", "alpha", "expected"),
    [
        (200, 4000, 0.05, "calibrated"),
        (242, 4000, 0.05, "calibrated"),  # 6.05 %: so few or fewer have a chance of 0.9 % if the rate is 7 %
        (243, 4000, 0.05, "invalid"),
        (10, 200, 0.05, "not shown"),
        (0, 40, 0.05, "not shown"),  # the upper bound is 1 - 0.01 ** (1 / 40), 11 %
        (0, 80, 0.05, "calibrated"),  # and 5.6 %
        (241, 20_000, 0.01, "calibrated"),
        (242, 20_000, 0.01, "invalid"),
        (77, 4000, 0.05, "conservative"),  # 1.925 %: so few or fewer have a chance of 0.9 % if the rate is 2.5 %
        (78, 4000, 0.05, "calibrated"),
    ],
)
def test_the_rule_by_hand(rejected, samples, alpha, expected):
    assert verdict(np.array([rejected]), np.array([samples]), alpha)[0] == expected


def few_cells():
    chosen = {("auto", "squares"), ("fisher-z", "gaussian"), ("g2", "discrete")}
    return [cell for cell in study.cells() if (cell.variant.test, cell.design) in chosen and cell.n < 1000]


@pytest.fixture(scope="module")
def asked_for():
    """Counts of a few cells, sample by sample in this process."""
    return {cell.key: [cell.count(number) for number in range(30)] for cell in few_cells()}


def of_samples(samples):
    return {
        chosen: study.total(counts for name, counts in samples if name == chosen)
        for chosen in {name for name, _ in samples}
    }


@pytest.fixture(scope="module")
def counted(asked_for, tmp_path_factory):
    """The same by workers, which go on with some samples that were counted before."""
    path = tmp_path_factory.mktemp("study") / "counts.parquet"
    study.write(path, {key: of_samples(samples[:13]) for key, samples in asked_for.items() if key[0] != "g2"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study, "NULL_SAMPLES", {"05": 30, "01": 30})
        study.run(path, few_cells(), budget_minutes=5, workers=2)
    return path


def test_counts_are_those_of_the_samples_for_any_number_of_workers_and_of_runs(counted, asked_for):
    found = study.read(counted)
    assert found.keys() == asked_for.keys()
    for key, samples in asked_for.items():
        expected = of_samples(samples)
        assert {c: n | {"seconds": 0} for c, n in found[key].items()} == {
            c: n | {"seconds": 0} for c, n in expected.items()
        }


def test_the_page_says_what_auto_took_and_where_that_is_not_calibrated(counted):
    cells, choices = rates(counted)
    assert cells.groupby(study.KEY).size().max() == 1 and (cells["samples"] == 30).all()
    nulls, of_auto = cells[cells["test"] == "auto"], choices[choices["is_null"]]
    told = reach(nulls, of_auto)
    assert "| squares | 1 | spline" in told and "not shown to be calibrated" in told
