"""`blanketflow count` and `merge`: two places, one agreement, one answer."""

import json

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.cli import main
from blanketflow.data.simulate import NETWORKS


@pytest.fixture
def places(tmp_path, monkeypatch):
    columns = NETWORKS["clinic"].network.sample(900, seed=1).columns
    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.values, c.levels) for c in columns}).astype(str)
    frame[:300].to_csv(tmp_path / "a.csv", index=False)
    frame[300:].to_parquet(tmp_path / "b.parquet")
    monkeypatch.chdir(tmp_path)
    return frame


def run(*arguments):
    return main(list(map(str, arguments)))


def counted(agreement, suffix=""):
    for table in ("a.csv", "b.parquet"):
        assert run("count", table, agreement, "-o", f"{table[0]}{suffix}.counts") == 0
    return [f"a{suffix}.counts", f"b{suffix}.counts"]


def test_places_find_what_the_pooled_rows_have(places, capsys):
    assert run("count", "a.csv", "agreement.json", "--agree", "--target", "pneumonia") == 0
    assert run("count", "b.parquet", "agreement.json", "--agree") == 0
    parts = counted("agreement.json")
    capsys.readouterr()
    assert run("merge", *parts, "-o", "sum.parquet", "--method", "jmi", "--set", "n_features=4", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    expected = bf.JMI(n_features=4).fit(places.drop(columns="pneumonia"), places["pneumonia"])
    assert found["features"] == expected.selected_features_ and found["n_tests"] == expected.n_tests_
    assert (found["n_rows"], found["status"], found["refused"]) == (900, "ok", [])


def test_a_target_that_is_a_number_is_searched_by_regressions_on_labels(places, capsys):
    noise = np.random.default_rng(0).normal(size=900)
    frame = places.assign(number=noise + 2.0 * (places["smoking"] == "light") + (places["xray"] == "shadow"))
    frame[:300].to_csv("a.csv", index=False)
    frame[300:].to_parquet("b.parquet")
    tables = ("--target", "number", "--tables", "cross-products")
    assert run("count", "a.csv", "agreement.json", "--agree", *tables) == 0
    assert run("count", "b.parquet", "agreement.json", "--agree") == 0
    asked = ("merge", *counted("agreement.json"), "--method", "iamb", "--ci-test", "lr-mixed", "--json")
    capsys.readouterr()
    assert run(*asked) == 1 and "Set directions: linear" in capsys.readouterr().err
    assert run(*asked, "--test-set", "directions=linear") == 0
    found = json.loads(capsys.readouterr().out)
    test = bf.get_ci_test("lr-mixed", directions="linear")
    expected = bf.IAMB(ci_test=test).fit(frame.drop(columns="number"), frame["number"])
    assert found["features"] == expected.selected_features_ and {"smoking", "xray"} <= {*found["features"]}
    assert (found["ci_test"], found["status"], found["n_tests"]) == ("lr-mixed", "ok", expected.n_tests_)
    assert run("merge", "a.counts", "--method", "iamb", "--test-set", "directions=linear") == 1
    assert "name it with --ci-test" in capsys.readouterr().err


def test_a_place_of_one_class_or_of_few_numbers_counts_by_the_agreed_task(places):
    few = places[places["pneumonia"] == places["pneumonia"].iloc[0]].assign(number=1.5)
    few.drop(columns="number").to_csv("few.csv", index=False)
    run("count", "a.csv", "agreement.json", "--agree", "--target", "pneumonia")
    assert run("count", "few.csv", "agreement.json", "--agree") == 0
    assert run("count", "few.csv", "agreement.json", "-o", "few.counts") == 0
    places.assign(number=range(900)).to_csv("many.csv", index=False)
    few.assign(number=[*range(5)] * (len(few) // 5) + [0] * (len(few) % 5)).to_csv("few.csv", index=False)
    run("count", "many.csv", "numbers.json", "--agree", "--target", "number")
    assert run("count", "few.csv", "numbers.json", "-o", "few.counts") == 0


@pytest.mark.filterwarnings("ignore::blanketflow.core.errors.UnreliableWarning")
def test_a_search_that_needs_more_tables_asks_for_them(places, capsys):
    run("count", "a.csv", "agreement.json", "--agree", "--target", "pneumonia", "--tables", "relevance")
    run("count", "b.parquet", "agreement.json", "--agree")
    search = ["--method", "iamb", "--ci-test", "g2", "--set", "alpha=0.001", "--ask", "more.json"]
    search += ["-o", "sum.parquet", "--json"]
    code, parts, earlier = 1, counted("agreement.json"), []
    exchanges = 0
    while code and exchanges < 12:
        capsys.readouterr()
        code, exchanges = run("merge", *parts, *earlier, *search), exchanges + 1
        if code:
            parts, earlier = counted("more.json", exchanges), ["--earlier", "sum.parquet"]
    found = json.loads(capsys.readouterr().out)
    expected = bf.IAMB(ci_test="g2", alpha=0.001).fit(places.drop(columns="pneumonia"), places["pneumonia"])
    assert exchanges > 1 and found["features"] == expected.selected_features_


def test_what_is_refused_is_listed_and_the_answer_is_not_reliable(places, capsys):
    run("count", "b.parquet", "agreement.json", "--agree", "--target", "pneumonia", "--min-cell", 5)
    run("count", "a.csv", "agreement.json", "--agree")
    parts = counted("agreement.json")
    capsys.readouterr()
    assert run("merge", *parts, "--method", "jmi") == 0
    told = capsys.readouterr()
    assert "refused: " in told.err and "unreliable: " in told.out and "tests were refused" in told.out


def test_an_agreement_keeps_its_target(places, capsys):
    assert run("count", "a.csv", "agreement.json", "--agree", "--target", "pneumonia") == 0
    for to in (["--agree"], ["-o", "a.counts"]):
        assert run("count", "a.csv", "agreement.json", *to, "--target", "smoking") == 1
        assert "agreement.json is about the target 'pneumonia'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["count", "a.csv", "agreement.json", "--target", "pneumonia"], "give either --agree"),
        (["count", "a.csv", "agreement.json", "--agree"], "name it with --target"),
        (["count", "a.csv", "agreement.json", "-o", "a.counts"], "not a readable agreement"),
        (["merge", "a.counts"], "give -o FILE for the sum, --method"),
        (["merge", "b.parquet", "-o", "sum.parquet"], "not a readable blanketflow artefact"),
    ],
)
def test_wrong_use_is_told(places, capsys, arguments, said):
    assert run(*arguments) != 0
    assert said in " ".join(capsys.readouterr().err.split())
