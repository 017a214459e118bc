"""What every causal method does with a smallest effect beside alpha."""

import pytest
from test_selectors import METHODS, OPTIONS, table

import blanketflow as bf
from blanketflow.core.registry import discover
from blanketflow.selectors.compatibility import takes_min_effect

TAKING = [name for name, method in METHODS.items() if takes_min_effect(method)]
#: Options of the default test do not go with another one.
OWN = {name: {k: v for k, v in options.items() if k != "n_repeats"} for name, options in OPTIONS.items()}


def fitted(name, **options):
    return bf.get_selector(name, **{**OWN.get(name, {}), "ci_test": "lr-mixed", **options}).fit(*table(n=150))


def test_every_causal_method_that_decides_by_p_values_takes_it():
    causal = {name for name, method in METHODS.items() if method.card.family == "causal"}
    assert causal - set(TAKING) == {"koller-sahami"}  # which measures information
    assert {name for name in METHODS if "min_effect" in bf.get_selector(name).get_params()} == set(TAKING)


def test_every_test_says_what_its_effect_is_or_has_none():
    with_effect = {name for name, test in discover("blanketflow.ci").items() if test.card.effect}
    assert with_effect == {"g2", "chi2", "fisher-z", "lr-mixed", "mi-permutation", "population"}


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.extended if name == "srs" else ()) for name in TAKING]
)
def test_zero_changes_nothing_and_more_than_every_effect_leaves_nothing(name):
    plain, zero, all_small = (fitted(name, min_effect=effect) for effect in (None, 0, 1000))
    assert "signal" in plain.selected_features_
    assert zero.trace_.astype(str).equals(plain.trace_.astype(str))
    assert zero.n_tests_ == plain.n_tests_
    assert all_small.selected_features_ == []


def test_a_comparison_by_the_workflows_stages_finds_what_fit_finds():
    X, y = table(n=150)
    ours = bf.HITONMB(ci_test="lr-mixed", min_effect=0.2)
    compared = bf.compare(X, y, selectors={"ours": ours}, evaluation=0, folds=0)
    assert compared.blankets.query("selector == 'ours'")["feature"].tolist() == ours.fit(X, y).selected_features_
    assert ours.selected_features_ == ["signal"]
    assert bf.HITONMB(ci_test="lr-mixed").fit(X, y).selected_features_ != ["signal"]


def test_the_blankets_of_all_columns_obey():
    X, _ = table(n=150)
    X["near"] = X["signal"] + X["noise"]
    found = bf.blankets(X, method="iamb", ci_test="fisher-z", min_effect=0.99)
    assert not any(found.to_dict().values())
