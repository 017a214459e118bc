"""The most memory that each job of a small run holds: written tables, one config each, one process a job."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from studies.costs.cases import STORED, Shape
from studies.shared.clock import command

JOBS = Path(__file__).parents[1] / "shared" / "jobs.py"
#: Tables, and the form of the file that they are read from.
FILES = {
    "20,000 x 200 numbers": (Shape(20_000, 200, "numbers"), "csv"),
    "500 x 20,000 numbers": (Shape(500, 20_000, "numbers"), "npz"),
    "2,000 x 300,000 sparse": (Shape(2_000, 300_000, "sparse"), "npz"),
}
TINY_FILES = {"40 x 6 numbers": (Shape(40, 6, "numbers"), "csv")}
#: One method for each way of holding a table: tests that code columns, models of columns, a matrix, and all features.
SELECTORS: dict[str, dict[str, Any]] = {
    "ppfs": {"method": "ppfs", "ci_test": "ppi"},
    "iamb": {"method": "iamb", "ci_test": "g2"},
    "jmi": {"method": "jmi", "n_features": 20, "ci_test": "g2"},
    "relief": {"method": "relief", "n_features": 20, "time_limit": 20},
    "fisher-markov": {"method": "fisher-markov", "n_features": 20},
}
CONFIG: dict[str, Any] = {
    "splits": {"evaluation": 2, "final": False},
    "folds": 0,
    "grain": "fold",
    "ci_tests": {"ppi": {"type": "ppi", "n_repeats": 10}, "g2": {"type": "g2"}},
    "selectors": SELECTORS,
    "models": ["tree", "knn", "lightgbm"],
}
#: Rules that are left out where models of all features would take minutes: on tables of more than so many.
SLOW_RULES, MOST_OF_ALL = ("evaluate", "tables", "report"), 1_000


def write(shape: Shape, path: Path) -> dict[str, Any]:
    """Write a table with two classes; return what a config says of it."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=shape.n_rows)
    if shape.form == "sparse":
        from scipy import sparse

        X = sparse.random(shape.n_rows, shape.n_features, STORED, "csr", rng=rng)
        sparse.save_npz(path, X, compressed=False)
        np.savetxt(path.with_suffix(".labels"), y, fmt="%d", header="target", comments="")
        return {"path": str(path), "target_path": str(path.with_suffix(".labels")), "task": "classification"}
    X = rng.normal(size=(shape.n_rows, shape.n_features)) + 0.3 * (y[:, None] * (rng.random(shape.n_features) < 0.05))
    if path.suffix == ".npz":
        np.savez(path, X=X, y=y)
        return {"path": str(path), "task": "classification"}
    cells = np.char.mod("%.6g", X) if shape.form == "numbers" else np.array(["a", "b", "c"])[(X > 0) * 1 + (X > 1)]
    head = [f"x{j}" for j in range(shape.n_features)]
    lines = [",".join([*head, "y"]), *(",".join([*row, f"c{label}"]) for row, label in zip(cells, y, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"path": str(path), "target": "y"}


def peaks(
    spec: dict[str, Any], config: dict[str, Any], folder: Path, limit: float, has_models: bool
) -> Iterator[tuple[dict[str, str], float, float]]:
    """Run the jobs of a config on one data set; yield of each what it is, its CPU seconds, and the most MB it held."""
    path, found = folder / "config.json", folder / "jobs.json"
    path.write_text(json.dumps({"datasets": {"written": spec}, **config}), encoding="utf-8")
    command([sys.executable, JOBS, "plan", path, found], folder)
    for job in json.loads(found.read_text(encoding="utf-8")):
        if job["rule"] in SLOW_RULES and not has_models:
            continue
        path = folder / "job.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        try:
            spent = command([sys.executable, JOBS, "one", path], folder, limit)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{job['rule']} {job['wildcards']}: {error}", file=sys.stderr)
            continue
        chosen = {key: job["wildcards"][key] for key in ("selector", "test", "split") if key in job["wildcards"]}
        yield {"stage": job["rule"], **chosen}, spent.cpu, spent.peak_mb
