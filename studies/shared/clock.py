"""How studies measure: CPU seconds of calls, and CPU, wall and memory of commands."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from studies.shared.record import RESULTS

#: One thread everywhere, so that CPU seconds are those of one core.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")

#: How the measuring process says that it stopped the command, which must not outlive it.
TOO_LONG = 124


def options(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with what all studies of speed are asked."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="where the JSON file goes")
    parser.add_argument("--full", action="store_true", help="also what takes minutes a number")
    parser.add_argument("--tiny", action="store_true", help="the smallest sizes, to see that it works")
    return parser


def cpu_seconds(work: Callable[[], object], most: int = 5, budget: float = 10.0) -> list[float]:
    """Return the CPU seconds of repeated calls: at most so many, and none begins after so many seconds in all."""
    found: list[float] = []
    while not found or (len(found) < most and sum(found) < budget):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return found


@dataclass(frozen=True)
class Spent:
    """What a command took, its children included.

    Attributes
    ----------
    cpu, wall : float
        Seconds; CPU is user plus system.
    peak_mb : float
        Resident memory of the largest process, in MB.
    output : str
        What it printed.
    """

    cpu: float
    wall: float
    peak_mb: float
    output: str


def command(arguments: Sequence[str | Path], folder: Path | None = None, limit: float | None = None) -> Spent:
    """Run a command on one thread and return what it took; raise `subprocess.CalledProcessError` if it fails.

    Raises
    ------
    subprocess.TimeoutExpired
        After `limit` seconds.
    """
    # The measuring process forks nothing but the command, and asks the system for this child alone.
    program = (
        "import json, resource, subprocess, sys, time\n"
        "begin = time.perf_counter()\n"
        "limit = float(sys.argv[1]) or None\n"
        "try:\n"
        "    done = subprocess.run(sys.argv[2:], capture_output=True, text=True, timeout=limit)\n"
        "except subprocess.TimeoutExpired:\n"
        f"    sys.exit({TOO_LONG})\n"
        "wall, used = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "sys.stderr.write(done.stderr)\n"
        "spent = [used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024]\n"
        "print(json.dumps([done.returncode, *spent, done.stdout]))\n"
    )
    asked = [sys.executable, "-c", program, str(limit or 0), *map(str, arguments)]
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, env=environment)
    if done.returncode == TOO_LONG:
        raise subprocess.TimeoutExpired(list(map(str, arguments)), limit)
    done.check_returncode()
    import json

    code, cpu, wall, peak, output = json.loads(done.stdout)
    if code:
        raise subprocess.CalledProcessError(code, list(map(str, arguments)), output, done.stderr)
    return Spent(cpu, wall, peak, output)
