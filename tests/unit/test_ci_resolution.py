"""The least p-value of a test, and what a method that asks for less is told."""

import math
import re

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.ci.predictive.risk_differences import wilcoxon
from blanketflow.core.errors import ParameterError
from blanketflow.core.registry import discover
from blanketflow.selectors import get_method

LIMITED = [
    ("ppi", {"n_repeats": 2}),
    ("ppi", {"n_repeats": 7}),
    ("ppi", {"n_repeats": 13}),
    ("mi-permutation", {"n_permutations": 30}),
    ("mi-permutation", {"n_permutations": 30, "enough_exceedances": 1}),
    ("cpi", {"significance": "fisher", "n_permutations": 40, "model": "tree"}),
    ("hsic", {"null": "permutation", "n_permutations": 25}),
    ("cmi-knn", {"n_permutations": 20}),
    ("codec", {"n_permutations": 20}),
]


def method(name, **options):
    return get_method(name, "here", options)


def why_not(test, name="ppfs", n_features=10, **options):
    return bf.get_ci_test(**{"name": "ppi", **test}).why_not(method(name, **options), n_features)


@pytest.mark.parametrize(("name", "options"), LIMITED)
def test_the_least_p_value_is_what_a_perfect_copy_of_the_target_gets(name, options):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(80) % 2)
    test = bf.get_ci_test(name, **options)
    found = test.bind(np.column_stack([y, rng.normal(size=80), y]), target=2).test_many([0, 1], 2)
    assert found.p_value[0] == test.smallest_p() < found.p_value[1]


def test_no_differences_have_a_smaller_p_value():
    rng = np.random.default_rng(1)
    for n_repeats in (5, 13, 14, 30, 60):
        differences = np.vstack([np.round(rng.exponential(size=(300, n_repeats)), 1), np.ones((1, n_repeats))])
        p_value, _ = wilcoxon(differences)
        smallest = bf.get_ci_test("ppi", n_repeats=n_repeats).smallest_p()
        assert smallest == pytest.approx(p_value.min(), rel=1e-12)
        assert p_value[-1] == pytest.approx(smallest, rel=1e-12)


@pytest.mark.parametrize("level", [0.05, 2.0**-5, 0.01, 1e-3, 2e-4, 1e-4, 5e-7, 1e-12])
def test_advised_repeats_reach_the_level_if_all_agree_and_so_do_more(level):
    def least(n_repeats):
        differences = np.random.default_rng(n_repeats).exponential(size=(1, n_repeats))
        return wilcoxon(differences)[0][0]

    advice = bf.get_ci_test("ppi", n_repeats=3).to_reach(level)
    key, advised = re.match(r"set (\w+) to at least (\d+) \(it is 3\), or significance: corrected-t", advice).groups()
    assert key == "n_repeats"
    assert all(least(b) <= level * (1 + 1e-9) for b in range(int(advised), 90))
    assert least(int(advised) - 1) > level
    for n_repeats in (5, 13, 14, 30):
        assert bf.get_ci_test("ppi", n_repeats=n_repeats).saturated_p() == pytest.approx(least(n_repeats), rel=1e-12)


@pytest.mark.parametrize("level", [0.05, 2.0**-5, 0.01, 1e-3, 1e-4, 5e-7])
@pytest.mark.parametrize(("name", "options"), LIMITED[3:])
def test_what_is_advised_reaches_the_level_and_nothing_less_does(name, options, level):
    test = bf.get_ci_test(name, **options)
    key, least = re.match(r"set (\w+) to at least (\d+)", test.to_reach(level)).groups()
    assert bf.get_ci_test(name, **{**options, key: int(least)}).smallest_p() <= level * (1 + 1e-9)
    assert bf.get_ci_test(name, **{**options, key: int(least) - 1}).smallest_p() > level
    for rest in re.findall(r"or (\w+): ([\w-]+)", test.to_reach(level)):
        assert bf.get_ci_test(name, **{**options, rest[0]: rest[1]}).smallest_p() == 0.0


def test_tests_without_permutations_and_repeats_have_no_least_p_value():
    for name in set(discover("blanketflow.ci")) - {"ppi", "mi-permutation", "cmi-knn", "codec", "oracle", "population"}:
        assert bf.get_ci_test(name).smallest_p() == 0.0
    assert why_not({"significance": "corrected-t", "n_repeats": 2}, correction="bonferroni", n_features=10**6) is None


def test_four_repeats_at_5_percent():
    reason = why_not({"n_repeats": 4})
    assert reason == (
        "ppi gives no p-value below 0.062, so ppfs at alpha 0.05 admits no feature, which needs 0.05 or less. Set "
        "n_repeats to at least 5 (it is 4), or significance: corrected-t"
    )
    assert why_not({"n_repeats": 5}) is None
    assert why_not({"n_repeats": 4}, alpha=0.0625) is None and why_not({"n_repeats": 5}, alpha=2.0**-5) is None
    assert why_not({"n_repeats": 5}, alpha=0.031)


