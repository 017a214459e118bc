"""Killed in the middle and started again: the results of an undisturbed run."""

import os
import signal
import subprocess
import sys

import pytest

from workflow_runs import (
    PROJECT,
    assert_equal_results,
    command,
    configure,
    contents,
    environment,
    kill,
    planned,
    snakemake,
    start,
)

pytestmark = pytest.mark.workflow


def start_until_the_middle(folder):
    return start(folder, "2", lambda: len(list((folder / "results").glob("ci_test/**/*.parquet"))) >= 3)


def blanketflow_run(folder, *arguments):
    call = [sys.executable, "-m", "blanketflow.cli", "run", *command(folder, *arguments)[3:]]
    return subprocess.run(call, cwd=folder, env=environment(), capture_output=True, text=True, timeout=300)


def assert_undisturbed(folder, finished):
    assert_equal_results(contents(folder / "results"), contents(finished / "results"))
    assert planned(folder) == []


def test_unlock_and_run_after_the_whole_group_was_killed(tmp_path, base_config, finished):
    folder = configure(tmp_path, base_config)
    process = start_until_the_middle(folder)
    kill(process)
    assert not (folder / "results/report.html").exists()
    refused = snakemake(folder, "--cores", "2", check=False)
    assert refused.returncode != 0 and "unlock" in refused.stdout
    snakemake(folder, "--unlock")
    snakemake(folder, "--cores", "2")
    assert_undisturbed(folder, finished)


def test_blanketflow_run_refuses_beside_a_living_run_and_goes_on_after_a_killed_one(tmp_path, base_config, finished):
    folder = configure(tmp_path, base_config)
    process = start_until_the_middle(folder)
    try:
        second = blanketflow_run(folder, "--cores", "1")
        assert process.poll() is None
        assert second.returncode == 1
        assert "another run is working in this folder" in second.stderr and str(process.pid) in second.stderr
    finally:
        os.kill(process.pid, signal.SIGKILL)  # its jobs live on, and may still write
        process.wait()
    assert not (folder / "results/report.html").exists()
    resumed = blanketflow_run(folder, "--cores", "2")
    assert resumed.returncode == 0, resumed.stderr
    assert "an earlier run was killed" in resumed.stderr
    assert "mrmr (3): " in resumed.stdout and resumed.stdout.rstrip().endswith("results/report.html")
    assert_undisturbed(folder, finished)


def test_the_command_line_lists_methods_and_ci_tests():
    call = [sys.executable, "-m", "blanketflow.cli", "list"]
    done = subprocess.run(call, cwd=PROJECT, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert all(f"\n  {name} " in done.stdout for name in ("ppfs", "gs", "mrmr", "ppi", "g2", "fisher-z"))
