"""What every registered method does with features that it is told to include, and to exclude."""

import numpy as np
import pandas as pd
import pytest
from test_selectors import METHODS, one_of_each, outcome, selector, table

import blanketflow as bf
from blanketflow.core.errors import ConfigError, ParameterError
from blanketflow.workflow.plan import make_plan

OBEYING = [name for name, method in METHODS.items() if method.obeys_prior]
#: What keeps as few features as these tests need.
FEW = {name: {"n_features": 1} for name in METHODS if "n_features" in METHODS[name].parameters()}
every_obeying_method = one_of_each(OBEYING)


def fitted(name, X, y, **options):
    return selector(name, **{**FEW.get(name, {}), **options}).fit(X, y)


@pytest.fixture(scope="module")
def rows():
    return table(n=150)


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@every_obeying_method
def test_an_included_feature_is_in_every_answer(rows, name):
    X, y = rows
    found = fitted(name, X, y, include=["junk", "noi*"])
    assert {"junk", "noise"} <= set(found.selected_features_)
    assert all({"junk", "noise"} <= set(blanket) for blanket in found.blankets_)
    assert found.transform(X).shape == (len(X), len(found.selected_features_))


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@every_obeying_method
def test_with_an_excluded_feature_the_answer_is_that_of_a_table_without_it(rows, name):
    X, y = rows
    found = outcome(fitted(name, X, y, exclude=["sig*", "junk"]))
    without = outcome(fitted(name, X.drop(columns=["signal", "junk"]), y))
    # The marginal tests of all features are shared by selectors, and counted.
    assert without[3] == found[3] or METHODS[name].default_test is not None
    assert found[:3] + found[4:] == without[:3] + without[4:]


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(OBEYING)))
def test_a_reference_stays_what_it_is(rows, name):
    X, y = rows
    told, plain = (fitted(name, X, y, **prior) for prior in ({"include": ["junk"], "exclude": ["signal"]}, {}))
    assert told.selected_features_ == plain.selected_features_


def test_a_search_that_conditions_on_all_begins_with_what_is_included():
    rng = np.random.default_rng(1)
    age = rng.normal(size=500)
    X = pd.DataFrame({"age": age, "proxy": age + 0.1 * rng.normal(size=500), "dose": rng.normal(size=500)})
    y = 2 * age + X["dose"] + rng.normal(size=500)
    found = bf.IAMB(ci_test="fisher-z", include=["age"]).fit(X, y)
    assert found.selected_features_ == ["age", "dose"]
    first = found.trace_.query("feature == 'dose'").iloc[0]
    assert first["given"] == ["age"]
    # Without age the proxy stands for it.
    assert set(bf.IAMB(ci_test="fisher-z", exclude=["age"]).fit(X, y).selected_features_) == {"proxy", "dose"}


def test_a_ranking_counts_the_included_among_its_features(rows):
    X, y = rows
    assert len(fitted("mrmr", X, y, n_features=2, include=["junk"]).selected_features_) == 2
    found = fitted("mim", X, y, n_features=[1, 2], include=["junk"])
    assert found.blankets_ == [["junk"], ["junk", "signal"]]


def test_the_answer_says_what_it_was_told():
    X, y = table(n=80)
    found = bf.Auto(max_candidates=5, n_parts=2, include=["junk"], exclude=["signal"]).fit(X, y)
    assert "junk" in found.selected_features_ and "signal" not in found.selected_features_
    assert "junk was in every set that was judged, as asked." in found.verdict_["sentence"]
    assert found.roles_["junk"] in ("included", "parent_or_child", "spouse")


def test_columns_may_be_numbered(rows):
    X, y = rows
    numbered = X.set_axis(range(4), axis=1)
    assert bf.MIM(n_features=1, include=[3]).fit(numbered, y).selected_features_ == [3]
    assert bf.MIM(n_features=1, tiers=[[0, 1], [2, 3]]).fit(numbered, y).selected_features_ == [1]


