"""Missing cells that CI tests take as they are: which methods search with them, and that the others refuse."""

import numpy as np
import pandas as pd
import pytest
from test_selectors import METHODS, TEST_OF, one_of_each, outcome, selector, table

import blanketflow as bf
from blanketflow.core.errors import ConfigError, ParameterError, UnsupportedError
from blanketflow.workflow.plan import make_plan

RULES = {"pairwise": {"missing": "pairwise"}, "imputations": {"missing": "impute", "imputations": 3}}
TAKING = [name for name in METHODS if not METHODS[name]().needs_complete_rows() and TEST_OF.get(name) != "ppi"]
pytestmark = pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")


@pytest.fixture(scope="module")
def study():
    """Features of which each lacks some cells, and a complete target."""
    X, y = table(n=160)
    X, rng = X.astype(float), np.random.default_rng(3)
    return X.mask(rng.random(X.shape) < 0.1), y


def with_test(name, **options):
    return selector(name, **({"ci_test": TEST_OF[name]} if name in TEST_OF else {}), **options)


@pytest.mark.parametrize("rule", RULES)
@one_of_each(TAKING)
def test_a_search_by_a_ci_test_finds_what_is_there(study, name, rule):
    X, y = study
    found = with_test(name, **RULES[rule]).fit(X, y)
    kept = {"signal"} if name not in ("none", "true-blanket", "all") else set()
    assert kept <= set(found.selected_features_)
    assert outcome(with_test(name, **RULES[rule]).fit(X, y)) == outcome(found)


@pytest.mark.parametrize("rule", RULES)
@one_of_each(TAKING)
def test_without_missing_cells_it_is_the_search_as_ever(name, rule):
    X, y = table(n=160)
    assert outcome(with_test(name, **RULES[rule]).fit(X, y)) == outcome(with_test(name).fit(X, y))


@pytest.mark.parametrize("name", sorted(set(METHODS) - set(TAKING)))
def test_what_looks_at_rows_refuses_in_words(study, name):
    for rule, options in RULES.items():
        with pytest.raises(UnsupportedError, match=rf"so that {rule} is refused: set missing to impute or drop"):
            with_test(name, **options).fit(*study)


def test_so_do_options_that_look_at_rows(study):
    for asked in (
        bf.MRMR(n_features="auto", missing="pairwise"),
        bf.TIEStar(criterion="prediction", missing="pairwise"),
    ):
        with pytest.raises(UnsupportedError, match="looks at the rows themselves, so that pairwise is refused"):
            asked.fit(*study)


def test_each_fold_is_searched_by_itself(study):
    X, y = study
    found = bf.IAMB(ci_test="lr-mixed", n_folds=2, missing="pairwise").fit(X, y)
    assert len(found.blankets_) == 2 and all("signal" in blanket for blanket in found.blankets_)


def test_blankets_take_the_same_keys(study):
    X, y = study
    X = X.assign(y=y)
    complete = X.dropna().reset_index(drop=True)
    found = {
        how: bf.blankets(X, "iamb", "g2", targets=["y"], **options).frame()
        for how, options in {**RULES, "drop": {"missing": "drop"}, "impute": {"missing": "impute"}}.items()
    }
    assert all("signal" in set(frame["feature"]) for frame in found.values())
    pd.testing.assert_frame_equal(found["drop"], bf.blankets(complete, "iamb", "g2", targets=["y"]).frame())
    with pytest.raises(UnsupportedError, match="blankets: ppi fits models"):
        bf.blankets(X, "ppfs", missing="pairwise")
    with pytest.raises(ParameterError, match="blankets: imputations is 3, but missing is drop"):
        bf.blankets(X, "iamb", "g2", missing="drop", imputations=3)


