"""The tutorials on kinds of targets, followed to the letter: their code and their commands run, in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from workflow_runs import environment

pytestmark = [pytest.mark.workflow, pytest.mark.extended]
REPO = Path(__file__).parents[2]
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
WRITE, COMMAND = "%%writefile ", "!"


def follow(page, folder):
    """Run the cells of a page in a folder; return what its commands print, and the names of its Python."""
    environ = environment(REPO)
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    said, names = [], {}
    for cell in CELL.findall((REPO / "docs" / "tutorials" / page).read_text(encoding="utf-8")):
        if cell.startswith(WRITE):
            name, _, text = cell.removeprefix(WRITE).partition("\n")
            (folder / name).write_text(text, encoding="utf-8")
        elif cell.startswith(COMMAND):
            for command in cell.splitlines():
                outcome = subprocess.run(
                    command.removeprefix(COMMAND), shell=True, cwd=folder, env=environ, capture_output=True, text=True
                )
                assert outcome.returncode == 0, outcome.stdout[-2000:] + outcome.stderr[-2000:]
                said.append(outcome.stdout)
        else:
            exec(compile(cell, page, "exec"), names)
    return said, names


def test_from_a_cohort_to_survival_curves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said, names = follow("cohort.md", tmp_path)
    events_only, inspected, selected, _, config, run = said
    assert "drop=[days]" in events_only and "600 rows, 5 features" in inspected
    assert "target: {time: days, event: died}" in config and "models: [cox]" not in config
    assert all(f"  {name} " in selected for name in ("age", "marker", "grade")) and "3 of 5 features" in selected
    assert "Uno's concordance" in run and "Report: results/cohort/report.html" in run
    scores = names["scores"].set_index(["selector", "metric"])["mean"]
    assert scores["hiton-mb", "uno-concordance"] > 0.6 and scores["none", "uno-concordance"] == 0.5
    assert sorted(set(names["observed"]["part"])) == [1, 2, 3]
    confirmed = pd.read_csv("results/cohort/tables/confirmed.csv")
    assert set(confirmed["feature"]) >= {"age", "marker"}


def test_counts_need_their_exposure(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said, names = follow("counts.md", tmp_path)
    inspected, selected = said
    assert "target_kind=count" in inspected and "2 of 4 features" in selected
    assert set(names["search"].selected_features_) == {"age", "smoker"}
    fit = names["bf"].IAMB(target_kind="count", alpha=0.01).fit
    assert "years" in fit(names["table"].drop(columns="visits"), names["table"]["visits"]).selected_features_
    assert "distance" in fit(names["X"], names["table"]["visits"]).selected_features_
    scores = names["found"].scores.set_index(["selector", "metric"])["mean"]
    assert scores["iamb", "poisson-deviance"] < scores["none", "poisson-deviance"]
