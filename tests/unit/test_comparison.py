import copy
import logging
import pickle

import altair as alt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest

import blanketflow as bf
from blanketflow.core.errors import ConfigError, DataError
from blanketflow.reporting.tables import TABLES

QUICK = {"models": ["tree"], "evaluation": 2, "folds": 2}


def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def found():
    """Two data sets; a selector that fails on both, and one that suits neither."""
    sick = pd.DataFrame({"site": ["a", "b", "c", "a"] * 25, "dose": np.arange(100) % 7, "id": np.arange(100.0)})
    data = {"wine": wine(), "sick": (sick, np.where(np.arange(100) % 7 > 3, "yes <b>", "no"))}
    selectors = [
        "mrmr",
        {
            "strict": {"method": "gs", "ci_test": "g2", "alpha": 0.001},
            "linear": {"method": "gs", "ci_test": "fisher-z"},
        },
        SelectKBest(k=-1),
    ]
    return bf.compare(data, selectors=selectors, **QUICK)


def test_every_table_of_the_workflow_is_there(found):
    assert found.tables.keys() == TABLES.keys()
    for name, made in TABLES.items():
        assert list(found.tables[name]) == list(made.rows.columns)
        if name != "friedman_ranks":
            assert getattr(found, name).equals(found.tables[name])


def test_a_failure_is_told_and_the_others_go_on(found):
    assert set(found.outcomes["selector"]) == {"select-k-best", "strict"}
    failed = found.outcomes.query("selector == 'select-k-best'")
    assert set(failed["status"]) == {"error"} and failed["reason"].str.contains("k").all()
    doubted = found.outcomes.query("selector == 'strict'")  # tables of 89 and 50 rows
    assert set(doubted["status"]) == {"unreliable"} and doubted["reason"].str.contains("too few rows").all()
    assert found.skipped[["dataset", "selector"]].values.tolist() == [["wine", "linear"], ["sick", "linear"]]
    scores = found.scores.query("dataset == 'wine'")
    assert set(scores.query("status == 'ok'")["selector"]) == {"mrmr", "strict", "all", "none"}
    failed = scores.query("status == 'error'")
    assert set(failed["selector"]) == {"select-k-best"} and failed["mean"].isna().all()
    with pytest.raises(ConfigError, match=r"select-k-best has no final blanket on wine: .*k.*[^.]\.$"):
        found.blanket("select-k-best", "wine")
    with pytest.raises(
        ConfigError, match=r"linear has no final blanket on sick: fisher-z takes no categorical features of"
    ):
        found.blanket("linear", "sick")


def test_blankets_are_lists_and_what_is_not_there_is_named(found):
    wanted = found.blankets.query("dataset == 'sick' and selector == 'strict'")["feature"].tolist()
    assert found.blanket("strict", "sick") == wanted
    with pytest.raises(ConfigError, match=r"name one of the data sets: wine, sick"):
        found.blanket("strict")
    with pytest.raises(ConfigError, match=r"'sik'.*Did you mean 'sick'"):
        found.blanket("strict", "sik")
    with pytest.raises(ConfigError, match=r"'strickt'.*Did you mean 'strict'"):
        found.blanket("strickt", "sick")


def test_features_are_named_as_the_frame_names_them():
    X, y = wine()
    numbered = X.set_axis(range(X.shape[1]), axis=1)
    both = bf.compare({"texts": (X, y), "numbers": (numbered, y)}, selectors=["mrmr"], evaluation=0, folds=0)
    names = both.blanket("mrmr", "numbers")
    assert names and all(type(name) is int for name in names)
    listed = both.blankets.query("selector == 'mrmr'").groupby("dataset")["feature"].apply(list)
    assert (
        listed["numbers"]
        == both.tables["blankets"].query("dataset == 'numbers' and selector == 'mrmr'")["feature"].tolist()
    )
    assert listed["numbers"] == names and listed["texts"] == both.blanket("mrmr", "texts")
    assert set(listed["texts"]) <= set(X.columns)


def test_it_shows_itself(found):
    assert found.summary().index.tolist()[:2] == [("wine", "mrmr"), ("wine", "strict")]
    assert "sick, linear: skipped, fisher-z takes no categorical features" in repr(found)
    html = found._repr_html_()
    assert "<table" in html and "±" in html and "<li>sick, linear: skipped" in html


def test_it_can_be_copied_and_pickled(found):
    for again in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert again.scores.equals(found.scores)


def test_charts_are_altair_objects(found):
    drawn = [
        found.plot.score_by_selector("wine"),
        found.plot.size_against_score("wine", metric="roc-auc", model="tree"),
        found.plot.cost_against_score("sick", cost="n_tests"),
        found.plot.selection_frequency("mrmr", "wine"),
        found.plot.blanket_graph("mrmr", "wine"),
        found.plot.stability_by_selector("wine"),
        found.plot.agreement("wine"),
        found.plot.wins(),
        found.plot.critical_difference(metric="accuracy"),
    ]
    for chart in drawn:
        assert isinstance(chart, alt.TopLevelMixin)
        assert chart.to_dict()["$schema"]
    with pytest.raises(ConfigError, match=r"no metric 'acuracy'.*Did you mean 'accuracy'"):
        found.plot.score_by_selector("wine", metric="acuracy")
    with pytest.raises(ConfigError, match=r"no model 'svm'"):
        found.plot.wins(model="svm")


@pytest.mark.extended
def test_the_report_is_that_of_the_workflow(found, tmp_path):
    path = found.report(tmp_path / "report.html")
    text = path.read_text(encoding="utf-8")
    assert all(word in text for word in ("strict", "wine", "fisher-z takes no categorical features"))
    assert "yes <b>" not in text
    assert "/tmp" not in text and str(tmp_path) not in text


