"""How long the plan of a paper's whole study takes, and what it would cost: `python -m studies.cluster.plan_scale`.

25 data sets, 45 selectors, 10 outer splits, 5 folds. The files have the shapes of the papers' data sets and random
cells: the plan reads names, kinds and classes only. Then the plan for a sparse table as wide as Webb Spam: a real file
of 16,000,000 columns, but of few rows; the estimates are those of its 350,000 rows and 1.3e9 cells. Of that, nothing
is run but the jobs on one table of the size of a chunk: a thousandth of the columns and cells, and all rows.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from blanketflow.core.registry import discover
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.specs import Plan
from studies.costs.job_memory import peaks
from studies.shared.clock import command, options
from studies.shared.jobs import REPO
from studies.shared.record import OWN, Record

#: Rows, features and share of cells that are stored, None for dense: UCI, networks, gene expression, NIPS 2003.
SHAPES: list[tuple[int, int, float | None]] = [
    (150, 4, None), (178, 13, None), (208, 60, None), (267, 44, None), (303, 13, None), (351, 34, None),
    (569, 30, None), (846, 18, None), (958, 9, None), (1_000, 20, None), (3_196, 36, None), (4_601, 57, None),
    (5_000, 37, None), (5_000, 223, None), (5_000, 724, None), (8_124, 22, None), (2_600, 500, None),
    (62, 2_000, None), (72, 7_129, None), (102, 12_600, None), (100, 12_000, None), (100, 10_000, None),
    (6_000, 5_000, None), (600, 20_000, 0.005), (1_150, 100_000, 0.009),
]  # fmt: skip
TINY_SHAPES = SHAPES[:2]
SPAM_ROWS, SPAM_COLUMNS, SPAM_STORED, SPAM_CHUNKS = 350_000, 16_000_000, 1_300_000_000, 1_000


def written(folder: Path, shape: tuple[int, int, float | None]) -> dict[str, Any]:
    """Write a table with two classes; return what a config says of it."""
    n, d, stored = shape
    rng = np.random.default_rng([n, d])
    y = np.arange(n) % 2
    path = folder / f"{n}x{d}.npz"
    if stored is not None:
        return _sparse(path, n, d, round(n * d * stored), y)
    if d > 300:
        np.savez(path, X=rng.integers(-99, 99, size=(n, d)).astype(np.float32), y=y)
        return {"path": str(path), "task": "classification"}
    path = path.with_suffix(".csv")
    head = ",".join([*(f"x{j}" for j in range(d)), "y"])
    np.savetxt(path, np.column_stack([rng.normal(size=(n, d)), y]), "%.4g", ",", header=head, comments="")
    return {"path": str(path), "target": "y", "task": "classification"}


def _sparse(path: Path, n: int, d: int, n_stored: int, y: np.ndarray) -> dict[str, Any]:
    from scipy import sparse

    rng = np.random.default_rng(d)
    per_row = max(round(n_stored / n), 1)
    columns = np.sort(rng.integers(0, d, size=(n, per_row)), axis=1).astype(np.int32)
    parts = (np.ones(n * per_row, dtype=np.float32), columns.ravel(), np.arange(n + 1) * per_row)
    sparse.save_npz(path, sparse.csr_matrix(parts, shape=(n, d)), compressed=False)
    np.savetxt(path.with_suffix(".labels"), y, fmt="%d", header="target", comments="")
    target = {"target_path": str(path.with_suffix(".labels")), "task": "classification"}
    return {"path": str(path), **target}


def study(datasets: dict[str, Any]) -> dict[str, Any]:
    """Return the config: every method with its own test, two of them with others, and a time limit each."""
    methods = [name for name in discover("blanketflow.selectors") if name != "true-blanket"]
    selectors: dict[str, Any] = {name: {"method": name, "time_limit": 3_600} for name in methods}
    selectors["iamb-fisher-z"] = {"method": "iamb", "ci_test": "fisher-z", "time_limit": 3_600}
    tests = {name: {"type": name} for name in ("g2", "ppi", "hsic", "lr-mixed", "fisher-z")}
    splits = {"evaluation": 10, "repeats": 1, "final": False}
    models = ["tree", "svm", "knn", "naive-bayes", "lightgbm"]
    return {
        "datasets": datasets,
        "splits": splits,
        "folds": 5,
        "ci_tests": tests,
        "selectors": selectors,
        "models": models,
    }


def cpu_hours(plan: Plan) -> float:
    """Return the estimate of the work of all jobs together, whatever joins it."""
    work, n_splits = plan.estimates.work_seconds, len(plan.splits)
    seconds = 0.0
    for dataset in plan.facts:
        seconds += work("table", {"dataset": dataset})
    for dataset, test in {(dataset, plan.test_id(dataset, selector)) for dataset, selector in plan.pairs}:
        if test:
            seconds += work("ci_test", {"dataset": dataset, "test": test}, n_splits * plan.config.folds)
    for dataset, selector in plan.pairs:
        ids = {"dataset": dataset, "selector": selector}
        seconds += work("grow_shrink", ids, n_splits * len(plan.folds(selector)))
        seconds += work("evaluate", ids, len(plan.evaluation_splits))
    return seconds / 3_600


def dry_run(folder: Path, config: dict[str, Any]) -> tuple[float, float, dict[str, int]]:
    """Return wall and CPU seconds of a dry run, and how many jobs each rule has."""
    path = folder / "my.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    asked = [sys.executable, "-m", "snakemake", "--snakefile", REPO / "Snakefile", "--configfile", path]
    spent = command([*asked, "--directory", folder, "--dry-run", "--quiet", "rules"], folder)
    found = re.findall(r"^(\w+) +(\d+)$", spent.output, re.MULTILINE)
    return spent.wall, spent.cpu, {rule: int(count) for rule, count in found}


def whole_study(record: Record, is_tiny: bool) -> None:
    """Measure the dry run of the whole study, as the Slurm profile joins its work and one job a pair."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        datasets = {f"d{i}": written(folder, shape) for i, shape in enumerate(TINY_SHAPES if is_tiny else SHAPES, 1)}
        for case in ({"grain": "dataset"}, {"job_seconds": 300}):
            config = {**study(datasets), **case}
            begin = time.process_time()
            plan = make_plan(config, (REPO / "scripts").joinpath)
            own = time.process_time() - begin
            wall, cpu, jobs = dry_run(folder, config)
            facts = {"jobs": jobs.get("total", 0), "cpu_s": round(cpu, 1), "make_plan_s": round(own, 2)}
            facts |= {"pairs": len(plan.pairs), "estimated_cpu_hours": round(cpu_hours(plan), 1), "by_rule": jobs}
            record.add("dry run", OWN, [wall], "wall s", datasets=len(datasets), **case, facts=facts)


