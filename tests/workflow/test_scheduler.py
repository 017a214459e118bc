"""What rules/scheduler.smk mends in Snakemake, on jobs that take no time."""

import pytest

from forked import run_snakemake
from workflow_runs import PROJECT, environment

pytestmark = pytest.mark.workflow
JOBS = """
rule all:
    input: expand("{i}.txt", i=range(40))

rule one:
    output: "{i}.txt"
    shell: "touch {output}"
"""
#: The scheduler calls this method while it holds its lock; here SIGTERM comes at that very moment.
STOPPED_AT_ONCE = """
import os, signal
from snakemake.scheduling.job_scheduler import JobScheduler

finish = JobScheduler._finish_jobs

def stop_then_finish(scheduler):
    if scheduler._tofinish:
        os.kill(os.getpid(), signal.SIGTERM)
    finish(scheduler)

JobScheduler._finish_jobs = stop_then_finish
"""


def run(folder, more, *arguments, before=""):
    text = f'{before}\ninclude: "{PROJECT}/rules/scheduler.smk"\n{more}\n{JOBS}'
    (folder / "Snakefile").write_text(text, encoding="utf-8")
    return run_snakemake(["--cores", "1", "--quiet", "all", *arguments], folder, environment())


def test_threads_do_not_grow_with_the_jobs(tmp_path):
    counted = run(tmp_path, "import threading\nonsuccess: print('threads:', threading.active_count())")
    assert counted.returncode == 0, counted.stdout
    assert int(counted.stdout.split("threads:")[1].split()[0]) <= 10


def test_sigterm_ends_the_run_whatever_it_interrupts(tmp_path):
    stopped = run(tmp_path, STOPPED_AT_ONCE)
    assert stopped.returncode == 1, stopped.stdout
    assert 0 < len(list(tmp_path.glob("*.txt"))) < 40
    assert not list(tmp_path.glob(".snakemake/locks/*"))


def test_each_input_is_read_once_for_all_outputs_of_a_job(tmp_path):
    (tmp_path / "in.txt").write_text("1", encoding="utf-8")
    reads = """
import hashlib
digest, reads = hashlib.file_digest, []
hashlib.file_digest = lambda *asked: reads.append(1) or digest(*asked)
"""
    many = """
onsuccess: print("reads:", len(reads))

rule all_of_one:
    input: expand("{i}.out", i=range(30))

rule several:
    input: "in.txt"
    output: expand("{i}.out", i=range(30))
    shell: "touch {output}"
"""
    counted = run(tmp_path, many, "--nolock", "all_of_one", before=reads)
    assert counted.returncode == 0, counted.stdout
    assert int(counted.stdout.split("reads:")[1].split()[0]) < 10


def test_a_version_that_is_not_known_to_have_the_faults_is_left_alone(tmp_path):
    kept = run(
        tmp_path,
        "assert JobScheduler.exit_gracefully is original",
        "-n",
        before="import snakemake\nfrom snakemake.scheduling.job_scheduler import JobScheduler\n"
        "original, snakemake.__version__ = JobScheduler.exit_gracefully, '9.28.0'",
    )
    assert kept.returncode == 0, kept.stdout
