"""Killed in the middle and started again: the results of an undisturbed run."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from blanketflow.cli import main
from forked import HANGS
from workflow_runs import (
    assert_equal_results,
    command,
    configure,
    contents,
    counts,
    environment,
    kill,
    planned,
    snakemake,
    start,
)

pytestmark = pytest.mark.workflow


@pytest.fixture
def folder(tmp_path, base_config):
    """What `finished` has, with jobs that work on all splits."""
    return configure(tmp_path, base_config | {"grain": "dataset"})


def start_until_the_middle(folder):
    return start(folder, "2", lambda: len(list((folder / "results").glob("ci_test/**/*.parquet"))) >= 3)


def blanketflow_run(folder, *arguments):
    call = [sys.executable, "-m", "blanketflow.cli", "run", *command(folder, *arguments)[3:]]
    return subprocess.run(call, cwd=folder, env=environment(), capture_output=True, text=True, timeout=HANGS)


def assert_undisturbed(folder, finished):
    assert_equal_results(contents(folder / "results"), contents(finished / "results"))
    assert planned(folder) == []


def test_unlock_and_run_after_the_whole_group_was_killed(folder, finished):
    """On one core, while `finished` had two: neither that nor the grain of the jobs decides a result."""
    process = start_until_the_middle(folder)
    kill(process)
    assert not (folder / "results/report.html").exists()
    refused = snakemake(folder, "--cores", "2", check=False)
    assert refused.returncode != 0 and "unlock" in refused.stdout
    snakemake(folder, "--unlock")
    snakemake(folder, "--cores", "1", "--omit-from", "evaluate")
    found, undisturbed = contents(folder / "results"), contents(finished / "results")
    assert_equal_results(found, {path: undisturbed[path] for path in found})
    assert {path.split("/")[0] for path in undisturbed.keys() - found.keys()} <= {"evaluate", "tables"}
    assert set(counts(planned(folder))) <= {"evaluate", "tables", "report"}


@pytest.mark.extended
def test_blanketflow_run_refuses_beside_a_living_run_and_goes_on_after_a_killed_one(folder, finished):
    process = start_until_the_middle(folder)
    os.killpg(process.pid, signal.SIGSTOP)  # so that it does not end before the second begins
    try:
        second = blanketflow_run(folder, "--cores", "1")
        assert second.returncode == 1
        assert "another run is working in this folder" in second.stderr and str(process.pid) in second.stderr
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGCONT)  # its jobs live on, and may still write
    assert not (folder / "results/report.html").exists()
    resumed = blanketflow_run(folder, "--cores", "2")
    assert resumed.returncode == 0, resumed.stderr
    assert "an earlier run was killed" in resumed.stderr
    assert "mrmr (3): " in resumed.stdout and resumed.stdout.rstrip().endswith("results/report.html")
    assert_undisturbed(folder, finished)


def test_the_command_line_lists_methods_and_ci_tests(capsys):
    assert main(["list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n  {name} " in listed for name in ("ppfs", "gs", "mrmr", "ppi", "g2", "fisher-z"))
