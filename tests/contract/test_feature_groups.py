"""What every registered method does with features in groups, and with every CI test."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_selectors import METHODS, OPTIONS, TEST_OPTIONS, one_of_each, outcome, selector, table

import blanketflow as bf
from blanketflow.ci.predictive.ppi import PPI
from blanketflow.core.errors import ConfigError, ParameterError, UnsupportedError
from blanketflow.core.registry import discover
from blanketflow.selectors.compatibility import why_no_feature_groups
from blanketflow.workflow.plan import make_plan

TAKING = [name for name, method in METHODS.items() if method.takes_feature_groups]
TESTS = discover("blanketflow.ci")
#: Groups of a feature that is found and one that is not, and of two that are not.
GROUPS = {"found": ["signal", "noise"], "lost": ["junk", "other"]}

#: What spares a search for penalties.
OWN = {
    "srs": {"lambda1": 0.01, "lambda2": 0.01},
    # Two columns of five bins each are one of 25 levels, and nothing of 150 rows in 25 strata is beyond chance.
    "koller-sahami": {"information": "plug-in"},
}


@pytest.fixture(scope="module")
def rows():
    X, y = table(n=150)
    return X.assign(other=table(n=150, seed=1)[0]["junk"]), y


def are_whole(features):
    """Whether all or none of each group's features are among some."""
    return all(len(set(features) & set(members)) in (0, len(members)) for members in GROUPS.values())


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@one_of_each(TAKING)
def test_a_group_is_in_every_answer_or_out_of_it(rows, name):
    found = selector(name, feature_groups=GROUPS, **OWN.get(name, {})).fit(*rows)
    assert set(GROUPS["found"]) <= set(found.selected_features_)
    assert all(map(are_whole, [found.selected_features_, found.candidates_, *found.blankets_]))
    assert found.feature_groups_["found"] == [f for f in found.selected_features_ if f in GROUPS["found"]]
    assert found.importances_["signal"] == found.importances_["noise"]
    assert set(found.trace_["feature"]) <= set(rows[0].columns)


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@one_of_each(TAKING)
def test_a_group_of_one_changes_nothing(rows, name):
    plain, one = selector(name).fit(*rows), selector(name, feature_groups={"alone": ["signal"]}).fit(*rows)
    assert outcome(one) == outcome(plain)
    assert (plain.feature_groups_, one.feature_groups_) == ({}, {"alone": ["signal"]})


#: Methods to which an indicator of a level is a number: they compare rows, by sums over the columns.
BY_DISTANCE = {"relief", "relieved", "auto", "hsmb", "bahsic"}


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@one_of_each([name for name in TAKING if name not in BY_DISTANCE | {"knockoffs"}])  # which keeps two features or none
def test_indicators_of_all_levels_in_a_group_are_what_their_column_is(rows, name):
    X, y = rows[0].drop(columns=["other", "code"]), rows[1] == "high"
    shade = np.array(["blue", "green", "red"])[np.digitize(X["signal"], [-0.5, 0.5])]
    levels = {f"shade_{level}": (shade == level).astype(float) for level in sorted(set(shade))}
    X["signal"] = X["junk"] + X["noise"]
    own = {"ci_test": "g2"} if METHODS[name].default_test not in (None, "hsic") else {}
    own |= {key: value for key, value in OPTIONS.get(name, {}).items() if key != "n_repeats"}
    plain = bf.get_selector(name, **own).fit(X.assign(shade=shade), y)
    found = bf.get_selector(name, feature_groups={"shade": ["shade_*"]}, **own).fit(X.assign(**levels), y)
    assert "shade" in plain.selected_features_
    as_one = [f.replace("_blue", "") for f in found.selected_features_ if f not in ("shade_green", "shade_red")]
    assert as_one == plain.selected_features_
    importances = {f.replace("_blue", ""): value for f, value in found.importances_.items()}
    assert {f: importances[f] for f in as_one} == pytest.approx(plain.importances_)


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(TAKING) - {"none", "true-blanket"}))
def test_the_other_methods_refuse(rows, name):
    with pytest.raises(UnsupportedError, match=f"{name} works on single columns, so that feature_groups"):
        selector(name, feature_groups=GROUPS).fit(*rows)


