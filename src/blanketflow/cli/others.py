"""Other runs in this folder: they would write beside a new one."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .terminal import complain


def jobs_in_slurm() -> list[str]:
    """Return the ids of Slurm jobs that a run submitted from this folder: they would write beside its successor's."""
    if shutil.which("squeue") is None:
        return []
    asked = ["squeue", "--noheader", f"--user={getpass.getuser()}", "--states=pending,running", "--format=%A|%Z|%k"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False)
    # A machine with Slurm's commands and no cluster's configuration is of no cluster, so that none has jobs.
    if listed.returncode and "configuration source" not in listed.stderr:
        why = listed.stderr.strip().partition("\n")[0]
        complain(f"cannot see whether Slurm has jobs of an earlier run ({why}); going on.")
    jobs = [line.split("|", 2) for line in listed.stdout.splitlines()]
    # The executor's comments name the rule; a job without one may be this very command, which somebody submitted.
    return list(dict.fromkeys(i for i, where, comment in jobs if where == str(Path.cwd()) and comment[:5] == "rule_"))


@contextmanager
def held(folder: Path) -> Iterator[list[int] | None]:
    """Hold a folder against another ``blanketflow run``; yield what the child is to inherit, None if another holds it.

    The system lets go when the last process ends that has inherited it, however that ends. Without it, two that start
    at the same moment after a killed run would unlock each other's Snakemake.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        (folder / ".snakemake").mkdir(parents=True, exist_ok=True)
        file = open(folder / ".snakemake/blanketflow.lock", "ab")  # noqa: SIM115
    except (ImportError, OSError):  # on Windows; where nothing can be written, which is said of the results folder
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
