"""What goes wrong on a cluster, done to real jobs. Afterwards the results are those of the undisturbed run."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from slurm_runs import (
    accounted,
    arguments_on_slurm,
    daemon,
    in_queue,
    on_slurm,
    processes_in,
    slurm,
    started,
    states,
    wait_for,
)

from workflow_runs import (
    PROJECT,
    assert_equal_results,
    command,
    configure,
    contents,
    counts,
    environment,
    planned,
    snakemake,
)

CONFIG = {
    "datasets": {"wine": {"source": "sklearn:wine"}},
    "splits": {"evaluation": 0},
    "folds": 2,
    "grain": "split",
    "selectors": {"slow": {"method": "plug_in:Slow"}, "large": {"method": "plug_in:Large"}},
}
SELECT = "grow_shrink_2"
#: More than is estimated for a table of this size: for `Large`.
ENOUGH = ("--set-resources", f"{SELECT}:mem_mb=2000")


def comment(selector):
    return f"rule_{SELECT}_wildcards_wine_full_{selector}"


def outputs(*selectors):
    """What jobs of the select stage write; asked for, they run those jobs only."""
    return ("--", *(f"results/select/wine/full/{selector}/fold-1of2/grow.parquet" for selector in selectors))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of a run on two cores that nothing happened to."""
    folder = configure(tmp_path_factory.mktemp("undisturbed"), CONFIG)
    plug(folder)
    (folder / "plug/been-here").touch()
    snakemake(folder, "--cores", "2", plug_ins=[folder / "plug"])
    return folder


@pytest.fixture
def folder(tmp_path, undisturbed):
    """A copy of it, with `Slow` as if it had never run."""
    shutil.copytree(undisturbed, tmp_path, dirs_exist_ok=True)
    (tmp_path / "plug/been-here").unlink()
    return tmp_path


def take_away(folder, *selectors):
    """Remove what selectors have found."""
    for selector in selectors:
        shutil.rmtree(folder / "results/select/wine/full" / selector)


def plug(folder):
    (folder / "plug").mkdir()
    shutil.copy(Path(__file__).with_name("plug_in.py"), folder / "plug")


def run(folder, *selectors, arguments=ENOUGH, **how):
    """Find on Slurm what was taken away."""
    return on_slurm(folder, *arguments, *outputs(*selectors), plug_ins=[folder / "plug"], **how)


def running(folder, selector):
    """A run on Slurm that finds again what a selector had found, while it lives."""
    take_away(folder, selector)
    return started(folder, *ENOUGH, *outputs(selector), plug_ins=[folder / "plug"])


def wait_until_it_works(folder, process):
    def works():
        assert process.poll() is None, (folder / "log").read_text()
        return (folder / "plug/been-here").exists() and in_queue(folder, "running").get(comment("slow"))

    return wait_for(works, "the job does not start")


def finish(folder, undisturbed):
    """Do the rest here; assert that nothing was lost, nothing is left over, and the lock is free."""
    (folder / "plug/been-here").touch()
    snakemake(folder, "--cores", "2", plug_ins=[folder / "plug"])
    assert_equal_results(contents(folder / "results"), contents(undisturbed / "results"))
    assert planned(folder, plug_ins=[folder / "plug"]) == []
    assert not list((folder / "results").rglob("*.tmp"))
    assert not in_queue(folder)


def test_a_job_that_is_cancelled_is_run_again(folder, undisturbed):
    with running(folder, "slow") as process:
        slurm("scancel", wait_until_it_works(folder, process))
        assert process.wait(400) == 0, (folder / "log").read_text()
    assert states(folder, comment("slow")) == ["CANCELLED", "COMPLETED"]
    finish(folder, undisturbed)


