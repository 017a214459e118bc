"""SIGKILL, SIGTERM and SIGINT at random moments: what is run again ends with the results of an undisturbed run.

Runs are stopped several times before they may end. `make test-faults` does it at BLANKETFLOW_MOMENTS=50 moments, and
each writes a line of what came of it: `pytest -s` shows them.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import psutil
import pytest

from forked import HANGS
from workflow_runs import assert_equal_results, command, configure, contents, environment, planned, wait_until

pytestmark = [pytest.mark.workflow, pytest.mark.extended]
MOMENTS = int(os.environ.get("BLANKETFLOW_MOMENTS", "3"))
#: How often a run is stopped before it may end.
OFTEN = 5 if MOMENTS > 5 else MOMENTS
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: Whom a signal reaches: the command that was typed, all that it started (Ctrl-C does), or one job.
WHOM = ("command", "group", "job")
FIRST = int(os.environ.get("BLANKETFLOW_FIRST_SEED", "0"))
outcomes = Counter()


@pytest.fixture
def folder(tmp_path, base_config):
    """What `finished` has, in jobs that do as much as may be: what is stopped is work, and no start of a process."""
    return configure(tmp_path, base_config | {"grain": "dataset"})


@pytest.fixture(scope="module")
def expected(finished):
    """The contents of an undisturbed run."""
    return contents(finished / "results")


@pytest.mark.parametrize("seed", range(FIRST, FIRST + -(-MOMENTS // OFTEN)))
def test_a_run_that_is_stopped_again_and_again_ends_like_an_undisturbed_one(seed, folder, expected):
    chance = random.Random(seed)
    for _ in range(OFTEN):
        program, number, whom = chance.choice(("snakemake", "blanketflow")), chance.choice(SIGNALS), chance.choice(WHOM)
        there = min(len([*folder.glob("results/**/*.parquet")]), len(expected) - 1)  # all, if a signal came too late
        said = (folder / "log").stat().st_size if (folder / "log").exists() else 0
        code, whom = stopped(
            folder, program, number, whom, chance.randint(there, len(expected) - 1), 2 * chance.random()
        )
        told = f"{program:11} {number.name:7} to {whom}: exit code {code}"
        print(f"seed {seed}: {told}", flush=True)
        outcomes[told] += 1
        if program == "blanketflow" and code and whom in ("command", "group"):
            log = (folder / "log").read_text()
            # What has hardly been started is ended by the signal itself, which a shell calls 128 + number, too.
            early = "Using workflow specific profile" not in log[said:]
            by_signal = number == signal.SIGKILL or (early and code == -number)
            assert code == (-number if by_signal else 128 + number), log
    finish(folder)
    assert_equal_results(contents(folder / "results"), expected)
    assert planned(folder) == []
    assert [path.name for path in folder.glob("results/**/.*") if path.name != ".snakemake_timestamp"] == []
    assert not [*folder.glob(".snakemake/incomplete/*"), *folder.glob(".snakemake/locks/*")]


def test_a_run_that_is_stopped_while_it_unlocks_does_not_begin(folder):
    (folder / ".snakemake/locks").mkdir(parents=True)
    (folder / ".snakemake/locks/0.input.lock").touch()
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            call("blanketflow", folder), cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    started = psutil.Process(process.pid)
    wait_until(lambda: any(map(unlocks, started.children())), process, folder / "log")
    process.terminate()
    assert process.wait(HANGS) == 128 + signal.SIGTERM
    wait_for_others(folder)
    said = (folder / "log").read_text()
    assert said.endswith("stopped. The same command continues where it stopped.\n") and "Traceback" not in said
    assert not (folder / "results").exists()


def unlocks(process):
    """Whether a process is Snakemake's that unlocks; one that has ended meanwhile is none."""
    try:
        return "--unlock" in process.cmdline()
    except psutil.Error:
        return False


def call(program, folder):
    """A run as a person types it."""
    own = command(folder, "--cores", "2", "--rerun-incomplete")
    return own if program == "snakemake" else [sys.executable, "-m", "blanketflow.cli", "run", *own[3:]]


def stopped(folder, program, number, whom, artefacts, seconds):
    """Start a run, send a signal when so many artefacts are there, and some seconds later; wait until all has ended.

    Returns the exit code and whom the signal hit.
    """
    unlock(folder, program)
    with open(folder / "log", "a") as log:
        process = subprocess.Popen(
            call(program, folder),
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    while process.poll() is None and len([*folder.glob("results/**/*.parquet")]) < artefacts:
        time.sleep(0.02)
    try:
        process.wait(seconds)
        whom = "none: it had ended"
    except subprocess.TimeoutExpired:
        send(process, number, whom)
    # Whatever was hit, the rest ends by itself: nothing hangs.
    code = process.wait(HANGS)
    if whom != "command" or number != signal.SIGKILL or program == "blanketflow":
        wait_for_others(folder)  # after SIGKILL to Snakemake alone its jobs live on, beside the next run's
    return code, whom


def send(process, number, whom):
    if whom == "group":
        os.killpg(process.pid, number)
        return
    if whom == "command":
        process.send_signal(number)
        return
    while process.poll() is None:
        for one in psutil.Process(process.pid).children(recursive=True):
            try:
                if any(".snakemake/scripts" in word for word in one.cmdline()) and "python" in one.name():
                    return one.send_signal(number)
            except psutil.Error:  # it ended meanwhile
                continue
        time.sleep(0.05)


def unlock(folder, program):
    """Where a killed run left its lock: `blanketflow run` does this by itself."""
    if program == "snakemake" and any(folder.glob(".snakemake/locks/*")):
        done = subprocess.run([*call("snakemake", folder), "--unlock"], cwd=folder, env=environment(), check=False)
        assert done.returncode == 0


def finish(folder):
    """Let the last run end; what it says of itself is that all is there."""
    done = subprocess.run(
        call("blanketflow", folder), cwd=folder, env=environment(), capture_output=True, text=True, timeout=HANGS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    wait_for_others(folder)


def wait_for_others(folder):
    """Wait until no process works in a folder; jobs end with their work."""
    deadline = time.monotonic() + HANGS
    while others := [p.pid for p in psutil.process_iter(["cwd"]) if p.info["cwd"] == str(folder)]:
        assert time.monotonic() < deadline, others
        time.sleep(0.2)


@pytest.fixture(scope="module", autouse=True)
def counted():
    yield
    for told, count in sorted(outcomes.items()):
        print(f"{count:3} x {told}")
