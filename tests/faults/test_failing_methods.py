"""A real run with methods that crash, hang and lie, beside one that works: it completes, and says what failed.

`test_wrong_answers.py` has every kind of nonsense; here are those that would take a job with them.
"""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from forked import HANGS
from workflow_runs import configure, provenance, snakemake

HERE = Path(__file__).parent
pytestmark = [pytest.mark.workflow, pytest.mark.extended]
GOOD = {"gs": {"method": "gs", "ci_test": "z", "alpha": 0.2}, "all": {"method": "all"}}
#: Selector, its final status and reason.
ZOO = {
    "crash": ({"method": "zoo:Doomed"}, "error", "the process of the method was ended by signal SIGSEGV"),
    "hang": (
        {"method": "zoo:Animal", "act": "hang_in_c", "time_limit": 0.5},
        "timeout",
        "the time limit of 0.5 s (time_limit) was reached, and the method did not stop by itself: its process was "
        "ended. Raise it.",
    ),
    "lie": (
        {"method": "zoo:Animal", "grown": "stranger"},
        "error",
        "grow returned 'x99\\x1b[2J', which is not a feature of the table",
    ),
    "odd-test": ({"method": "gs", "ci_test": "strange"}, "error", "CI test strange returned p_value nan"),
    "chatter": ({"method": "zoo:Animal", "act": "chatter"}, "ok", ""),
}


def config(selectors, models):
    return {
        "datasets": {"toy": {"path": "toy.csv", "target": "y"}},
        "splits": {"evaluation": 2},
        "folds": 0,
        "ci_tests": {"z": {"type": "fisher-z"}, "strange": {"type": "zoo:Strange"}},
        "selectors": selectors,
        "models": models,
        "metrics": ["accuracy"],
    }


def put_table(folder):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 4)).round(3), columns=[f"x{j}" for j in range(4)])
    table.assign(y=np.where(table["x1"] + table["x2"] > 0, "yes", "no")).to_csv(folder / "toy.csv", index=False)


@pytest.fixture(scope="module")
def zoo_run(tmp_path_factory):
    """A finished run with the zoo, and what Snakemake printed."""
    selectors = GOOD | {name: spec for name, (spec, _, _) in ZOO.items()}
    folder = configure(tmp_path_factory.mktemp("zoo"), config(selectors, ["tree", "zoo:CrashingOracle"]))
    put_table(folder)
    return folder, snakemake(folder, "--cores", "2", plug_ins=[HERE]).stdout


def table(folder, name):
    return pd.read_csv(folder / "results" / "tables" / f"{name}.csv", keep_default_na=False)


def test_the_run_completes_and_each_failure_is_a_row(zoo_run):
    folder, _ = zoo_run
    ended = table(folder, "statuses")
    for name, (_, status, reason) in ZOO.items():
        own = ended[(ended["selector"] == name) & (ended["stage"] == "select")]
        assert sorted(own["split"]) == ["cv-1", "cv-2", "full"]
        assert set(zip(own["status"], own["reason"], strict=True)) == {(status, reason)}
    scores = table(folder, "scores").set_index(["selector", "model"])
    for name, (_, status, reason) in ZOO.items():
        if status != "ok":
            assert scores.loc[(name, "tree"), ["mean", "n_splits", "status", "reason"]].tolist() == [
                "", 0, status, reason
            ]  # fmt: skip
    crashed = scores.loc[("gs", "zoo:CrashingOracle")]
    assert crashed["status"] == "error" and crashed["reason"] == ZOO["crash"][2] and crashed["mean"] == ""
    assert set(table(folder, "ranks")["selector"]) == {"gs", "all", "chatter"}
    assert table(folder, "blankets").query("selector == 'chatter'")["feature"].tolist() == ["x0"]


def test_what_failed_is_no_empty_result(zoo_run):
    folder, _ = zoo_run
    for name, (_, status, reason) in ZOO.items():
        said = provenance(folder / f"results/select/toy/full/{name}/blanket.parquet")
        assert (said["status"], said["reason"]) == (status, reason)


def test_the_others_find_what_they_find_alone(zoo_run):
    """A comparison finds what a run on the same table finds, to the last digit."""
    read = pd.read_csv(zoo_run[0] / "toy.csv")
    good = {name: spec for name, spec in GOOD.items() if name != "all"}
    how = {
        "models": ["tree"],
        "metrics": ["accuracy"],
        "evaluation": 2,
        "folds": 0,
        "ci_tests": {"z": {"type": "fisher-z"}},
    }
    alone = bf.compare({"toy": (read.drop(columns="y"), read["y"])}, selectors=good, **how)
    for name in ("scores", "blankets"):
        beside = pd.read_parquet(zoo_run[0] / f"results/tables/{name}.parquet")
        beside = beside[beside["selector"].isin([*GOOD, "none"])]
        beside = beside[beside["model"] == "tree"] if "model" in beside else beside
        pd.testing.assert_frame_equal(
            alone.tables[name].reset_index(drop=True), beside.reset_index(drop=True), check_dtype=False
        )


def test_a_crash_says_in_the_log_where_it_was(zoo_run):
    folder, printed = zoo_run
    logs = "".join(path.read_text(errors="replace") for path in (folder / "results/logs").rglob("*crash*/**/*.log"))
    logs = logs or "".join(p.read_text(errors="replace") for p in (folder / "results/logs").rglob("*.log"))
    assert "Segmentation fault" in logs and "zoo.py" in logs
    assert "xxxxxxxx" not in printed  # what a method prints is in its log


def test_the_end_of_the_run_says_what_failed(zoo_run, capsys):
    from blanketflow.cli.run import show_blankets

    show_blankets(zoo_run[0] / "results")
    shown = capsys.readouterr().out
    for name, (_, status, reason) in ZOO.items():
        if status != "ok":
            assert f"{name}: failed, {reason}" in re.sub(r"\s+", " ", shown), shown
    assert "chatter (1): x0" in shown and "Failed in the evaluation" in shown


def test_the_report_says_what_failed_and_why(zoo_run):
    page = (zoo_run[0] / "results/report.html").read_text(encoding="utf-8")
    for _, status, reason in ZOO.values():
        assert status == "ok" or reason.replace("'", "&#39;") in page
    asked = json.loads((zoo_run[0] / "results/provenance.json").read_text(encoding="utf-8"))
    assert set(asked["config"]["order"]["selectors"]) >= set(ZOO)


def test_the_report_with_failures_in_a_browser(zoo_run, browser, tmp_path):
    complaints = []
    with browser.new_context(viewport={"width": 1280, "height": 900}, offline=True) as context:
        context.set_default_timeout(HANGS * 1000)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: said.type in ("error", "warning") and complaints.append(said.text))
        page.goto((zoo_run[0] / "results/report.html").as_uri())
        failed = page.locator("#failures")
        shown = failed.inner_text()
        page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert complaints == []
    for name, (_, status, reason) in ZOO.items():
        assert status == "ok" or (name in shown and reason in shown)