@pytest.mark.parametrize(
    ("prior", "said"),
    [
        ({"include": ["nois"]}, "include names 'nois', which is not a feature. Did you mean 'noise'?"),
        ({"exclude": ["gene_*"]}, "exclude names 'gene_*', with which no feature begins. Known: code, junk, noise"),
        ({"include": ["junk"], "exclude": ["j*"]}, "'junk' is in include and in exclude. Remove it from one of them."),
        ({"tiers": [["junk"], ["j*"]]}, "'junk' is in two of the tiers. Name it in one."),
        ({"tiers": [["age"]]}, "tiers names 'age', which is not a feature."),
        ({"tiers": ["junk"]}, "tiers is ['junk'], but must be a list of lists of names or null."),
        ({"exclude": ["*"]}, "exclude leaves no feature to search among. Name fewer."),
        ({"include": "junk"}, "include is 'junk', but must be a list of names or null."),
    ],
)
def test_what_does_not_suit_the_table_is_refused(rows, prior, said):
    with pytest.raises(ParameterError, match="GS: ") as error:
        bf.GS(**prior).fit(*rows)
    assert said in str(error.value)


def config(dataset=(), selector=()):
    gs = {"method": "gs", "ci_test": "fisher-z", **dict(selector)}
    return {
        "datasets": {"diabetes": {"source": "sklearn:diabetes", **dict(dataset)}},
        "splits": {"evaluation": 0},
        "selectors": {"gs": gs, "other": {"method": "mrmr", "n_features": 3}},
    }


def test_tiers_name_the_target_and_tell_parents_from_children():
    rng = np.random.default_rng(0)
    age = rng.normal(size=800)
    y = pd.Series(age + rng.normal(size=800), name="dose")
    X = pd.DataFrame({"age": age, "effect": y + rng.normal(size=800), "noise": rng.normal(size=800)})
    found = bf.HITONMB(ci_test="fisher-z", tiers=[["age"], ["dose"], ["effect", "noise"]]).fit(X, y)
    assert found.roles_ == {"age": "parent", "effect": "child"}
    table = X.assign(dose=y)
    compared = bf.compare(
        table, "dose", [bf.HITONMB(ci_test="fisher-z", tiers=[["age"], ["dose", "effect"]])], evaluation=0
    )
    rows = compared.blankets.query("selector == 'hiton-mb'")
    assert dict(zip(rows["feature"], rows["role"], strict=True)) == {"age": "parent", "effect": "parent_or_child"}


def test_a_plan_is_refused_before_any_job_starts():
    with pytest.raises(ConfigError, match=r"selector 'gs' on data set 'diabetes': include names 'bm'.*'bmi'"):
        make_plan(config(selector={"include": ["bm"]}), str)


def test_only_the_searches_depend_on_what_is_known():
    plain, told = make_plan(config(), str), make_plan(config({"include": ["age"]}, {"exclude": ["s*"]}), str)
    assert told.table_spec("diabetes") == plain.table_spec("diabetes")
    assert told.test_spec("diabetes", "fisher-z") == plain.test_spec("diabetes", "fisher-z")
    assert told.config.prior("diabetes", "gs").as_dict() == {"include": ["age"], "exclude": ["s*"]}
    assert told.config.prior("diabetes", "other").as_dict() == {"include": ["age"]}
    assert '"prior"' not in plain.method_spec("diabetes", "gs")
    assert told.method_spec("diabetes", "gs") != plain.method_spec("diabetes", "gs")


def test_a_comparison_by_the_workflows_stages_finds_what_fit_finds():
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    ours = {name: bf.get_selector(name, include=["age"], exclude=["s*"]) for name in ("iamb", "hiton-mb", "jmi")}
    compared = bf.compare(X, y, selectors=ours, models=["tree"], evaluation=2, folds=0)
    for name, one in ours.items():
        rows = compared.blankets[compared.blankets["selector"] == name]
        assert dict(zip(rows["feature"], rows["role"], strict=True)) == one.fit(X, y).roles_
