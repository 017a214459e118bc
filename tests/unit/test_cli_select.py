"""`blanketflow select`: one table, one method, no workflow."""

import io
import json
import shlex
from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import blanketflow as bf
from blanketflow.cli import main
from blanketflow.data.simulate import NETWORKS

#: A test whose results all count, so that too few rows are no reason to doubt.
ALL_COUNT = bf.get_ci_test("g2", unreliable="use")


@pytest.fixture
def table(tmp_path):
    columns = NETWORKS["clinic"].network.sample(500, seed=1).columns
    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.values, c.levels) for c in columns}).astype(str)
    frame.to_csv(tmp_path / "clinic.csv", index=False)
    return tmp_path / "clinic.csv", frame


def test_it_finds_what_the_selector_finds(table, capsys):
    path, frame = table
    arguments = ["--target", "pneumonia", "--method", "iamb", "--ci-test", "g2", "--set", "alpha=0.01", "--seed", "0"]
    arguments += ["--test-set", "unreliable=use"]
    assert main(["select", str(path), *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    selector = bf.IAMB(alpha=0.01, ci_test=ALL_COUNT).fit(frame.drop(columns="pneumonia"), frame["pneumonia"])
    assert [row["feature"] for row in found["blanket"]] == selector.selected_features_
    assert found["blankets"] == [selector.selected_features_]
    assert (found["n_tests"], found["status"], found["ci_test"]) == (selector.n_tests_, "ok", "g2")
    assert main(["select", str(path), *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"pneumonia (classification): {len(found['blanket'])} of 13 features, 500 rows, iamb")
    assert [line.split()[0] for line in lines[1:]] == selector.selected_features_


@pytest.mark.parametrize("options", [{"fold_rows": "part"}, {"aggregate": "union"}, {}], ids=str)
def test_with_folds_it_finds_what_the_selector_finds_with_them(table, capsys, options):
    path, frame = table
    settings = ["folds=3", *(f"{key}={value}" for key, value in options.items())]
    arguments = ["select", str(path), "--target", "pneumonia", "--method", "iamb", "--seed", "0", "--set", *settings]
    arguments += ["--ci-test", "g2", "--test-set", "unreliable=use"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    selector = bf.IAMB(n_folds=3, ci_test=ALL_COUNT, **options).fit(frame.drop(columns="pneumonia"), frame["pneumonia"])
    assert [row["feature"] for row in found["blanket"]] == selector.selected_features_
    assert found["blankets"] == selector.blankets_ and found["n_tests"] == selector.n_tests_
    for row in found["blanket"]:
        assert row["frequency"] == selector.frequencies_[row["feature"]]
        assert row["importance"] == selector.importances_[row["feature"]]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " on 3 folds, " in lines[0] and len(lines) == 1 + len(found["blanket"])
    assert all(line.endswith(" of 3 folds") for line in lines[1:])


def test_several_blankets_options_of_the_test_and_limits(table, capsys):
    path, frame = table
    frame.assign(twin=frame["xray"]).to_csv(path, index=False)
    arguments = ["select", str(path), "--target", "pneumonia"]
    assert main([*arguments, "--method", "tie-star", "--ci-test", "g2", "--test-set", "min_samples_per_cell=0"]) == 0
    assert " answers:\n" in capsys.readouterr().out
    assert main([*arguments, "--method", "gs", "--set", "max_tests=2"]) == 0
    assert "timeout: grow stopped: the test budget of 2" in capsys.readouterr().out
    assert main([*arguments, "--method", "hiton-mb", "--set", "max_tests=2"]) == 1
    assert "the test budget of 2 (max_tests) is spent" in capsys.readouterr().err
    assert main([*arguments, "--method", "gs", "--data-set", "drop=[twin]", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_features"] == 13


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nofile.csv", "--target", "y"], "there is no file nofile.csv"),
        (["sklearn:wine", "--method", "hitn-mb"], "Did you mean 'hiton-mb'"),
        (["sklearn:wine", "--method", "gs", "--set", "alpah=1"], "no option 'alpah'. Did you mean 'alpha'?"),
        (["sklearn:wine", "--set", "alpha"], "'alpha' is not a setting: write key=value"),
        (
            ["sklearn:wine", "--method", "gs", "--set", "alpha=2"],
            "alpha is 2, but must be a number above 0 and below 1",
        ),
        (["sklearn:wine", "--set", "folds=1"], "folds is 1, but a partition needs at least 2 parts"),
        (["sklearn:wine", "--method", "gs", "--ci-test", "g22"], "g22"),
        (["sklearn:wine", "--method", "mim", "--ci-test", "ppi"], "mim needs a test that measures mutual-information"),
        (["sklearn:wine", "--method", "mim", "--data-set", "shards=4"], "shards are jobs of a workflow"),
    ],
)
def test_mistakes_end_in_one_message(arguments, message, capsys):
    assert main(["select", *arguments]) == 1
    err = capsys.readouterr().err
    assert message in err and err.startswith("blanketflow: ") and err.count("\n") == 1


def test_it_says_where_max_rows_changes_nothing(capsys):
    assert main(["select", "sklearn:wine", "--method", "mim", "--data-set", "max_rows=50"]) == 0
    assert "max_rows changes nothing" in capsys.readouterr().err


def test_the_blanket_is_exported(table, capsys):
    path, frame = table
    arguments = ["select", str(path), "--target", "pneumonia", "--method", "iamb"]
    assert main([*arguments, "--json"]) == 0
    names = [row["feature"] for row in json.loads(capsys.readouterr().out)["blanket"]]
    assert main([*arguments, "--export", "csv"]) == 0
    assert pd.read_csv(io.StringIO(capsys.readouterr().out))["feature"].tolist() == names
    assert main([*arguments, "--export", "json"]) == 0
    assert [row["feature"] for row in json.loads(capsys.readouterr().out)["features"]] == names
    assert main([*arguments, "--export", "pipeline"]) == 0
    source = {}
    exec(capsys.readouterr().out, source)  # it is Python source: this is its use
    pipeline = source["blanket_pipeline"](DecisionTreeClassifier(random_state=0))
    scores = cross_val_score(pipeline, frame.drop(columns="pneumonia"), frame["pneumonia"], cv=3)
    assert sorted(source["BLANKET"]) == sorted(names) and scores.min() > 0.5
    assert main([*arguments, "--export", "pickle"]) == 1


def test_names_of_any_kind_and_missing_cells_pass_through_the_pipeline(tmp_path, capsys):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    names = ["a'\"\\", "Größe\x1b[2J", "[red]x[/red]", "flag"]
    columns = [
        y + rng.normal(size=200),
        np.where(y, "u", "v"),
        y * 2 + rng.integers(0, 2, 200),
        rng.random(200) < 0.3 + 0.4 * y,
    ]
    frame = pd.DataFrame(dict(zip(names, columns, strict=True))).assign(y=y)
    frame.loc[::9, [names[0], names[1]]] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert (
        main(
            [
                "select",
                str(tmp_path / "t.csv"),
                "--target",
                "y",
                "--method",
                "mim",
                "--set",
                "n_features=4",
                "--export",
                "pipeline",
            ]
        )
        == 0
    )
    text, source = capsys.readouterr().out, {}
    assert "\x1b" not in text
    exec(text, source)
    read = pd.read_csv(tmp_path / "t.csv")
    assert sorted(source["BLANKET"]) == sorted(names)
    assert (
        source["blanket_pipeline"](DecisionTreeClassifier(random_state=0)).fit(read, read["y"]).score(read, read["y"])
        > 0.9
    )


def test_a_long_blanket_is_shown_in_part_and_counted(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 50)), columns=[f"x{j}" for j in range(50)])
    frame.assign(y=frame.sum(axis=1)).to_csv(tmp_path / "wide.csv", index=False)
    asked = ["select", str(tmp_path / "wide.csv"), "--target", "y", "--method", "all"]
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "  ... and 10 more (--json lists them)" and len(lines) == 42
    assert main([*asked, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["blanket"]) == 50


@pytest.mark.parametrize("method, test, is_told", [("ppfs", "ppi", True), ("gs", "cpi", True), ("gs", "g2", False)])
def test_an_answer_says_where_its_p_values_are_no_error_rates(table, method, test, is_told, capsys):
    path, _ = table
    arguments = ["--target", "pneumonia", "--method", method, "--ci-test", test]
    assert main(["select", str(path), *arguments, "--set", "max_tests=40"]) in (0, 1)
    assert ("says nothing beyond them, is found" in "".join(capsys.readouterr())) == is_told


@pytest.fixture
def planted(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 12)), columns=[f"x{j}" for j in range(12)])
    frame["my y"] = np.where(frame["x3"] - frame["x8"] + rng.normal(size=300) > 0, "yes", "no")
    frame.to_csv(tmp_path / "of mine.csv", index=False)
    return str(tmp_path / "of mine.csv")


def test_auto_prints_a_curve_what_it_rests_on_and_the_next_command(planted, capsys):
    asked = ["select", planted, "--target", "my y", "--set", "max_candidates=9", "--cores", "1"]
    assert main([*asked, "--time-limit", "600", "--data-set", "drop=[x0]"]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("Scores by number of features"))
    curve = [line.split() for line in lines[start + 2 : -1]]
    assert 5 <= len(curve) <= 8 and [row[0] for row in curve][:: len(curve) - 1] == ["0", "11"]
    (kept,) = (row for row in curve if row[-1] == "kept")
    assert kept[0] == lines[0].split()[3] and curve[-1][2:] == ["0.000", "all"]
    assert lines[-1].startswith("It rests on 5 resamples of 300 rows, ") and lines[-1].endswith(" fits of models.")
    (following,) = (line for line in said.err.splitlines() if line.startswith("Next, "))
    words = shlex.split(following.partition(": ")[2])
    assert words[:5] == ["blanketflow", "compare", planted, "--target", "my y"] and "drop=[x0]" in words
    assert words[-2:] == ["--folds", "0"]
    assert main([*words[1:], "--evaluation", "0", "--time-limit", "30"]) == 0


def test_auto_answers_in_any_time_and_keeps_no_more_than_asked(planted, capsys):
    asked = ["select", planted, "--target", "my y", "--time-limit", "0.001", "--max-features", "1"]
    assert main(asked) == 0
    said = capsys.readouterr()
    assert "timeout: it rests on 1 of 5 resamples" in said.out and "the time limit of 0.001 s" in said.out
    assert "Keep this 1 of 12 features" in said.out and "At most 1 was to be kept, as asked." in said.out
    assert "Next, with more time: blanketflow select" in said.err and said.err.endswith("--time-limit 10\n")
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    budget = found["verdict"]["budget"]
    again = ["--set", "max_features=1", f"budget={{rows: {budget['rows']}, fits: {budget['fits']}}}", "--json"]
    assert main(["select", planted, "--target", "my y", *again]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == found["verdict"]


def test_what_decides_can_be_asked_for(planted, capsys):
    asked = ["select", planted, "--target", "my y", "--time-limit", "0.001", "--metric"]
    assert main([*asked, "log-loss"]) == 0
    assert "ROC AUC 0." in capsys.readouterr().out
    assert main([*asked, "mse"]) == 1
    assert "metric is 'mse', but must be one of auto, error, log-loss" in capsys.readouterr().err


def test_seconds_are_digits(table, monkeypatch, capsys):
    clock = SimpleNamespace(perf_counter=count(0.0, 123.4).__next__)
    monkeypatch.setattr("blanketflow.api.select_command.time", clock)
    assert main(["select", str(table[0]), "--target", "pneumonia", "--method", "mim"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(", 123 s")
