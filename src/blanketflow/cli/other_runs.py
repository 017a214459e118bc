"""Other runs in the same folder, which would write the same files as a new one."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .terminal import complain


def jobs_in_slurm() -> list[str]:
    """Return the ids of pending or running Slurm jobs that an earlier run submitted from this folder."""
    if shutil.which("squeue") is None:
        return []
    asked = ["squeue", "--noheader", f"--user={getpass.getuser()}", "--states=pending,running", "--format=%A|%Z|%k"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False)
    # A machine with Slurm's commands but no configuration source belongs to no cluster, so there are no jobs.
    if listed.returncode and "configuration source" not in listed.stderr:
        why = listed.stderr.strip().partition("\n")[0]
        complain(f"cannot check whether Slurm has jobs of an earlier run ({why}); continuing.")
    jobs = [line.split("|", 2) for line in listed.stdout.splitlines()]
    # The executor's comments name the rule. A job without such a comment may be this command itself, submitted by hand.
    return list(dict.fromkeys(i for i, where, comment in jobs if where == str(Path.cwd()) and comment[:5] == "rule_"))


@contextmanager
def folder_lock(folder: Path) -> Iterator[list[int] | None]:
    """Lock a folder against another ``blanketflow run``.

    Yields the file descriptors that the child must inherit, or None if another run holds the lock. The system releases
    the lock when the last process that inherited it ends, however it ends. Without the lock, two runs that start at
    the same moment after a killed run would unlock each other's Snakemake.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        (folder / ".snakemake").mkdir(parents=True, exist_ok=True)
        file = open(folder / ".snakemake/blanketflow.lock", "ab")  # noqa: SIM115
    except (ImportError, OSError):  # Windows, or a read-only folder, which is reported for the results folder
        yield []
        return
    with file:
        try:
            flock(file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            yield None
        except OSError:  # a file system without such locks
            yield []
        else:
            yield [file.fileno()]


def living_runs(folder: Path) -> list[int]:
    """Return the process ids of Snakemake runs in a folder."""
    import psutil

    here, found = folder.resolve(), []
    for process in psutil.process_iter(["pid", "cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        is_snakemake = any(Path(word).name == "snakemake" for word in words[:3])
        if is_snakemake and process.info["cwd"] and Path(process.info["cwd"]) == here:
            found.append(process.info["pid"])
    return found
