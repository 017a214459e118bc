"""Other runs in this folder: they would write beside a new one."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from pathlib import Path

from .terminal import complain


def jobs_in_slurm() -> list[str]:
    """Return the ids of Slurm jobs that a run submitted from this folder: they would write beside its successor's."""
    if shutil.which("squeue") is None:
        return []
    asked = ["squeue", "--noheader", f"--user={getpass.getuser()}", "--states=pending,running", "--format=%A|%Z|%k"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False)
    if listed.returncode:
        why = listed.stderr.strip().partition("\n")[0]
        complain(f"cannot see whether Slurm has jobs of an earlier run ({why}); going on.")
    jobs = [line.split("|", 2) for line in listed.stdout.splitlines()]
    # The executor's comments name the rule; a job without one may be this very command, which somebody submitted.
    return list(dict.fromkeys(i for i, where, comment in jobs if where == str(Path.cwd()) and comment[:5] == "rule_"))


def living_runs() -> list[int]:
    """Return the process ids of Snakemake runs in this folder."""
    import psutil

    here, found = Path.cwd(), []
    for process in psutil.process_iter(["pid", "cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        is_snakemake = any(Path(word).name == "snakemake" for word in words[:3])
        if is_snakemake and process.info["cwd"] and Path(process.info["cwd"]) == here:
            found.append(process.info["pid"])
    return found