def test_jobs_over_their_memory_or_time_get_more_on_the_second_attempt(folder, undisturbed):
    take_away(folder, "large", "slow")
    run(
        folder,
        "large",
        "slow",
        arguments=["--set-resources", f"{SELECT}:mem_mb=1000*attempt", f"{SELECT}:runtime=attempt"],
    )
    large, slow = ([job for job in accounted(folder) if job["Comment"] == comment(name)] for name in ("large", "slow"))
    assert [(job["ReqMem"], job["TimelimitRaw"]) for job in large] == [("1000M", "1"), ("2000M", "2")]
    assert large[0]["State"] in ("FAILED", "OUT_OF_MEMORY") and large[1]["State"] == "COMPLETED"
    told = (folder / f"logs/slurm/rule_{SELECT}/wine_full_large/{large[0]['JobID']}.log").read_text()
    assert "exceeded memory limit" in told  # as docs/cluster.md says
    assert [(job["TimelimitRaw"], job["State"]) for job in slow] == [("1", "TIMEOUT"), ("2", "COMPLETED")]
    finish(folder, undisturbed)


def test_a_job_goes_on_while_its_node_s_slurmd_is_killed_and_started_again(lab, folder, undisturbed):
    with running(folder, "large") as process:
        job = wait_for(lambda: in_queue(folder, "running").get(comment("large")), "the job does not start")
        node = slurm("squeue", "--noheader", "--format=%N", f"--jobs={job}").strip()
        before = daemon(lab, f"slurmd-{node}")
        before.kill()
        wait_for(lambda: not before.is_running() or before.status() == "zombie", "slurmd lives on")
        subprocess.run([PROJECT / "tests/cluster/lab/start", lab], check=True, timeout=120)
        assert daemon(lab, f"slurmd-{node}").pid != before.pid
        assert process.wait(400) == 0, (folder / "log").read_text()
    assert states(folder, comment("large")) == ["COMPLETED"]
    finish(folder, undisturbed)


def test_what_jobs_finish_after_their_snakemake_was_killed_is_kept(folder, undisturbed):
    plug_ins = [folder / "plug"]
    with running(folder, "large") as process:
        wait_for(lambda: in_queue(folder, "running").get(comment("large")), "the job does not start")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert in_queue(folder).get(comment("large")), "the job ended before its Snakemake"
        refused = snakemake(folder, "--cores", "2", plug_ins=plug_ins, check=False)
        assert refused.returncode != 0 and "unlock" in refused.stdout
        wait_for(lambda: not in_queue(folder), "the job does not end")
    assert states(folder, comment("large")) == ["COMPLETED"]
    snakemake(folder, "--unlock", plug_ins=plug_ins)
    assert SELECT not in counts(planned(folder, plug_ins=plug_ins))
    finish(folder, undisturbed)


def test_blanketflow_run_names_the_jobs_that_a_killed_run_left_in_slurm(folder, undisturbed):
    with running(folder, "slow") as process:
        job = wait_until_it_works(folder, process)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        call = [sys.executable, "-m", "blanketflow.cli", "run"]
        asked = command(folder, *arguments_on_slurm(folder, *outputs("slow")))[3:]
        where = {"cwd": folder, "env": environment(PROJECT, folder / "plug"), "capture_output": True, "text": True}
        refused = subprocess.run([*call, *asked], timeout=120, **where)
        assert refused.returncode == 1 and f"scancel {job}" in refused.stderr
        slurm("scancel", job)
        # The nodes are this machine, so until the job's processes are gone they count as a run that lives.
        wait_for(lambda: not in_queue(folder) and not processes_in(folder), "the job is not cancelled")
        resumed = subprocess.run([*call, *asked], timeout=300, **where)
        assert resumed.returncode == 0 and "an earlier run was killed" in resumed.stderr, resumed.stderr
    finish(folder, undisturbed)


def test_a_full_disk_fails_the_job_and_freed_it_is_done(folder, undisturbed):
    take_away(folder, "large")
    small = folder / "results/select/wine/full/large"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", small], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        run(folder, "large", arguments=["--retries", "0", *ENOUGH], check=False)
        logs = (folder / "results/logs/grow_shrink/wine/full/large/folds-2.log").read_text()
        assert "No space left on device" in logs or "No space left on device" in (folder / "log").read_text()
        assert not list(small.rglob("*.parquet")) and not list(small.rglob("*.tmp"))  # nothing half-written
        subprocess.run(["mount", "-o", "remount,size=10m", small], check=True)
        run(folder, "large")
        finish(folder, undisturbed)
    finally:
        subprocess.run(["umount", "--lazy", small], check=True)
