"""`blanketflow compare`, as typed."""

import json
import re

import pandas as pd
import pytest
from sklearn.datasets import load_wine

import blanketflow as bf
from blanketflow.cli import main


@pytest.fixture
def wine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = load_wine(as_frame=True).frame.rename(columns={"hue": "[red]hue[/red]"})
    frame.to_csv("wine.csv", index=False)
    return frame


ARGUMENTS = ["compare", "wine.csv", "--target", "target", "--methods", "gs", "iamb/lr-mixed", "--models", "tree"]
ARGUMENTS += ["--evaluation", "2", "--folds", "2"]


@pytest.mark.extended
def test_it_finds_what_the_library_finds(wine, capsys):
    assert main([*ARGUMENTS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    selectors = {"gs": {"method": "gs"}, "iamb-lr-mixed": {"method": "iamb", "ci_test": "lr-mixed"}}
    same = bf.compare(wine, "target", selectors, models=["tree"], evaluation=2, folds=2, name="wine")
    assert [row["feature"] for row in found["blankets"]] == same.blankets["feature"].tolist()
    assert [row["mean"] for row in found["scores"]] == pytest.approx(same.scores["mean"].tolist(), nan_ok=True)
    assert set(pd.DataFrame(found["scores"])["selector"]) == {"gs", "iamb-lr-mixed", "all", "none"}


@pytest.mark.extended
def test_tables_and_the_report(wine, capsys):
    assert main([*ARGUMENTS, "--report", "wine.html"]) == 0
    out, err = capsys.readouterr()
    for name in ("gs", "iamb-lr-mixed", "all", "stability", "between groups", "accuracy"):
        assert name in out
    assert "Report: wine.html" in err
    with open("wine.html", encoding="utf-8") as file:
        assert "iamb-lr-mixed" in file.read()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--methods", "hitn-mb"], "Did you mean 'hiton-mb'"),
        (["--methods", "iamb/g22"], "g2"),
        (["--models", "tre"], "Did you mean 'tree'"),
    ],
)
def test_mistakes_end_in_one_message(wine, more, message, capsys):
    assert main(["compare", "wine.csv", "--target", "target", *more]) == 1
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_a_stopped_search_is_told_once(wine, capsys):
    asked = ["compare", "wine.csv", "--target", "target", "--methods", "hiton-mb", "--models", "tree"]
    assert main([*asked, "--evaluation", "2", "--folds", "0", "--time-limit", "0.001"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("wine")]
    assert len(told) == 1
    assert told[0].startswith("wine, hiton-mb: timeout on 3 splits, the time limit of 0.001 s (time_limit) was reached")


def test_later_rows_are_tested_on_and_drift_is_told(wine, capsys):
    wine.assign(day=range(len(wine)), target=wine.index % 2).to_csv("wine.csv", index=False)
    asked = ["compare", "wine.csv", "--target", "target", "--methods", "mim", "--models", "tree", "--folds", "0"]
    assert main([*asked, "--time", "day", "--gap", "2", "--evaluation", "3"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"Over time\n  wine, features of \S+: .* drifted: PSI \d+\.\d\d in period [23]", said)
    assert main([*asked, "--gap", "2"]) == 1
    assert "--gap is for test rows that are later than the others. Add --time COLUMN." in capsys.readouterr().err
