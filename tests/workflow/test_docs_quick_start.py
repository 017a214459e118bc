"""The quick start of the documentation, followed to the letter: its files are written, its commands run."""

import re
import shutil
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
TEXT = (REPO / "docs" / "index.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```\w+\n# (\S+)\n(.*?)```", TEXT, re.DOTALL))
COMMANDS = [line for block in re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quick-start") / "project"
    skipped = shutil.ignore_patterns(
        ".git", ".venv", ".snakemake", "results", ".pytest_cache", "__pycache__", "_build", "tests", "benchmarks"
    )
    shutil.copytree(REPO, folder, ignore=skipped)
    (folder / ".venv").symlink_to(sys.prefix)
    for name, body in FILES.items():
        (folder / name).write_text(body, encoding="utf-8")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.iloc[:, :8].assign(outcome=y.map({0: "malignant", 1: "benign"})).to_csv(folder / "my.csv", index=False)
    return folder


def run(command, folder):
    """Run a command as in a clone: blanketflow from its src, beside what the command itself sets."""
    environ = environment(folder)
    command = command.replace("PYTHONPATH=.", f"PYTHONPATH=.:{folder / 'src'}")
    outcome = subprocess.run(command, shell=True, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout[-2000:] + outcome.stderr[-2000:]
    return outcome.stdout


def test_the_three_ways_are_there():
    assert set(FILES) == {"my.yaml", "my_method.py", "beside.yaml"}
    assert len(COMMANDS) == 3


@pytest.mark.extended
def test_one_table_one_answer(project):
    assert "mean" in run(COMMANDS[0], project)


@pytest.mark.extended
def test_several_methods_and_a_report(project):
    run(COMMANDS[1], project)
    assert "my-study" in (project / "results" / "report.html").read_text(encoding="utf-8")


@pytest.mark.extended
def test_a_method_of_my_own_beside_others(project):
    run(COMMANDS[2], project)
    found = pq.read_table(project / "results" / "tables" / "truth.parquet").to_pydict()
    assert {"mine", "iamb", "hiton-mb"} <= set(found["selector"])


def test_the_files_of_a_run_have_the_columns_that_the_page_of_results_says(finished):
    for name, rows in ARTEFACTS.items():
        files = list((finished / "results").glob(re.sub(r"\{\w+\}", "*", path_of(name))))
        assert files, name
        for file in files:
            columns = pq.read_schema(file).names
            assert set(rows.columns) <= set(columns) <= {*rows.columns, *rows.sometimes}, file
    for table, made in TABLES.items():
        assert pq.read_schema(finished / "results" / "tables" / f"{table}.parquet").names == list(made.rows.columns)