def test_blankets_know_when_columns_were_measured(study):
    X, y = study
    X = X.assign(y=y)
    tiers = [["noise", "code", "junk"], ["signal"], ["y"]]
    (row,) = (
        bf.blankets(X, "hiton-mb", "g2", targets=["y"], missing="pairwise", tiers=tiers)
        .frame()
        .query("feature == 'signal'")
        .to_dict("records")
    )
    assert row["role"] == "parent"


@pytest.mark.parametrize("rule", ["pairwise", pytest.param("imputations", marks=pytest.mark.extended)])
def test_a_comparison_finds_what_fit_does(study, rule):
    X, y = study
    options = RULES[rule]
    compared = bf.compare(X, y, [bf.MRMR(n_features=2), "relief"], evaluation=2, folds=0, models=["tree"], **options)
    rows = compared.blankets.query("selector == 'mrmr'")
    found = bf.MRMR(n_features=2, **options).fit(X, y)
    assert list(rows["feature"]) == found.selected_features_ or rule == "imputations"  # whose seed is the data set's
    assert compared.skipped["reason"].str.contains("looks at the rows themselves").all()
    assert compared.scores.query("selector == 'all'")["mean"].notna().all()  # models see imputed rows
    with pytest.raises(ConfigError, match=r"has a missing of its own\. Give it to compare"):
        bf.compare(X, y, [bf.MRMR(missing="drop")])


@pytest.mark.extended
@pytest.mark.parametrize("missing", ["impute", "drop"])
def test_the_answer_and_its_model_take_missing_cells(study, missing):
    X, y = study
    found = bf.select(X, y, missing=missing, tiers=[["signal"], ["code"]], exclude=["noise", "junk"])
    assert "signal" in found.features
    complete = X.dropna()
    assert len(found.estimator.predict(X if missing == "impute" else complete)) == len(
        X if missing == "impute" else complete
    )


def config(folder, **keys):
    return {
        "datasets": {"study": {"path": str(folder / "study.csv"), "target": "y", **keys}},
        "splits": {"evaluation": 0},
        "selectors": {"gs": {"method": "gs", "ci_test": "g2"}, "relief": {"method": "relief"}},
    }


def test_a_plan_says_it_in_the_specs_of_tests_alone_and_skips_what_refuses(study, tmp_path):
    X, y = study
    X.assign(y=y).to_csv(tmp_path / "study.csv", index=False)
    plain = make_plan(config(tmp_path), str)
    assert "missing" not in plain.test_spec("study", "g2") and len(plain.pairs) == 2
    for keys, said in (({"missing": "pairwise"}, '"missing":"pairwise"'), ({"imputations": 4}, '"imputations":4')):
        plan = make_plan(config(tmp_path, **keys), str)
        assert said in plan.test_spec("study", "g2") and said in plan.method_spec("study", "gs")
        assert plan.splits_spec([0]) == plain.splits_spec([0])
        (skip,) = plan.skipped
        assert skip.selector == "relief" and "looks at the rows themselves" in skip.reason
    assert make_plan(config(tmp_path, imputations=4), str).grains.n_chunks("study", "g2") == 1
    with pytest.raises(ConfigError, match="'study': imputations is 4, but missing is drop"):
        make_plan(config(tmp_path, missing="drop", imputations=4), str)


def test_copies_are_pooled_where_rows_have_groups_or_sampling_weights(study):
    X, y = study
    for known in ({"groups": np.arange(len(X)) // 2}, {"sample_weight": np.arange(len(X)) + 1.0}):
        found = bf.GS(ci_test="lr-mixed", missing="impute", imputations=2, weights_are="sampling").fit(X, y, **known)
        assert "signal" in found.selected_features_


@pytest.mark.parametrize("rule", RULES)
def test_groups_of_features_stay_together_where_cells_are_missing(study, rule):
    X, y = study
    for test in ("lr-mixed", bf.get_ci_test("g2", bins=2)):
        found = bf.IAMB(ci_test=test, feature_groups={"both": ["signal", "noise"]}, **RULES[rule]).fit(X, y)
        assert {"signal", "noise"} <= set(found.selected_features_)