def wide(record: Record, is_tiny: bool) -> None:
    """Measure the plan of the wide table, estimate what its jobs ask for, and run one chunk of its size."""
    n_columns = 16_000 if is_tiny else SPAM_COLUMNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = {
            "datasets": {"spam": _sparse(folder / "spam.npz", 50, n_columns, 10 * n_columns, np.arange(50) % 2)},
            "splits": {"evaluation": 0, "final": True},
            "folds": 0,
            "chunks": SPAM_CHUNKS,
            "ci_tests": {"g2": {"type": "g2"}},
            "selectors": {"mim": {"method": "mim", "ci_test": "g2", "n_features": 100}},
        }
        plan = make_plan(config, (REPO / "scripts").joinpath)
        wall, cpu, jobs = dry_run(folder, config)
        full = dataclasses.replace(plan.facts["spam"], n_rows=SPAM_ROWS, n_stored=SPAM_STORED)
        plan.facts["spam"] = full
        facts = {"jobs": jobs.get("total", 0), "cpu_s": round(cpu, 1), "columns": n_columns}
        record.add("wide", OWN, [wall], "wall s", rows=50, chunks=SPAM_CHUNKS, facts=facts)
        for stage in ("table", "ci_test_chunk", "gather_ci_test", "grow", "shrink", "aggregate", "tables"):
            ids = {"dataset": "spam", "test": "g2", "selector": "mim"} if stage != "tables" else {}
            ids |= {"chunk": f"1of{SPAM_CHUNKS}"} if stage == "ci_test_chunk" else {}
            asked = plan.estimates.resources(stage, ids)
            estimate = {"seconds": round(plan.estimates.seconds(stage, ids), 1), "minutes_asked": asked.runtime}
            record.add("wide jobs", OWN, [asked.mem_mb], "MB", stage=stage, facts=estimate)
        part = n_columns // SPAM_CHUNKS
        spec = _sparse(folder / "part.npz", SPAM_ROWS, part, SPAM_STORED // SPAM_CHUNKS, np.arange(SPAM_ROWS) % 2)
        config = {key: value for key, value in config.items() if key not in ("datasets", "chunks")}
        for case, seconds, peak in peaks(spec, config, folder, 300, False):
            facts = {"cpu_s": round(seconds, 2)}
            record.add("one chunk", OWN, [peak], "MB", rows=SPAM_ROWS, columns=part, **case, facts=facts)


def main() -> None:
    """Measure, and write plan_scale.json."""
    chosen = options(__doc__).parse_args()
    record = Record("plan_scale", folder=chosen.results)
    whole_study(record, chosen.tiny)
    wide(record, chosen.tiny)


if __name__ == "__main__":
    main()
