"""The commands of the documentation's page of the workflow, run as they are written, in a copy of the project."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = [pytest.mark.workflow, pytest.mark.extended]
REPO = Path(__file__).parents[2]
TEXT = (REPO / "docs" / "workflow.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines() if line]
COMMANDS = [line for line in LINES if not line.endswith("snakemake --lint")]  # which `make lint` runs


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("workflow-page") / "project"
    skipped = shutil.ignore_patterns(".git", ".venv", ".snakemake", "results", ".pytest_cache", "__pycache__")
    shutil.copytree(REPO, folder, ignore=skipped)
    (folder / ".venv").symlink_to(sys.prefix)
    return folder


def run(command, folder):
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)


def test_the_page_has_commands():
    assert any("--cores 16" in command for command in COMMANDS)
    assert any("--configfile" in command for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_command(project, command):
    outcome = run(command, project)
    assert outcome.returncode == 0, outcome.stdout[-2000:] + outcome.stderr[-2000:]


def test_afterwards_the_default_results_are_there_and_a_further_run_does_nothing(project):
    assert (project / "results" / "report.html").is_file()
    outcome = run(".venv/bin/blanketflow run --cores 2", project)
    assert outcome.returncode == 0
    assert "Nothing to be done" in outcome.stdout + outcome.stderr
    shown = outcome.stdout
    datasets = yaml.safe_load((project / "config.yaml").read_text(encoding="utf-8"))["datasets"]
    for expected in (*datasets, "ppfs (", "Report: results/report.html"):
        assert expected in shown, shown[-2000:]
