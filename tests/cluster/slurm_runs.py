"""Running the workflow on the lab's Slurm as a person would, and asking Slurm what became of its jobs."""

import contextlib
import re
import shutil
import subprocess
import time

import psutil

from workflow_runs import PROJECT, command, environment

#: Everything here takes seconds, so Snakemake asks sooner than on a cluster, and nothing is behind NFS.
QUICK = (
    "--slurm-init-seconds-before-status-checks",
    "1",
    "--seconds-between-status-checks",
    "1",
    "--latency-wait",
    "10",
)
FIELDS = "JobID,JobName,State,Account,Partition,ReqMem,TimelimitRaw,ReqCPUS,Comment"


def profile(folder):
    """A copy of profiles/slurm with account and partition filled in."""
    (folder / "profile").mkdir(exist_ok=True)
    shutil.copy(PROJECT / "profiles/slurm/config.yaml", folder / "profile")
    fill_in(folder / "profile/config.yaml")
    return folder / "profile"


def fill_in(path):
    """Write account and partition into a profile."""
    text = path.read_text(encoding="utf-8")
    filled = text.replace("YOUR_ACCOUNT", "analysis").replace("YOUR_PARTITION", "main")
    path.write_text(filled, encoding="utf-8")


def arguments_on_slurm(folder, *arguments):
    return ("--profile", profile(folder), *QUICK, *arguments)


@contextlib.contextmanager
def started(folder, *arguments, plug_ins=()):
    """A run on Slurm while it lives; its output is in `folder`/log. Its jobs end with it."""
    with open(folder / "log", "a") as log:
        call = command(folder, *arguments_on_slurm(folder, *arguments))
        process = subprocess.Popen(
            call, cwd=folder, env=environment(PROJECT, *plug_ins), stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        cancel(folder)


def on_slurm(folder, *arguments, plug_ins=(), check=True, seconds=500):
    """Run on Slurm to the end; return what it printed."""
    with started(folder, *arguments, plug_ins=plug_ins) as process:
        code = process.wait(seconds)
    printed = (folder / "log").read_text(encoding="utf-8")
    assert (code == 0) == check, printed
    return printed


def wait_for(happened, what, seconds=300):
    """Wait until `happened()` is true, and return it."""
    deadline = time.monotonic() + seconds
    while not (answer := happened()):
        assert time.monotonic() < deadline, what
        time.sleep(0.2)
    return answer


def slurm(*words):
    """What a command of Slurm prints."""
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=60).stdout


def in_queue(folder, states="pending,running,completing"):
    """The ids of the jobs of this folder that Slurm has in these states, by their comments."""
    lines = slurm("squeue", "--noheader", f"--states={states}", "--format=%i|%Z|%k").splitlines()
    found = (line.split("|", 2) for line in lines)
    return {comment: job for job, where, comment in found if where == str(folder)}


def cancel(folder):
    for job in in_queue(folder).values():
        slurm("scancel", job)


def names(folder):
    """What the jobs of this folder's runs are called."""
    return re.findall(r"^SLURM run ID: (\S+)$", (folder / "log").read_text(encoding="utf-8"), re.MULTILINE)


def accounted(folder):
    """What Slurm's accounts say of the jobs of this folder, in the order of their submission; these have all ended."""
    # The accounts hear of the end of a job, and only then of its comment, a moment after the queue does.
    return wait_for(lambda: ended_jobs(folder), "Slurm's accounts know no job, or one that does not end")


def ended_jobs(folder):
    """What the accounts say, or None while a job has not ended there."""
    own = f"--name={','.join(names(folder))}", "--starttime=now-2days"  # else none of yesterday, just after midnight
    lines = slurm("sacct", "-X", "--noheader", "--parsable2", *own, f"--format={FIELDS}")
    jobs = [dict(zip(FIELDS.split(","), line.split("|"), strict=True)) for line in lines.splitlines()]
    return jobs if all(job["State"] not in ("PENDING", "RUNNING") for job in jobs) else None


def states(folder, comment):
    """How each attempt of one job ended."""
    return [job["State"].split()[0] for job in accounted(folder) if job["Comment"] == comment]


def daemon(lab, name):
    return psutil.Process(int((lab / "pid" / name).read_text()))


def processes_in(folder):
    """What works in a folder on this machine."""
    return [process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == str(folder)]
