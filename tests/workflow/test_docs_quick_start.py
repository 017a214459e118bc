"""The quick start of the documentation, followed to the letter: its commands run, on a table of one's own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_breast_cancer

from blanketflow.data.artefact_columns import ARTEFACTS
from blanketflow.reporting.tables import TABLES
from blanketflow.workflow.layout import path_of
from workflow_runs import environment

pytestmark = pytest.mark.workflow
REPO = Path(__file__).parents[2]
README = (REPO / "README.md").read_text(encoding="utf-8")
TEXT = (REPO / "docs" / "index.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


def test_the_readme_begins_with_a_clone_and_then_has_the_same_commands():
    first, second = re.findall(r"```\n(.*?)\n```", README, re.DOTALL)[:2]
    assert [line.partition("#")[0].strip() for line in first.splitlines()] == ["make run", "make test"]
    assert second.splitlines() == COMMANDS[:3]


@pytest.fixture
def typed(tmp_path):
    """Return a function that runs a command in a folder that holds nothing but the table, and returns what it says."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    table = X.iloc[::8, :3].assign(outcome=y.map({0: "malignant", 1: "benign"}))
    table.to_csv(tmp_path / "my.csv", index=False)
    environ = environment(REPO)
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"

    def run(command):
        outcome = subprocess.run(command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stdout[-2000:] + outcome.stderr[-2000:]
        return outcome.stdout

    return run


@pytest.mark.extended
def test_a_table_of_ones_own_ends_as_a_report(typed, tmp_path):
    install, *others = COMMANDS
    assert install.startswith("pip install . ")
    said = "".join(map(typed, others))
    assert "Report: results/my/report.html" in said and "Keep" in said
    assert "outcome" in (tmp_path / "results" / "my" / "report.html").read_text(encoding="utf-8")


def test_the_commands_of_the_readme_answer_or_plan(typed):
    _, init, run = (command.partition("#")[0] for command in COMMANDS[:3])
    typed(init)
    assert "auto" in typed(f"{run} -n")
    assert "`blanketflow select my.csv --target outcome`" in README
    assert "Keep" in typed("blanketflow select my.csv --target outcome")


def test_the_files_of_a_run_have_the_columns_that_the_page_of_results_says(finished):
    only_if_asked = {"counts", "confirm"}  # by shards and confirm
    for name, rows in ((name, rows) for name, rows in ARTEFACTS.items() if name not in only_if_asked):
        files = list((finished / "results").glob(re.sub(r"\{\w+\}", "*", path_of(name))))
        assert files, name
        for file in files:
            columns = pq.read_schema(file).names
            assert set(rows.columns) <= set(columns) <= {*rows.columns, *rows.sometimes}, file
    for table, made in TABLES.items():
        assert pq.read_schema(finished / "results" / "tables" / f"{table}.parquet").names == list(made.rows.columns)
