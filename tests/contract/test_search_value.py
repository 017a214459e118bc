"""A search is a value: written, read and run again it finds the same, by whatever way it was made."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import blanketflow as bf
from blanketflow.api.select_command import select
from blanketflow.core.errors import ConfigError
from blanketflow.core.registry import discover
from blanketflow.data.artefacts import read_columns
from blanketflow.data.sources import read_source
from blanketflow.reporting.report import render
from blanketflow.workflow.in_process import run_plan
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.specs import table_seed

#: What keeps a method cheap, or what it cannot do without.
OPTIONS = {
    "auto": {"budget": {"rows": 90, "fits": 40}},
    "dcrt": {"n_jobs": 1},
    "permutation-importance": {"model": "forest", "n_permutations": 19},
    "kiamb": {"n_runs": 3},
    "ppfs": {"n_repeats": 6},
    "srs": {"lambda_step": 0.1},
    "stepwise": {"model": "tree"},
}
METHODS = [name for name in discover("blanketflow.selectors") if name != "true-blanket"]
#: Options of a search beside those of its method, where folds and what is drawn matter.
ASKED = [
    {},
    {"n_folds": 3},
    {"n_folds": 2, "fold_rows": "part", "aggregate": "union"},
    {"confirm": 0.4, "confirm_splits": 2},
    {"exclude": ["hue"], "include": ["ash"], "tiers": [["alcohol"], ["proline"]]},
    {"max_tests": 40},
    {"random_state": 7},
]


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def again(search):
    """Return the search as it is after it was written and read."""
    return bf.Search.from_dict(json.loads(json.dumps(search.as_dict())), search.where)


def said(outcome):
    """Return everything that an outcome says."""
    steps = [
        [(s.feature, s.kept, s.role, s.p_value, s.importance, s.listed) for s in f.decisions] for f in outcome.found
    ]
    return outcome.features, outcome.stand_ins, outcome.status, outcome.reason, outcome.notes, outcome.n_tests, steps


@pytest.mark.parametrize("name", METHODS)
def test_a_search_that_is_written_and_read_finds_the_same(wine, name):
    selector = bf.get_selector(name, **OPTIONS.get(name, {}))
    search = selector.search()
    assert again(search) == search
    fitted, found = selector.fit(*wine), again(search).run(*wine)
    assert fitted.selected_features_ == found.features
    assert fitted.importances_ == {feature["feature"]: feature["importance"] for feature in found.chosen}
    assert (fitted.status_, fitted.reason_, fitted.notes_) == (found.status, found.reason, found.notes)
    np.testing.assert_array_equal(
        fitted.trace_.query("stage == 'shrink'")["p_value"], [s.p_value for f in found.found for s in f.decisions]
    )


@pytest.mark.parametrize("asked", ASKED, ids=str)
@pytest.mark.parametrize("name", ["iamb", "ppfs"])
def test_options_are_part_of_the_value(wine, name, asked):
    search = bf.get_selector(name, **OPTIONS.get(name, {}), **asked).search()
    assert again(search) == search
    assert said(again(search).run(*wine)) == said(search.run(*wine))


def test_what_is_said_of_rows_is_taken_as_fit_takes_it(wine):
    X, y = wine
    groups, within, counts = np.arange(len(y)) // 3, np.arange(len(y)) % 2, np.arange(len(y)) % 3
    for given in (
        {"groups": groups},
        {"within": within},
        {"groups": groups, "within": within, "sample_weight": counts},
    ):
        selector = bf.IAMB(n_folds=2, ci_test="lr-mixed")
        found = again(selector.search()).run(X, y, **given)
        assert found.features == selector.fit(X, y, **given).selected_features_ and found.notes == selector.notes_


@pytest.mark.parametrize("settings", [{}, {"folds": 3}, {"confirm": 0.5}], ids=str)
def test_the_command_runs_the_same_search(wine, settings, tmp_path):
    found = select({"source": "sklearn:wine"}, {"method": "hiton-mb", **settings}, {}, seed=5)
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(found.as_dict(), default=str))
    outcome = bf.read_search(path).run(*wine)
    assert [row["feature"] for row in found.blanket] == outcome.features
    p_values = {step.feature: step.p_value for step in outcome.combined.spoken}
    assert [row["p_value"] for row in found.blanket] == [p_values[name] for name in outcome.features]
    assert (found.status, found.n_tests) == (outcome.status, outcome.n_tests)


def test_an_answer_of_a_run_is_found_again(tmp_path):
    plan = make_plan(
        {
            "datasets": {"wine": {"source": "sklearn:wine"}},
            "selectors": {
                "ppfs": {"method": "ppfs", "ci_test": "ppi", "folds": 3},
                "hiton-mb": {"method": "hiton-mb", "exclude": ["hue"], "confirm": 0.3},
                "mrmr": {"method": "mrmr", "n_features": 3, "aggregate": "union"},
            },
            "ci_tests": {"ppi": {"type": "ppi", "n_repeats": 6}},
            "folds": 2,
            "splits": {"evaluation": 2},
            "models": ["tree"],
        },
        Path,
    )
    source = read_source("wine", plan.config.datasets["wine"], table_seed(plan.config, "wine"))
    report = tmp_path / "report.html"
    report.write_text(render(run_plan(plan, {"wine": source}, tmp_path, 1, progress=False)))
    X = pd.DataFrame({column.name: column.numbers() for column in source.features.columns})
    for name in plan.config.selectors:
        path = tmp_path / "select" / "wine" / "full" / name / "blanket.parquet"
        columns, _ = read_columns(path)
        outcome = bf.read_search(path).run(X, np.array(source.target.levels)[source.target.values])
        rows = zip(columns["feature"], columns["chosen"], columns["importance"], columns["frequency"], strict=True)
        ours = [(f["feature"], f["chosen"], f["importance"], f["frequency"]) for f in outcome.combined.features]
        assert [*rows] == ours
        assert bf.read_search(report, "wine", name) == bf.read_search(path)
    with pytest.raises(ConfigError, match="holds several searches: pass selector"):
        bf.read_search(report)
    with pytest.raises(ConfigError, match="has no selector 'ppf'"):
        bf.read_search(report, selector="ppf")


def test_an_artefact_and_the_report_say_what_fit_says(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.normal(size=10_500)
    X = pd.DataFrame({f"x{i}": y + 2 * rng.normal(size=len(y)) for i in range(10)})
    groups = rng.integers(30, size=len(y))
    with pytest.warns(UserWarning, match="there are 30 groups"):
        fitted = bf.MMPC(ci_test="fisher-z", alpha=0.01, max_k=1).fit(X, y, groups=groups)
    X.assign(y=y, patient=groups).to_parquet(tmp_path / "t.parquet")
    config = {
        "datasets": {"t": {"path": str(tmp_path / "t.parquet"), "target": "y", "groups": "patient"}},
        "selectors": {"mmpc": {"method": "mmpc", "ci_test": "fisher-z", "alpha": 0.01, "max_k": 1}},
        "splits": {"evaluation": 0},
        "folds": 0,
    }
    plan = make_plan(config, Path)
    source = read_source("t", plan.config.datasets["t"], table_seed(plan.config, "t"))
    run = run_plan(plan, {"t": source}, tmp_path, 1, progress=False)
    notes = read_columns(tmp_path / "select" / "t" / "full" / "mmpc" / "blanket.parquet")[1].extra["notes"]
    assert notes.keys() == {"groups", "p-values"}
    assert [*notes.values()] == run.unselective["t"] == fitted.notes_


@pytest.mark.parametrize("folds", [0, 2])
def test_folds_that_are_not_stratified_are_not_repeated_otherwise(tmp_path, folds):
    asked = {"selectors": {"gs": {"method": "gs"}}, "splits": {"evaluation": 0, "stratify": False}, "folds": folds}
    plan = make_plan({"datasets": {"wine": {"source": "sklearn:wine"}}, **asked}, Path)
    source = read_source("wine", plan.config.datasets["wine"], table_seed(plan.config, "wine"))
    run_plan(plan, {"wine": source}, tmp_path, 1, progress=False)
    path = tmp_path / "select" / "wine" / "full" / "gs" / "blanket.parquet"
    if not folds:
        assert bf.read_search(path).folds == 0
        return
    with pytest.raises(ConfigError, match="folds are not stratified"):
        bf.read_search(path)


def test_what_no_json_can_say_and_files_without_a_search_are_refused(tmp_path):
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(ConfigError, match="model is an object of DecisionTreeClassifier"):
        bf.PPFS(model=DecisionTreeClassifier(random_state=0)).search().as_dict()
    (tmp_path / "torn.json").write_text("{")
    with pytest.raises(ConfigError, match="neither a report nor JSON"):
        bf.read_search(tmp_path / "torn.json")
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(ConfigError, match="does not say by which search"):
        bf.read_search(tmp_path / "other.json")
