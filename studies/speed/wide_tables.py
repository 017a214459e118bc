"""Seconds and memory of the discrete filters and of PPFS's first stage on very wide, sparse tables.

`python -m studies.speed.wide_tables` makes sparse tables of 1,000 rows and 1,000,000 columns and prints one line of
JSON a measurement: CPU seconds of one warm call on one core, and the most memory that its process, which is a fresh
one, ever held, the matrix itself (`matrix_mb`) included. `--columns 100000 --rows 800 --dense` also does the same with
the dense matrix; `--npz FILE --labels FILE` measures a matrix of scipy's format instead, with one class a line after a
header.

Works are `bf.<Method>(n_features=20, ci_test="g2").fit(X, y)` for `mim`, `mrmr`, `jmi` and `cmim`, and for `ppi` the
PPI test of every column given nothing, 5 repeats, which is the ci_test stage of `ppfs`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column

#: What the cells held are, drawn with a generator.
FORMS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "binary": lambda rng, size: np.ones(size, dtype=np.int8),
    "counts": lambda rng, size: rng.integers(1, 10, size, dtype=np.int8),
    "floats": lambda rng, size: rng.standard_normal(size),
}
WORKS = ("mim", "mrmr", "jmi", "cmim", "ppi")
#: Cells drawn in one go; columns of the table with which a process warms up.
CELLS, FEW = 2**26, 300


def wide(form: str, n_rows: int, n_columns: int, density: float) -> tuple[Any, np.ndarray]:
    """Return a sparse matrix, made without a larger one, and two classes that ten of its columns tell of."""
    rng = np.random.default_rng(n_columns)
    most = int(n_rows * n_columns * density * 1.05) + 1000
    rows, starts = np.empty(most, dtype=np.int32), np.zeros(n_columns + 1, dtype=np.int32)
    width = max(1, CELLS // n_rows)
    for start in range(0, n_columns, width):
        stop = min(start + width, n_columns)
        # Cells are held independently of each other, so the gaps between them are geometric.
        n_gaps = int((stop - start) * n_rows * density * 1.02) + 1000
        at = np.cumsum(rng.geometric(density, n_gaps)) - 1
        at = at[: np.searchsorted(at, (stop - start) * n_rows)]
        own_starts = starts[start] + np.searchsorted(at, np.arange(stop - start + 1) * n_rows)
        starts[start : stop + 1] = own_starts
        rows[own_starts[0] : own_starts[-1]] = at % n_rows
    rows = rows[: starts[-1]]
    X = sparse.csc_matrix((FORMS[form](rng, len(rows)), rows, starts), shape=(n_rows, n_columns))
    score = np.asarray((X[:, :: max(1, n_columns // 10)] != 0).sum(axis=1)).ravel() + rng.random(n_rows)
    return X, (score > np.median(score)).astype(np.int64)


def do(work: str, X: Any, y: np.ndarray) -> list[str]:
    """Do one work; return the features it likes best."""
    if work != "ppi":
        return bf.get_selector(work, n_features=20, ci_test="g2").fit(X, y).selected_features_
    table = as_table(X).with_column(Column("target", "categorical", y.astype(np.int32), ("0", "1")))
    results = bf.get_ci_test("ppi", n_repeats=5).bind(table).test_many(np.arange(X.shape[1]), "target")
    return [table.names[at] for at in np.argsort(-results.statistic, kind="stable")[:20]]


def measured(options: argparse.Namespace) -> dict[str, object]:
    """Measure one work in this process."""
    form, density = options.forms[0], options.densities[0]
    if options.npz:
        X, form = sparse.load_npz(options.npz).tocsc(), Path(options.npz).stem
        y = np.unique(np.loadtxt(options.labels, dtype=str, skiprows=1), return_inverse=True)[1]
        density = X.nnz / np.prod(X.shape, dtype=float)
    else:
        X, y = wide(form, options.rows, options.columns, density)
    matrix_mb = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
    if options.dense:
        X = X.toarray()
        matrix_mb = X.nbytes / 1e6
    do(options.works[0], X[:, :FEW], y)
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    best = do(options.works[0], X, y)
    seconds, after = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "work": options.works[0],
        "form": form,
        "matrix": "dense" if options.dense else "sparse",
        "rows": X.shape[0],
        "columns": X.shape[1],
        "density": round(density, 5),
        "matrix_mb": round(matrix_mb, 1),
        "cpu_s": round(seconds, 3),
        "peak_mb": round(after / 1024, 1),
        "peak_before_mb": round(before / 1024, 1),
        "best": best[:5],
    }


def main() -> None:
    """Measure every work on every table, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--columns", type=int, default=1_000_000)
    parser.add_argument("--densities", type=float, nargs="+", default=[0.05, 0.01])
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--works", nargs="+", choices=WORKS, default=list(WORKS))
    parser.add_argument("--npz", help="a matrix as scipy.sparse.save_npz writes it")
    parser.add_argument("--labels", help="its classes, one a line after a header")
    parser.add_argument("--dense", action="store_true", help="also measure the dense matrix")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options)))
        return
    kinds = [["--forms", form, "--densities", str(p)] for form in options.forms for p in options.densities]
    if options.npz:
        kinds = [["--npz", options.npz, "--labels", options.labels]]
    for kind in kinds:
        for work in options.works:
            for dense in [[], ["--dense"]] if options.dense else [[]]:
                shape = ["--rows", str(options.rows), "--columns", str(options.columns)]
                command = [sys.executable, __file__, "--one", "--works", work, *shape, *kind, *dense]
                print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="", flush=True)


if __name__ == "__main__":
    main()
