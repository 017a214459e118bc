"""Two runs at once in one folder: the second is refused, and where locks are off nothing is spoilt."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from forked import HANGS
from workflow_runs import (
    WITHOUT_TABLES,
    assert_equal_results,
    command,
    configure,
    contents,
    environment,
    kill,
    snakemake,
    start,
)

pytestmark = [pytest.mark.workflow, pytest.mark.extended]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder of an undisturbed run of a few jobs."""
    config = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 0, "final": True},
        "folds": 0,
        "selectors": {"mrmr": {"method": "mrmr", "n_features": 3}},
        "models": ["tree"],
    }
    folder = configure(tmp_path_factory.mktemp("small"), config)
    snakemake(folder, "--cores", "2", *WITHOUT_TABLES)
    return folder


def empty_copy(small, folder):
    shutil.copy(small / "my.yaml", folder)
    return folder


def blanketflow_run(folder):
    call = [sys.executable, "-m", "blanketflow.cli", "run", *command(folder, "--cores", "1", *WITHOUT_TABLES)[3:]]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(call, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, **pipes)


def test_a_second_run_is_refused_and_the_first_is_not_disturbed(small, tmp_path):
    folder = empty_copy(small, tmp_path)
    first = start(folder, "1", lambda: any(folder.glob("results/data/**/*.parquet")), *WITHOUT_TABLES)
    os.killpg(first.pid, signal.SIGSTOP)  # so that it does not end before the others begin
    try:
        second = snakemake(folder, "--cores", "1", check=False)
        refusal = f"another run is working on results (process {first.pid} on"
        assert second.returncode == 1 and second.stdout.splitlines()[-1].startswith(refusal), second.stdout
        third = blanketflow_run(folder)
        assert f"another run is working in this folder (process {first.pid})" in third.communicate(timeout=HANGS)[1]
        assert third.returncode == 1
        os.killpg(first.pid, signal.SIGCONT)
        assert first.wait(HANGS) == 0
    finally:
        kill(first)
    assert_equal_results(contents(folder / "results"), contents(small / "results"))


def test_of_two_that_start_at_once_after_a_killed_run_one_works(small, tmp_path):
    folder = empty_copy(small, tmp_path)
    killed = start(folder, "1", lambda: any(folder.glob(".snakemake/locks/*")))
    kill(killed)
    both = [blanketflow_run(folder) for _ in range(2)]
    said = [one.communicate(timeout=HANGS)[1] for one in both]
    assert sorted(one.returncode for one in both) == [0, 1], said
    refused = next(text for one, text in zip(both, said, strict=True) if one.returncode)
    assert refused.count("\n") == 1 and "another run is working in this folder" in refused
    assert_equal_results(contents(folder / "results"), contents(small / "results"))


def test_two_without_a_lock_spoil_no_file(small, tmp_path):
    folder = empty_copy(small, tmp_path)
    call = command(folder, "--cores", "1", "--nolock", *WITHOUT_TABLES)
    with open(folder / "log", "w") as log:
        twins = [subprocess.Popen(call, cwd=folder, env=environment(), stdout=log, stderr=log) for _ in range(2)]
        for twin in twins:
            # Each takes away what the other has made, so that a job may miss its input; but none reads half of a file.
            assert twin.wait(HANGS) in (0, 1)
    expected = contents(small / "results")
    found = contents(folder / "results")
    assert_equal_results(found, {path: expected[path] for path in found})
    snakemake(folder, "--cores", "2", "--rerun-incomplete", *WITHOUT_TABLES)
    assert_equal_results(contents(folder / "results"), expected)
