"""``bf.select`` and the command of the same name: which features to keep, and how sure that is."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_wine

import blanketflow as bf
import blanketflow.core.errors as bf_errors
from blanketflow.cli import main


@pytest.fixture(scope="module")
def wine():
    """Of 200 rows each is held out once; of fewer, several times."""
    X, y = (
        part.sample(200, replace=True, random_state=0, ignore_index=True)
        for part in load_wine(return_X_y=True, as_frame=True)
    )
    X = X[["flavanoids", "proline", "ash"]].copy()
    X["cellar"] = np.where(X["ash"] > X["ash"].median(), "north", "south")
    return X, y.map({0: "barolo", 1: "grignolino", 2: "barbera"})


@pytest.fixture(scope="module")
def selected(wine):
    return bf.select(*wine)


def test_features_verdict_and_alternatives_say_the_same(wine, selected):
    assert 2 <= len(selected.features) <= 4 and set(selected.features) <= set(wine[0].columns)
    (chosen,) = selected.alternatives.query("chosen").itertuples()
    assert chosen.n_features == len(selected.features)
    assert list(selected.alternatives["n_features"]) == [0, 1, 2, 3, 4]
    assert f"{len(selected.features)} " in selected.verdict and "95 % interval" in selected.verdict
    assert repr(selected) == f"Selected({selected.verdict})\n- {selected.notes[0]}"


@pytest.mark.parametrize("find", [bf.select, bf.discover], ids=["select", "discover"])
def test_what_to_look_at_in_the_table_is_told_in_python_too(find):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    y = X["a"] + rng.normal(size=120)
    X = X.assign(after=2 * y + rng.normal(size=120) / 1000, row=range(120))
    found = find(X, y, time_limit=30)
    leak, number = found.notes
    assert "after alone explains" in leak
    assert leak.endswith(": if known only with or after the target, exclude=['after']")
    assert number == "row may number or name the rows: exclude=['row']"
    assert repr(found).splitlines()[1:] == [f"- {leak}", f"- {number}"] and found.selector.notes_ == found.notes
    assert find(X, y, exclude=["after", "row"], time_limit=30).notes == []


def test_ways_out_in_python_work_as_they_are_written():
    rng = np.random.default_rng(0)
    of_patient = np.repeat(np.arange(30), 4)
    days = pd.date_range("2020-01-01", periods=120).strftime("%Y-%m-%d")
    answers = pd.Series(rng.choice(["Yes", "yes", "no"], 120), name="answer")
    date, labels = bf.select(pd.DataFrame({"day": days, "lab": rng.normal(size=120)}), answers, time_limit=10).notes
    assert "day holds dates or times as text" in date and "pandas.to_datetime" in date
    assert "answer has labels that differ only in case or blanks" in labels and ".str.lower()" in labels
    X = pd.DataFrame({"patient": [f"P{i}" for i in of_patient], "dose": [f"{v:.1f} mg" for v in rng.normal(size=120)]})
    y = pd.Series(rng.poisson(np.exp(rng.normal(size=30)[of_patient])).clip(0, 12), name="visits")
    with pytest.warns(bf_errors.NumbersAsTextWarning):
        number, count, patient = bf.select(X, y, time_limit=10).notes
    assert "dose holds numbers written as text" in number and "pandas.to_numeric" in number
    assert "visits may be a target of the kind count" in count and count.endswith(": target_kind='count'")
    way = "groups=X['patient'], exclude=['patient']"
    assert patient.endswith(f"if rows of one value are not independent, {way}")
    X = X.assign(dose=X["dose"].str.removesuffix(" mg").astype(float))
    found = eval(f"bf.select(X, y, target_kind='count', {way}, time_limit=10)")
    assert found.selector.task_ == "count" and not any("look at the table" in note for note in found.notes)


def test_a_notebook_shows_the_verdict_the_features_and_a_curve(selected):
    page = selected._repr_html_()
    assert page.startswith('<div class="blanketflow"') and "95 % interval" in page
    assert all(f">{name}</text>" in page for name in selected.features)
    assert page.count("<circle") == len(selected.alternatives) and "ROC AUC against number of features" in page
    layers = selected.plot().to_dict()["layer"]  # Altair checks it
    assert [layer["mark"]["type"] for layer in layers] == ["rule", "line", "point", "point"]


def test_scores_have_a_row_per_model_their_mean_and_the_corrected_one(selected):
    scores = selected.scores.set_index("model")
    assert list(scores.index) == ["linear", "neighbours", "boosted", "mean", "corrected"]
    models = scores.loc[["linear", "neighbours", "boosted"]]
    assert scores.loc["mean", "chosen"] == pytest.approx(models["chosen"].mean())
    assert (models["difference"] == models["chosen"] - models["all"]).all()
    corrected = scores.loc["corrected"]
    assert corrected["low"] <= corrected["difference"] <= corrected["high"]
    assert scores["metric"].eq("roc_auc").all()  # barbera is rare


def test_the_pipeline_predicts_new_rows(wine, selected):
    X, y = wine
    assert selected.estimator.score(X, y) > 0.85
    assert selected.estimator.predict(X.iloc[:3]).shape == (3,)
    assert list(selected.estimator[0].get_feature_names_out()) == [c for c in X.columns if c in selected.features]


def test_arrays_and_a_target_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    found = bf.select(X, X[:, 1] + 0.1 * rng.normal(size=200), time_limit=None)
    assert found.features == ["x1"] and found.scores["metric"].eq("r2").all()
    assert found.estimator.predict(X[:2]).shape == (2,)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_the_pipeline_takes_numbers_whose_squares_no_float_holds(unit):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = X["a"] + X["b"] > 0
    found = bf.select(X.assign(a=X["a"] * unit), y, time_limit=None)
    assert "a" in found.features
    assert found.estimator.score(X.assign(a=X["a"] * unit), y) > 0.8


def test_nothing_to_keep_has_no_pipeline():
    rng = np.random.default_rng(1)
    found = bf.select(pd.DataFrame(rng.normal(size=(200, 2)), columns=list("ab")), rng.normal(size=200))
    assert found.features == [] and found.estimator is None


def test_the_command_answers_without_a_method(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    table["outcome"] = np.where(table["b"] + 0.3 * rng.normal(size=200) > 0, "ill", "well")
    table.to_csv(tmp_path / "my.csv", index=False)
    assert main(["select", str(tmp_path / "my.csv"), "--target", "outcome"]) == 0
    said = capsys.readouterr().out
    assert "Keep this 1 of 3 features: b." in said and "95 % interval" in said
    assert main(["select", str(tmp_path / "my.csv"), "--target", "outcome", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["method"] == "auto" and found["verdict"]["alternatives"][1]["chosen"]


def test_sparse_rows_end_in_a_model_too():
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.integers(0, 3, (200, 4)).astype(float))
    y = X[:, 1].toarray().ravel() + 0.1 * rng.normal(size=200)
    found = bf.select(X, y, time_limit=None)
    assert found.features == ["x1"]
    np.testing.assert_array_equal(found.estimator.predict(X), found.estimator.predict(X.toarray()))


def test_a_table_in_which_nothing_varies_is_answered():
    found = bf.select(pd.DataFrame({"a": [1.0] * 30}), np.arange(30.0))
    assert (found.features, found.verdict) == ([], "No feature helps: each has one value only.")
