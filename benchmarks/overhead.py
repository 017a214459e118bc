"""Measures what the workflow itself costs: run it with `make bench`; the numbers stand in docs/performance.md.

CPU seconds are user plus system time of the process and its children; walls and CPU seconds are medians of REPEATS runs
but for the default run, which is made once.
"""

from __future__ import annotations

import json
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

REPO = Path(__file__).parents[1]
REPEATS = 3


def snakemake(folder: Path, *arguments: str) -> tuple[float, float]:
    """Run Snakemake in a folder; return wall and CPU seconds."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPO / "Snakefile"), "--directory", str(folder)]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*command, *arguments, "--quiet", "all"], check=True, capture_output=True)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median(runs: list[tuple[float, float]]) -> dict[str, float]:
    """Return the medians of walls and CPU seconds."""
    walls, cpus = zip(*runs, strict=True)
    return {"wall_s": round(statistics.median(walls), 2), "cpu_s": round(statistics.median(cpus), 2)}


def write(folder: Path, config: dict) -> str:
    """Write a config and return its name."""
    path = folder / "bench.yaml"
    path.write_text(yaml.safe_dump(config))
    return str(path)


def grow_job(folder: Path) -> dict[str, float]:
    """Return what one grow job costs that has next to nothing to do: PPFS on 13 columns, one job a fold."""
    n_jobs = 20
    base = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 0},
        "folds": n_jobs,
        "ci_tests": {"ppi": {"type": "ppi", "n_repeats": 2}},
        "selectors": {"ppfs": {"method": "ppfs", "alpha": 0.3, "grain": "fold"}},
    }
    config = write(folder, base)
    ready = [f"results/ci_test/wine/full/fold-{k}of{n_jobs}/ppi.parquet" for k in range(1, n_jobs + 1)]
    grown = [f"results/select/wine/full/ppfs/fold-{k}of{n_jobs}/grow.parquet" for k in range(1, n_jobs + 1)]
    snakemake(folder, *ready, "--cores", "1", "--configfile", config)
    idle = median([snakemake(folder, *ready, "--cores", "1", "--configfile", config) for _ in range(REPEATS)])
    runs = []
    for _ in range(REPEATS):
        runs.append(snakemake(folder, *grown, "--cores", "1", "--configfile", config))
        for path in grown:
            (folder / path).unlink()
    busy = median(runs)
    return {key: round((busy[key] - idle[key]) / n_jobs, 3) for key in busy}


def dry_run(folder: Path, n_datasets: int) -> dict[str, float]:
    """Return what a dry run costs, by its number of jobs: 13 selectors, 6 splits, 5 folds, one job a fold."""
    selectors = {f"ppfs-{i}": {"method": "ppfs", "alpha": round(0.01 * (i + 1), 2)} for i in range(13)}
    config = {
        "datasets": {f"wine-{i}": {"source": "sklearn:wine"} for i in range(n_datasets)},
        "selectors": selectors,
        "grain": "fold",
    }
    name = write(folder, config)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(REPO / "Snakefile"), "--directory", str(folder)]
    listed = subprocess.run(
        [*command, "-n", "--quiet", "rules", "--configfile", name], check=True, capture_output=True, text=True
    )
    total = next(line for line in listed.stdout.splitlines() if line.startswith("total"))
    cost = median([snakemake(folder, "-n", "--configfile", name) for _ in range(REPEATS)])
    return {"jobs": int(total.split()[1]), **cost}


def main() -> None:
    """Print all measurements as JSON."""
    results: dict[str, object] = {
        "machine": {"platform": platform.platform(), "processor": _processor(), "python": platform.python_version()}
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        default = str(REPO / "config.yaml")
        results["default run, 2 cores"] = median([snakemake(folder, "--cores", "2", "--configfile", default)])
        again = [snakemake(folder, "--cores", "2", "--configfile", default) for _ in range(REPEATS)]
        results["second run, nothing to do"] = median(again)
    with tempfile.TemporaryDirectory() as name:
        results["a grow job without work"] = grow_job(Path(name))
    for n_datasets in (1, 10):
        with tempfile.TemporaryDirectory() as name:
            results[f"dry run, {n_datasets} data sets"] = dry_run(Path(name), n_datasets)
    print(json.dumps(results, indent=2))


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


if __name__ == "__main__":
    main()