#: What the joint levels of a group have rows enough for.
ENOUGH = {"g2": {"bins": 2}, "chi2": {"bins": 2}}
#: A method that asks for what a test measures.
ASKING = {"p-value": "inter-iamb", "mutual-information": "mim", "entropy": "fcbf", "hsic": "bahsic"}


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
@pytest.mark.parametrize(
    ("test", "needs"), [(t, needs) for t, cls in TESTS.items() for needs in cls.card.measures if needs in ASKING]
)
def test_every_test_is_asked_about_groups_or_refuses(rows, test, needs):
    X, y = rows[0], rows[1] == "high"
    method = ASKING[needs]
    options = {"n_features": 2} if method in ("mim", "bahsic") else {}
    options |= {"ci_test": bf.get_ci_test(test, **{**TEST_OPTIONS.get(test, {}), **ENOUGH.get(test, {})})}
    X = X.drop(columns="other") if test == "population" else X  # whose network has no such node
    groups = GROUPS if test != "population" else {"found": ["signal", "noise"]}
    ours, y = bf.get_selector(method, feature_groups=groups, **options), pd.Series(y, name="target")
    if why_no_feature_groups(METHODS[method], options["ci_test"]):
        with pytest.raises(UnsupportedError, match=f"{test} measures {needs} of single columns.*g2 does"):
            ours.fit(X, y)
        return
    found = ours.fit(X, y)
    assert set(GROUPS["found"]) <= set(found.selected_features_) and are_whole(found.selected_features_)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"feature_groups": {"a": ["sig"]}}, "feature_groups: a names 'sig', which is not a feature. Did you mean"),
        ({"feature_groups": {"a": ["gene_*"]}}, "names 'gene_*', with which no feature begins"),
        ({"feature_groups": {"a": []}}, "the feature group 'a' names no feature. Name some."),
        ({"feature_groups": {"code": ["junk"]}}, "the feature group 'code' has the name of a column. Rename it."),
        ({"feature_groups": {"a": ["junk"], "b": ["j*"]}}, "'junk' is in the feature groups 'a' and 'b'."),
        ({"feature_groups": GROUPS, "include": ["junk"]}, "part of the feature group 'lost', without 'other'."),
        ({"feature_groups": GROUPS, "exclude": ["sig*"]}, "part of the feature group 'found', without 'noise'."),
        ({"feature_groups": GROUPS, "tiers": [["junk"], ["found"]]}, "part of the feature group 'lost'"),
        ({"feature_groups": ["signal"]}, "feature_groups is ['signal'], but must be a mapping of names to lists"),
    ],
)
def test_what_does_not_suit_the_table_is_refused(rows, known, said):
    with pytest.raises(ParameterError, match="GS: ") as error:
        bf.GS(ci_test="fisher-z", **known).fit(rows[0], rows[1] == "high")
    assert said in str(error.value)


class OneByOne(PPI):
    """A test that takes no sets of columns."""

    card = replace(PPI.card, column_sets=False)


def test_a_group_that_no_p_value_can_admit_is_refused(rows):
    said = r"ppi gives no p-value below 0.031, and 2 times that for the 2 columns of the feature group 'found'"
    with pytest.raises(ParameterError, match=said):
        bf.PPFS(ci_test=OneByOne(n_repeats=5), feature_groups=GROUPS).fit(*rows)
    ppfs = {"ppfs": {"method": "ppfs", "ci_test": "few"}, "gs": {"method": "gs", "ci_test": "fisher-z"}}
    asked = config(feature_groups={"serum": ["s*"]}) | {"selectors": ppfs}
    few = {"type": f"{__name__}:OneByOne", "n_repeats": 5}
    plan = make_plan(asked | {"ci_tests": {"few": few}}, str)
    assert [skip.selector for skip in plan.skipped] == ["ppfs"] and "'serum'" in plan.skipped[0].reason


def test_groups_are_included_and_excluded_by_name(rows):
    X, y = rows[0], rows[1] == "high"
    found = bf.IAMB(ci_test="fisher-z", feature_groups=GROUPS, include=["lost"], exclude=["found"]).fit(X, y)
    assert {"junk", "other"} <= set(found.selected_features_) and are_whole(found.selected_features_)
    assert found.roles_["junk"] == "included" and "signal" not in found.selected_features_


def test_an_effect_of_a_set_is_not_compared_with_one_of_a_column(rows):
    with pytest.raises(UnsupportedError, match="min_effect cannot be compared with what fisher-z says"):
        bf.IAMB(ci_test="fisher-z", min_effect=0.1, feature_groups=GROUPS).fit(rows[0], rows[1] == "high")
    assert bf.IAMB(ci_test="lr-mixed", min_effect=0.1, feature_groups=GROUPS).fit(*rows).feature_groups_


def config(**dataset):
    selectors = {"gs": {"method": "gs", "ci_test": "fisher-z"}, "dcrt": {"method": "dcrt"}}
    diabetes = {"source": "sklearn:diabetes", **dataset}
    return {"datasets": {"diabetes": diabetes}, "splits": {"evaluation": 0}, "selectors": selectors}


def test_a_plan_skips_what_takes_no_groups_and_refuses_wrong_names_before_any_job():
    plain, told = make_plan(config(), str), make_plan(config(feature_groups={"serum": ["s*"]}), str)
    assert [(skip.selector, skip.reason.partition(",")[0]) for skip in told.skipped] == [
        ("dcrt", "dcrt works on single columns")
    ]
    assert told.table_spec("diabetes") == plain.table_spec("diabetes")
    assert told.test_spec("diabetes", "fisher-z") == plain.test_spec("diabetes", "fisher-z")
    assert told.method_spec("diabetes", "gs") != plain.method_spec("diabetes", "gs")
    with pytest.raises(ConfigError, match="feature_groups: serum names 'serum_'"):
        make_plan(config(feature_groups={"serum": ["serum_"]}), str)


def test_a_comparison_by_the_workflows_stages_finds_what_fit_finds(rows):
    X, y = rows[0], pd.Series(rows[1] == "high", name="target")
    names = {"iamb": {"ci_test": "fisher-z"}, "hiton-mb": {"ci_test": "lr-mixed"}, "jmi": {"n_features": 2}}
    ours = {name: bf.get_selector(name, feature_groups=GROUPS, **options) for name, options in names.items()}
    compared = bf.compare(X, y, selectors=ours, models=["tree"], evaluation=0, folds=0)
    for name, one in ours.items():
        found = compared.blankets[compared.blankets["selector"] == name]
        assert dict(zip(found["feature"], found["role"], strict=True)) == one.fit(X, y).roles_