def test_without_an_evaluation_there_are_blankets_only():
    X, y = wine()
    found = bf.compare(X, y, ["mrmr"], evaluation=0, folds=0)
    assert found.scores.empty and "all" not in found.run.selectors
    assert found.blanket("mrmr")
    assert "mrmr" in repr(found)
    with pytest.raises(ConfigError, match="no scores"):
        found.plot.score_by_selector()


def test_without_a_final_blanket_it_says_so():
    found = bf.compare(*wine(), ["mrmr"], final=False, **QUICK)
    with pytest.raises(ConfigError, match="set final to true"):
        found.blanket("mrmr")
    assert found.blankets.empty and len(found.scores)


def test_results_do_not_depend_on_the_number_of_jobs_nor_on_the_other_selectors():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    many = bf.compare(X, y, ["mim", bf.PPFS(n_repeats=5), "gs"], n_jobs=2, **QUICK)
    one = bf.compare(X, y, [bf.PPFS(n_repeats=5)], n_jobs=1, **QUICK)
    for table in ("scores", "blankets", "stability"):
        shared = many.tables[table].query("selector in ['ppfs', 'all', 'none']").reset_index(drop=True)
        columns = [column for column in shared if column != "best"]
        pd.testing.assert_frame_equal(shared[columns], one.tables[table][columns], check_exact=True)


def test_objects_that_no_file_can_name_are_compared():
    class Local(SelectKBest):
        """Defined where no module can be imported from."""

    X, y = wine()
    forest = SelectFromModel(RandomForestClassifier(5, random_state=0), max_features=3)
    model = bf.PPFS(n_repeats=3, model=RandomForestClassifier(3, random_state=0))
    kwargs = {**QUICK, "evaluation": 0}
    found = bf.compare(X, y, [Local(k=4), forest, model], **kwargs)
    assert found.outcomes.empty
    assert len(found.blanket("local")) == 4 and len(found.blanket("select-from-model")) == 3
    assert found.run.selectors["local"]["method"].endswith("Local")
    again = bf.compare(X, y, [Local(k=4), forest, model], n_jobs=2, **kwargs)
    assert again.blankets.equals(found.blankets)


def test_its_failures_reach_whoever_listens(caplog):
    with caplog.at_level(logging.ERROR, logger="blanketflow"):
        bf.compare(*wine(), [SelectKBest(k=-1)], evaluation=0, folds=0)
    assert any(record.exc_info for record in caplog.records)


def test_progress_is_shown_beside_the_results(capsys):
    bf.compare(*wine(), ["mim"], evaluation=0, folds=0, progress=True)
    shown = capsys.readouterr()
    assert shown.out == "" and "100%" in shown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"selectors": ["hitton-mb"]}, "hiton-mb"),
        ({"selectors": "mrmr"}, "must be a list or a mapping"),
        ({"selectors": [{"Bad_Id": {"method": "gs"}}]}, "ids are lower-case"),
        ({"selectors": [RandomForestClassifier(random_state=0)]}, "not a scikit-learn selector"),
        ({"selectors": [SelectKBest]}, "needs a method"),
        ({"selectors": [3]}, "needs a method"),
        ({"selectors": []}, "selectors must name at least one"),
        ({"selectors": [bf.GS(random_state=3)]}, "random_state of its own"),
        ({"selectors": [bf.GS(alpha=7)]}, "alpha"),
        ({"selectors": [{"gs": {"method": "gs"}}, {"gs": {"method": "gs"}}]}, "two selectors are called 'gs'"),
        ({"models": ["tre"]}, "tree"),
        ({"metrics": "acuracy"}, "metrics must be"),
        ({"folds": 1}, "folds is 1"),
        ({"evaluation": -1}, "evaluation"),
        ({"random_state": None}, "seed"),
        ({"name": "My table"}, "ids are lower-case"),
        ({"ci_tests": {"mine": {"type": "g3"}}}, "g2"),
        ({"selectors": ["true-blanket"], "evaluation": 0}, "no selector can run"),
    ],
)
def test_wrong_usage_is_a_config_error_that_names_the_way_out(arguments, said):
    with pytest.raises(ConfigError, match=said):
        bf.compare(*wine(), **{"selectors": ["mrmr"], **arguments})


def test_data_that_cannot_be_used_are_a_data_error():
    X, y = wine()
    with pytest.raises(DataError, match="178 rows, but the target has 3"):
        bf.compare(X, [1, 2, 3], ["mrmr"])
    with pytest.raises(DataError, match="there is no target"):
        bf.compare(X, selectors=["mrmr"])
    with pytest.raises(DataError, match="fewer than the 99 folds"):
        bf.compare(X, y, ["mrmr"], folds=99)
    with pytest.raises(ConfigError, match=r"must be \(X, y\), or begin so and have groups, weights, within and time"):
        bf.compare({"wine": X}, selectors=["mrmr"])
    with pytest.raises(ConfigError, match="belong in it"):
        bf.compare({"wine": (X, y)}, y, selectors=["mrmr"])


def test_optimistic_scores_are_of_the_final_blanket_on_each_split():
    X, y = load_wine(return_X_y=True, as_frame=True)
    found = bf.compare(X, y, ["mrmr"], models=["tree"], metrics=["accuracy"], evaluation=2, folds=0, optimistic=True)
    rows = found.optimism.set_index("selector")
    assert list(rows.index) == ["mrmr", "all"] and (rows["n_splits"] == 2).all()
    assert rows.loc["all", "difference"] == 0
    assert rows.loc["mrmr", "honest"] == pytest.approx(found.scores.set_index("selector").loc["mrmr", "mean"])
    assert bf.compare(X, y, ["mrmr"], models=["tree"], evaluation=2, folds=0).optimism.empty
