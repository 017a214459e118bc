"""What starting costs: single jobs, dry runs, a run with nothing to do: `python -m studies.speed.overhead`.

CPU seconds are user plus system time of the process and its children. A single job is also run by itself, with a clock
at each point: the interpreter, what Snakemake puts before a script, imports, loading compiled kernels (numba with
them), reading, writing, the work, and what is left at the end: unloading.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import yaml

from studies.shared.clock import Spent, command, options
from studies.shared.jobs import REPO, refuse_failures, remove_outputs
from studies.shared.record import OWN, Record

REPEATS = 3
JOBS = REPO / "studies" / "shared" / "jobs.py"
#: Jobs of the default config, each with the 5 folds of a split, run by themselves: rule, what spec or wildcards hold.
SINGLE = {
    "ci_test by ppi (numba)": ("ci_test_5", '"test": "ppi"'),
    "ci_test by g2 (numba)": ("ci_test_5", '"test": "g2"'),
    "grow and shrink of ppfs (numba)": ("grow_shrink_5", '"selector": "ppfs"'),
    "grow and shrink of gs (numba)": ("grow_shrink_5", '"selector": "gs"'),
    "grow and shrink of all (no numba)": ("grow_shrink_5", '"selector": "all"'),
    "aggregate": ("aggregate", '"selector": "ppfs"'),
}


def snakemake(folder: Path, *arguments: str) -> Spent:
    """Run Snakemake in a folder."""
    asked = [sys.executable, "-m", "snakemake", "--snakefile", str(REPO / "Snakefile"), "--directory", str(folder)]
    return command([*asked, *arguments, "--quiet", "all"])


def write(folder: Path, config: dict) -> str:
    """Write a config and return its name."""
    path = folder / "bench.yaml"
    path.write_text(yaml.safe_dump(config))
    return str(path)


def single_jobs(record: Record, repeats: int) -> None:
    """Run jobs of the default config by themselves, where all that they need is there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = write(folder, {**yaml.safe_load((REPO / "config.yaml").read_text()), "grain": "split"})
        command([sys.executable, JOBS, "plan", config, folder / "jobs.json"], folder)
        jobs = json.loads((folder / "jobs.json").read_text())
        needed = [job for job in jobs if job["wildcards"].get("dataset", "breast-cancer") == "breast-cancer"]
        needed = [job for job in needed if job["wildcards"].get("split", "full") == "full"]
        needed = [job for job in needed if job["rule"] not in ("evaluate", "tables", "report")]
        (folder / "needed.json").write_text(json.dumps(needed))
        command([sys.executable, JOBS, "run", folder / "needed.json"], folder)
        refuse_failures(needed, folder)
        for title, (rule, holds) in SINGLE.items():
            job = next(job for job in needed if job["rule"] == rule and holds in json.dumps(job))
            (folder / "one.json").write_text(json.dumps(job))
            runs, parts = [], []
            for _ in range(repeats):
                remove_outputs(job, folder)
                spent = command([sys.executable, JOBS, "one", folder / "one.json"], folder)
                parts.append(json.loads(spent.output.splitlines()[-1]))
                parts[-1]["exit"] = spent.cpu - sum(parts[-1].values())
                runs.append(spent.cpu)
            refuse_failures([job], folder)
            split = {part: round(statistics.median(run[part] for run in parts), 3) for part in parts[0]}
            own = round(sum(seconds for part, seconds in split.items() if part != "work"), 3)
            record.add("single job", OWN, runs, job=title, facts={**split, "own": own})


def within_a_run(record: Record, n_jobs: int, repeats: int) -> None:
    """Measure what a job without work adds to a run, Snakemake's part included: PPFS on 13 columns, one job a fold."""
    base = {
        "datasets": {"wine": {"source": "sklearn:wine"}},
        "splits": {"evaluation": 0},
        "folds": n_jobs,
        "ci_tests": {"ppi": {"type": "ppi", "n_repeats": 2}},
        "selectors": {"ppfs": {"method": "ppfs", "alpha": 0.3, "grain": "fold"}},
    }
    ready = [f"results/ci_test/wine/full/fold-{k}of{n_jobs}/ppi.parquet" for k in range(1, n_jobs + 1)]
    grown = [f"results/select/wine/full/ppfs/fold-{k}of{n_jobs}/grow.parquet" for k in range(1, n_jobs + 1)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asked = ("--cores", "1", "--configfile", write(folder, base))
        snakemake(folder, *ready, *asked)
        idle = [snakemake(folder, *ready, *asked) for _ in range(repeats)]
        base_cpu, base_wall = (statistics.median(getattr(run, what) for run in idle) for what in ("cpu", "wall"))
        runs = []
        for _ in range(repeats):
            runs.append(snakemake(folder, *grown, *asked))
            for path in grown:
                (folder / path).unlink()
        walls = [(run.wall - base_wall) / n_jobs for run in runs]
        facts = {"wall_s": round(statistics.median(walls), 3), "jobs": n_jobs}
        each = [(run.cpu - base_cpu) / n_jobs for run in runs]
        record.add("within a run", OWN, each, job="grow of ppfs, next to no work", facts=facts)


def dry_runs(record: Record, repeats: int, counts: tuple[int, ...]) -> None:
    """Measure planning over the number of jobs: 13 selectors, 6 splits, 5 folds, one job a fold."""
    for n_datasets in counts:
        config = {
            "datasets": {f"wine-{i}": {"source": "sklearn:wine"} for i in range(n_datasets)},
            "selectors": {f"ppfs-{i}": {"method": "ppfs", "alpha": round(0.01 * (i + 1), 2)} for i in range(13)},
            "grain": "fold",
        }
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            asked = ("-n", "--configfile", write(folder, config))
            snake = [sys.executable, "-m", "snakemake", "--snakefile", REPO / "Snakefile", "--directory", folder]
            listed = command([*snake, *asked, "--quiet", "rules"]).output.splitlines()
            total = int(next(line for line in listed if line.startswith("total")).split()[1])
            runs = [snakemake(folder, *asked) for _ in range(repeats)]
            record.add("dry run", OWN, [run.cpu for run in runs], jobs=total, facts={"datasets": n_datasets})


def starts(record: Record, repeats: int) -> None:
    """Measure what starting takes before anything is done."""
    programs = {
        "python -c pass": "pass",
        "import numpy": "import numpy",
        "import pyarrow.parquet": "import pyarrow.parquet",
        "import numba": "import numba",
        "import snakemake.script": "import snakemake.script",
        "import blanketflow": "import blanketflow",
        "import blanketflow.workflow.stages": "import blanketflow.workflow.stages",
    }
    for title, program in programs.items():
        runs = [command([sys.executable, "-c", program]).cpu for _ in range(repeats)]
        record.add("start", OWN if "blanketflow" in title else "others", runs, program=title)


def main() -> None:
    """Measure, and write overhead.json."""
    chosen = options(__doc__).parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a job that compiles its modules anew is another story
    record = Record("overhead", folder=chosen.results)
    repeats = 1 if chosen.tiny else REPEATS
    starts(record, repeats if chosen.tiny else 5)
    if chosen.tiny:
        return
    single_jobs(record, repeats)
    within_a_run(record, 20, repeats)
    dry_runs(record, repeats, (1, 10) if chosen.full else (1,))


if __name__ == "__main__":
    main()
