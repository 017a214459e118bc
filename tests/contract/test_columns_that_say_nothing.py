"""Columns of one value, or of none, are kept by no method and take nobody's place, on every kind of target."""

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.registry import discover
from blanketflow.core.table import Column, Table

METHODS = discover("blanketflow.selectors")
#: What keeps a method cheap, and its ranking as long as the table is wide.
OPTIONS = {
    "auto": {"max_candidates": 1, "n_parts": 2},
    "ipss": {"pairs": 5},
    "kiamb": {"n_runs": 3},
    "permutation-importance": {"model": "tree", "n_permutations": 19},
    "ppfs": {"n_repeats": 5},
    "srs": {"lambda_step": 0.05},
    "stability-selection": {"pairs": 5},
    "stepwise": {"model": "tree", "n_splits": 2},
    "true-blanket": {"blanket": ["g0", "g1"]},
}
NOTHING = ["label", "zero", "one", "empty"]
INFORMED = ["g0", "g1", "g2", "g3"]
TARGETS = ["numbers", "classes", "noise"]
#: The methods that keep what no test finds, so that a column of one value could be kept.
UNTESTED = [name for name, method in METHODS.items() if method.keeps_untested and name != "auto"]
every_method = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.extended if name == "auto" else ()) for name in METHODS]
)


def table(target, n=150):
    """Return four readings of one factor among columns of one value, on both sides, and a target of the factor."""
    rng = np.random.default_rng(6)
    factor = rng.normal(size=n)
    X = pd.DataFrame({"label": pd.Categorical(["a"] * n, ["a", "b"]), "zero": 0})
    X = X.assign(**{f"g{i}": factor + 0.2 * rng.normal(size=n) for i in range(4)}, one=1.0, empty=np.nan)
    y = factor + 0.7 * rng.normal(size=n)
    if target == "classes":
        return X, np.where(y > 0, "p", "q")
    return X, y if target == "numbers" else rng.permutation(np.repeat(["p", "q"], n // 2))


def selector(name, **options):
    asked = {"n_features": 8} if "n_features" in METHODS[name].parameters() else {}
    return bf.get_selector(name, **{**asked, **OPTIONS.get(name, {}), **options})


@pytest.mark.parametrize("target", TARGETS)
@every_method
def test_no_column_of_one_value_is_kept(name, target):
    X, y = table(target)
    chosen = selector(name, missing="impute").fit(X, y).selected_features_
    assert set(chosen) <= set(INFORMED)
    ends_early = {"spfs-lar", "stepwise"}  # where nothing is left to gain
    if "n_features" in METHODS[name].parameters() and METHODS[name].keeps_untested and name not in ends_early:
        assert sorted(chosen) == INFORMED


@pytest.mark.parametrize("name", UNTESTED)
def test_such_columns_change_no_ranking(name):
    X, y = table("classes")
    alone, among = selector(name).fit(X[INFORMED], y), selector(name, missing="impute").fit(X, y)
    assert among.selected_features_ == alone.selected_features_
    assert among.importances_ == pytest.approx(alone.importances_)


@pytest.mark.parametrize("name", UNTESTED)
def test_one_that_is_included_stays(name):
    X, y = table("classes")
    chosen = selector(name, missing="impute", include=["one"]).fit(X, y).selected_features_
    assert "one" in chosen and not {"label", "zero", "empty"} & set(chosen)


@pytest.mark.parametrize("name", UNTESTED)
def test_a_group_stays_if_one_of_its_columns_varies(name):
    if not METHODS[name].takes_feature_groups:
        pytest.skip("takes no groups")
    X, y = table("classes")
    groups = {"half": ["g0", "one"], "nothing": ["zero", "empty"]}
    chosen = selector(name, missing="impute", feature_groups=groups).fit(X, y).selected_features_
    assert ("g0" in chosen) == ("one" in chosen) and not {"zero", "empty"} & set(chosen)
    assert "one" in chosen or name in ("hsmb", "stepwise")  # which leave out what others stand for


@pytest.mark.parametrize("name", UNTESTED)
def test_a_table_of_nothing_else_has_an_empty_answer(name):
    X, y = table("classes")
    assert selector(name, missing="impute").fit(X[NOTHING], y).selected_features_ == []


@pytest.mark.parametrize("name", [name for name in UNTESTED if METHODS[name].card.family == "filter"])
def test_a_column_that_varies_in_few_rows_may_be_constant_where_models_learn(name):
    if "n_features" not in METHODS[name].parameters():
        pytest.skip("keeps no number of features")
    X, y = table("classes")
    X = X[["zero", "g0", "g1"]].assign(zero=np.arange(len(X)) == 3)
    chosen = selector(name, n_features="auto").fit(X, y).selected_features_
    assert {"g0", "g1"} & set(chosen) and chosen[0] != "zero"


@pytest.mark.parametrize("name", [name for name in UNTESTED if METHODS[name].default_test == "g2"])
def test_columns_that_supervised_binning_does_not_cut_are_of_one_value_to_the_test(name):
    X, y = table("classes")
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(len(X), 2)), columns=["u", "v"])
    by_class = bf.get_ci_test("g2", binning="mdlp")
    alone, among = (
        selector(name, ci_test=by_class).fit(some, y) for some in (X[INFORMED], pd.concat([noise, X[INFORMED]], axis=1))
    )
    assert among.selected_features_ == alone.selected_features_
    assert sorted(alone.selected_features_) == INFORMED


def test_which_columns_vary():
    columns = {
        "late": np.arange(200) == 199,
        "missing and one": np.array([np.nan] * 199 + [1.0]),
        "missing and two": np.array([2.0] + [np.nan] * 198 + [1.0]),
        "minus zero": np.array([0.0, -0.0] * 100),
        "denormal": np.array([0.0, 5e-324] * 100),
        "infinite range": np.array([-1.7e308, 1.7e308] * 100),
    }
    held = [Column(name, "numeric", np.asarray(values, dtype=float)) for name, values in columns.items()]
    levels = [Column("one of two", "categorical", np.ones(200, dtype=np.int32), ("a", "b"))]
    found = dict(zip([*columns, "one of two"], Table([*held, *levels]).varying().tolist(), strict=True))
    wanted = {"late", "missing and two", "denormal", "infinite range"}
    assert {name for name, varies in found.items() if varies} == wanted
