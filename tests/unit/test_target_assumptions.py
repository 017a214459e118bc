"""What the regressions of a target's kind assume or need, and where it is said when the rows do not have it."""

import html
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
from blanketflow.api.compare.result import Comparison
from blanketflow.api.inspection import inspect_table
from blanketflow.ci import get_ci_test
from blanketflow.cli import main
from blanketflow.core.convert import as_table
from blanketflow.core.errors import UnreliableWarning
from blanketflow.data.artefacts import read_columns
from blanketflow.data.sources import read_source
from blanketflow.reporting.report import render
from blanketflow.targets.checks import LEVEL
from blanketflow.targets.forms import as_target
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


# --- what regressions assume ------------------------------------------------------------------------------------------


def numbers(rng, n):
    return pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))


def changing_hazards(rng, X):
    """An effect of the first feature that weakens with time; the second has one that does not."""
    change = np.exp(-1.5 * X["a"] - 0.6 * X["b"])
    time = rng.exponential(change)
    late = time > 0.3
    time[late] = 0.3 + rng.exponential(np.exp(-0.6 * X["b"]))[late]
    return time, time < 5.0


def changing_odds(rng, X):
    """The first feature acts on the upper threshold alone, the second on the lower one."""
    high = rng.random(len(X)) < 1 / (1 + np.exp(-2.0 * X["a"]))
    return np.where(X["b"] + rng.logistic(size=len(X)) < -0.5, 0, np.where(high, 2, 1))


def zeros_in_excess(rng, X):
    return rng.poisson(np.exp(1.2 + 0.5 * X["a"])) * (rng.random(len(X)) < 0.7)


def masses(rng, X):
    return np.where(rng.random(len(X)) < 0.2, 0.0, 1 / (1 + np.exp(-X["a"] - rng.normal(size=len(X)))))


def as_assumed(kind, rng, X):
    score = 0.7 * X["a"] + 0.4 * X["b"]
    if kind == "survival":
        time, end = rng.exponential(np.exp(-score)), rng.exponential(1.5, len(X))
        return np.minimum(time, end), time <= end
    if kind == "ordered":
        return np.digitize(score + rng.logistic(size=len(X)), [-2.0, 0.0, 1.0, 3.0])
    if kind == "count":
        return rng.poisson(np.exp(0.5 + score) * rng.gamma(2.0, 0.5, len(X)))
    return 1 / (1 + np.exp(-score - rng.normal(size=len(X))))


CONTRADICTED = {
    "survival": (changing_hazards, "the effect of a on 'target' changes with time"),
    "ordered": (changing_odds, "b, a have other effects at some thresholds of 'target'"),
    "count": (zeros_in_excess, "but [0-9]+ are expected of negative binomial counts"),
    "share": (masses, "'target' is exactly 0 in [0-9]+ rows of 700"),
}


def what_is_said(kind, y, X, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = bf.IAMB(alpha=0.01, target_kind=kind, **options).fit(X, y)
    return found, [str(one.message) for one in caught if issubclass(one.category, UnreliableWarning)]


@pytest.mark.parametrize("test", ["lr-mixed", "spline"])
@pytest.mark.parametrize("kind", CONTRADICTED)
def test_a_search_says_what_the_rows_contradict(kind, test):
    make, message = CONTRADICTED[kind]
    rng = np.random.default_rng(4)
    X = numbers(rng, 700)
    found, said = what_is_said(kind, make(rng, X), X, ci_test=test)
    assert "a" in found.selected_features_ and found.status_ == "ok"
    (line,) = said
    assert re.search(message, line) and f"IAMB: {found.notes_[-1]}." == line
    found, said = what_is_said(kind, as_assumed(kind, rng, X), X, ci_test=test)
    assert {"a", "b"} <= set(found.selected_features_) and said == []


def test_gcm_does_not_assume_what_regressions_do():
    rng = np.random.default_rng(4)
    X = numbers(rng, 700)
    found, said = what_is_said("survival", changing_hazards(rng, X), X, ci_test="gcm")
    assert "a" in found.selected_features_ and said == []


def test_strata_groups_of_features_and_missing_cells_are_checked_too():
    rng = np.random.default_rng(4)
    X = numbers(rng, 700)
    y = changing_hazards(rng, X)
    own = {"feature_groups": {"both": ["a", "c"]}, "ci_test": "lr-mixed"}
    assert any("the effect of a on" in line for line in what_is_said("survival", y, X, **own)[1])
    within = bf.IAMB(target_kind="survival", ci_test="spline")
    with pytest.warns(UnreliableWarning, match="the effect of a on"):
        within.fit(X, y, within=rng.integers(3, size=700))
    X.loc[:20, "b"] = np.nan
    assert any("the effect of a on" in line for line in what_is_said("survival", y, X, missing="pairwise")[1])


def test_folds_say_what_the_rows_of_the_answer_contradict():
    rng = np.random.default_rng(4)
    X = numbers(rng, 700)
    found, said = what_is_said("survival", changing_hazards(rng, X), X, n_folds=3)
    assert any("the effect of a on" in line for line in said) and "a" in found.selected_features_


def test_contradicted_assumptions_are_in_artefacts_reports_and_on_the_terminal(tmp_path, capsys):
    rng = np.random.default_rng(4)
    X = numbers(rng, 700)
    time, event = changing_hazards(rng, X)
    X.assign(days=time, died=event.astype(int)).to_csv(tmp_path / "study.csv", index=False)
    dataset = {"path": str(tmp_path / "study.csv"), "target": {"time": "days", "event": "died"}}
    selectors = {"iamb": {"method": "iamb", "alpha": 0.01}}
    run, notes = run_in(tmp_path / "run", {"datasets": {"study": dataset}, "selectors": selectors})
    told = notes["iamb"]["assumptions"]
    assert told.startswith("the effect of a on 'days' changes with time")
    assert run.unselective["study"] == [told] and told in html.unescape(render(run))
    assert any(told in line for line in Comparison(run).notes())
    target = "target={time: days, event: died}"
    main(["select", dataset["path"], "--data-set", target, "--method", "iamb", "--set", "alpha=0.01"])
    assert "changes with time" in " ".join("".join(capsys.readouterr()).split())


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["survival", "ordered", "count"])
@pytest.mark.parametrize("test", ["lr-mixed", "spline"])
def test_true_assumptions_are_rejected_at_most_at_the_level(kind, test):
    for n in (150, 500, 2000):
        n_rejected = 0
        for seed in range(400):
            rng = np.random.default_rng([seed, n])
            X = numbers(rng, n)
            y = as_target("made up", "y", as_assumed(kind, rng, X), kind)
            engine = get_ci_test(test).prepare(as_table(X).with_column(y), 0, 3)
            n_rejected += bool(engine.doubts(range(3)))
        assert stats.binom.sf(n_rejected - 1, 400, LEVEL) > 0.001, (n, n_rejected)
