"""What the regressions of a target's kind assume or need, and where it is said when the rows do not have it."""

import html
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.api.compare.result import Comparison
from blanketflow.api.inspection import inspect_table
from blanketflow.core.errors import UnreliableWarning
from blanketflow.data.artefacts import read_columns
from blanketflow.data.sources import read_source
from blanketflow.reporting.report import render
from blanketflow.workflow.in_process import run_plan
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.specs import table_seed


def few_events(n_events, n=200):
    """Return features, times and events, where early events depend on the first feature."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    time = rng.exponential(np.exp(-1.5 * X["a"]))
    event = np.zeros(n, dtype=bool)
    event[np.argsort(time)[:n_events]] = True
    return X, time, event


FEW = "has only 7 events in 200 rows, and a test of one feature needs 10"


@pytest.mark.parametrize("selector", [bf.IAMB(), bf.MRMR(n_features=2), bf.Auto(max_candidates=3)])
def test_any_method_warns_of_few_events(selector):
    X, time, event = few_events(7)
    with pytest.warns(UnreliableWarning, match=FEW):
        found = selector.set_params(target_kind="survival").fit(X, (time, event))
    assert any(FEW in note for note in found.notes_)


def test_tests_say_that_events_lack_rather_than_rows():
    X, time, event = few_events(12)
    with pytest.warns(UnreliableWarning, match=r"too few events \(at least 334 rows are needed, there are 200\)"):
        bf.IAMB(alpha=0.01, ci_test="lr-mixed", target_kind="survival").fit(X, (time, event))


def test_events_of_the_smallest_fold_count():
    X, time, event = few_events(12)
    with pytest.warns(UnreliableWarning, match="has only 9 events in 160 rows of the smallest fold"):
        bf.HITONMB(n_folds=5, target_kind="survival").fit(X, (time, event))


def test_auto_takes_linear_tests_where_events_are_too_few_for_splines():
    X, time, event = few_events(25)
    found = bf.IAMB(alpha=0.01, target_kind="survival").fit(X, (time, event))
    assert found.selected_features_ == ["a"] and found.status_ == "ok"
    assert found.ci_test_reason_.endswith("its regressions are linear: there are few events")


@pytest.fixture
def few_in_a_file(tmp_path):
    X, time, event = few_events(7)
    X.assign(days=time, died=event.astype(int)).to_csv(tmp_path / "few.csv", index=False)
    return {"path": str(tmp_path / "few.csv"), "target": {"time": "days", "event": "died"}}


def test_few_events_are_a_finding_and_said_before_a_run(few_in_a_file):
    (found,) = [one for one in inspect_table(few_in_a_file).findings if one.kind == "few-rows"]
    assert found.message.startswith(f"'days' {FEW}")
    spec = {"datasets": {"few": few_in_a_file}, "selectors": {"mim": {"method": "mim"}}, "folds": 0}
    plan = make_plan({**spec, "splits": {"evaluation": 0}}, lambda path: path)
    assert any(note.startswith(f"few: 'days' {FEW}") for note in plan.notes())


def run_in(folder, spec):
    """Run a config of one data set; return its run and the notes in its artefacts by selector."""
    plan = make_plan({"splits": {"evaluation": 0}, "folds": 0, "models": [], **spec}, Path)
    (name,) = plan.config.datasets
    source = read_source(name, plan.config.datasets[name], table_seed(plan.config, name))
    run = run_plan(plan, {name: source}, folder, 1, progress=False)
    found = (folder / "select" / name / "full").rglob("blanket.parquet")
    return run, {path.parent.name: read_columns(path)[1].extra.get("notes", {}) for path in found}


def test_few_events_are_in_artefacts_reports_and_comparisons(few_in_a_file, tmp_path):
    selectors = {"mim": {"method": "mim"}, "iamb": {"method": "iamb"}}
    run, notes = run_in(tmp_path / "run", {"datasets": {"few": few_in_a_file}, "selectors": selectors})
    assert notes.keys() == selectors.keys() and all(FEW in of["few"] for of in notes.values())
    assert any(FEW in note for note in run.unselective["few"]) and FEW in html.unescape(render(run))
    assert any(FEW in line for line in Comparison(run).notes())