@pytest.mark.parametrize("name", ["gs", "iamb", "hiton-mb", "mmpc", "pc-simple", "stmb", "res", "tie-star"])
def test_any_method_with_an_alpha_is_told(name):
    assert f"so {name} at alpha 0.05 admits no feature" in why_not({"n_repeats": 4}, name)
    assert why_not({"n_repeats": 5}, name) is None
    reason = why_not({"name": "mi-permutation", "n_permutations": 99}, name, alpha=0.005)
    assert reason.endswith("Set n_permutations to at least 199 (it is 99)")


def test_methods_that_look_at_no_p_value_are_not():
    tests = {"mim": "mi-permutation", "koller-sahami": "mi-permutation", "hsmb": "hsic"}
    for name, test in tests.items():
        options = {"null": "permutation"} if test == "hsic" else {}
        assert why_not({"name": test, "n_permutations": 1, **options}, name) is None


def test_bonferroni_on_a_wide_table():
    reason = why_not({"n_repeats": 5}, n_features=100_000, correction="bonferroni")
    least = next(b for b in range(14, 60) if 0.5 * math.erfc(math.sqrt(b / 2)) <= 5e-7)
    advised = next(b for b in range(14, 60) if 0.5 * math.erfc(math.sqrt(0.75 * b * (b + 1) / (2 * b + 1))) <= 5e-7)
    assert (least, advised) == (24, 32)
    assert reason == (
        "ppi gives no p-value below 0.031, so ppfs with correction: bonferroni at alpha 0.05 admits none of "
        f"100,000 features, which needs 5e-07 or less. Set n_repeats to at least {advised} (it is 5), or significance: "
        "corrected-t, or correction: none, or correction: bh"
    )
    assert why_not({"n_repeats": least - 1}, n_features=100_000, correction="bonferroni")
    assert why_not({"n_repeats": least}, n_features=100_000, correction="bonferroni") is None


def test_bh_is_never_out_of_reach_where_alpha_is_but_by_is_on_wide_tables():
    assert why_not({"n_repeats": 5}, n_features=10**6, correction="bh") is None
    assert why_not({"n_repeats": 5}, n_features=2, correction="by") is None  # 0.05 / (1 + 1/2) = 0.033
    reason = why_not({"n_repeats": 5}, n_features=3, correction="by")  # 0.05 / (1 + 1/2 + 1/3) = 0.027
    assert "admits none of 3 features, which needs 0.027 or less. Set n_repeats to at least 6 (it is 5)" in reason
    assert reason.endswith("or correction: none, or correction: bh")
    reason = why_not({"n_repeats": 4}, n_features=3, correction="by")  # no correction helps
    assert reason.endswith("or significance: corrected-t")


def test_sets_of_features_count_each():
    mi = {"name": "mi-permutation", "n_permutations": 1000}
    sets = 50 + math.comb(50, 2) + math.comb(50, 3)
    for name in ("gs-m", "rgs-mk"):
        reason = why_not(mi, name, n_features=50, m=3)
        assert f"admits none of {sets:,} sets of features, which needs {0.05 / sets:.2g} or less" in reason
        assert reason.endswith(f"at least {20 * sets - 1} (it is 1000), or correction: none")
        assert why_not({**mi, "n_permutations": 20 * sets - 1}, name, n_features=50, m=3) is None
        assert why_not(mi, name, n_features=50, m=3, correction="none") is None
        assert "none of 50 features" in why_not({"n_repeats": 9}, name, n_features=50, m=1)
        assert f"of {50 + math.comb(50, 2):,} sets" in why_not(mi, name, n_features=50, m=3, max_k=1)
    reason = why_not(mi, "gs-m", n_features=3000, m=400)  # more sets than a float can count
    assert "Choose another test, since no number of permutations will do" in reason


def test_fit_refuses_before_any_work():
    X, y = np.arange(60.0).reshape(20, 3), np.arange(20) % 2
    for selector in (bf.PPFS(n_repeats=4), bf.HITONMB(ci_test=bf.get_ci_test("ppi", n_repeats=4), n_folds=2)):
        with pytest.raises(ParameterError, match=r"admits no feature, which needs 0.05 or less. Set n_repeats to at"):
            selector.fit(X, y)
    with pytest.raises(ParameterError, match=r"correction: by .* of 3 features, .* none, or correction: bh"):
        bf.PPFS(n_repeats=5, correction="by").fit(X, y)
    with pytest.raises(ParameterError, match=r"so iamb at alpha 0.05 admits no feature"):
        bf.blankets(X, "iamb", bf.get_ci_test("mi-permutation", n_permutations=18))
    assert bf.PPFS(n_repeats=5).fit(X, y).status_ == "ok"
