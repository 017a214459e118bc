"""How cost grows with rows, columns and repeats, and what memory it takes: `python -m studies.speed.scaling`.

One thread, CPU seconds, least of three as a rule; numbers drawn from a normal distribution, two classes that follow ten
columns. README.md shows the slopes on logarithmic axes: 1 is linear. Memory and very wide tables are measured
in a process each.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors import get_method
from studies.shared.clock import command, cpu_seconds, options
from studies.shared.record import Record

#: Where the others stand while one of them varies, and what it takes then.
BASE = {"n": 500, "d": 500, "B": 5}
VARIED = {
    "n": (250, 500, 1_000, 2_000, 4_000, 8_000),
    "d": (125, 250, 500, 1_000, 2_000, 4_000),
    "B": (5, 10, 20, 40, 80),
}
#: Counting is so fast that it shows its growth in larger tables only.
BASE_OF_COUNTS = {"n": 1_000, "d": 10_000, "B": 5}
VARIED_OF_COUNTS = {
    "n": (500, 1_000, 2_000, 4_000, 8_000, 16_000),
    "d": (2_500, 5_000, 10_000, 20_000, 40_000, 80_000),
}
TINY = {"n": (40, 80), "d": (12, 24), "B": (5, 10)}
#: Seconds after which a process of its own is stopped.
LIMIT = 300


def numbers(n: int, d: int) -> tuple[Table, Column]:
    """Return noise and ten columns that two classes follow."""
    rng = np.random.default_rng([n, d])
    X = rng.normal(size=(n, d))
    y = X[:, :10].sum(axis=1) + 3 * rng.normal(size=n) > 0
    return as_table(X), _classes(y)


def bits(n: int, d: int) -> tuple[Table, Column]:
    """Return columns of 0 and 1, a tenth of them ones."""
    rng = np.random.default_rng([n, d])
    X = (rng.random((n, d), dtype=np.float32) < 0.1).astype(np.int8)
    return as_table(X), _classes(X[:, :10].sum(axis=1) + rng.random(n) > 1.5)


def _classes(y: np.ndarray) -> Column:
    return Column("target", "categorical", y.astype(np.int32), ("0", "1"))


def marginal(test: str, table: Table, target: Column, **asked: object) -> None:
    """Test every column given nothing; binding, sorting and coding count."""
    bound = bf.get_ci_test(test, **asked).bind(table.with_column(target), target="target")
    bound.test_many(np.arange(len(table)), "target")


def whole(method: str, test: bf.ci.base.CITest, table: Table, target: Column, **asked: object) -> int:
    """Run all stages on all rows; return how many candidates growth found."""
    return len(run_fold(get_method(method, "benchmark", asked), test, table, target, 0).candidates)


WORK: dict[str, tuple[Callable[[int, int], tuple[Table, Column]], Callable[..., object]]] = {
    "ppi, marginal": (numbers, lambda t, y, B: marginal("ppi", t, y, n_repeats=B)),
    "ppfs": (numbers, lambda t, y, B: whole("ppfs", bf.get_ci_test("ppi", n_repeats=B), t, y)),
    "g2, marginal": (bits, lambda t, y, B: marginal("g2", t, y)),
    "mim": (bits, lambda t, y, B: whole("mim", bf.get_ci_test("g2"), t, y, n_features=20)),
}


def grow(record: Record, names: Iterable[str], is_tiny: bool) -> None:
    """Measure over each of n, d and B."""
    for name in names:
        make, work = WORK[name]
        is_counted = make is bits
        base = BASE_OF_COUNTS if is_counted else BASE
        for varied, sizes in (VARIED_OF_COUNTS if is_counted else VARIED).items():
            for size in TINY[varied] if is_tiny else sizes:
                shape = {**({"n": 40, "d": 12, "B": 5} if is_tiny else base), varied: size}
                table, target = make(shape["n"], shape["d"])
                found: list = []
                seconds = cpu_seconds(lambda: found.append(work(table, target, shape["B"])), 3, 20)  # noqa: B023
                facts = {"candidates": found[0]} if found[0] is not None else {}
                record.add(f"growth in {varied}", "blanketflow", seconds, work=name, **shape, facts=facts)


#: What wide_tables.py measures, each in a process of its own: work, rows, columns, form, share of cells held.
MEMORY = [
    ("ppi", 500, 10_000, "floats", 1.0),
    ("ppi", 500, 100_000, "floats", 1.0),
    ("mim", 800, 100_000, "binary", 0.05),
    ("ppi", 1_000, 1_000_000, "binary", 0.01),
    ("mim", 1_000, 1_000_000, "binary", 0.01),
]
MEMORY_TINY = [("ppi", 40, 20, "floats", 1.0), ("mim", 40, 20, "binary", 0.2)]


def memory(record: Record, cells: list[tuple[str, int, int, str, float]]) -> None:
    """Record CPU seconds and the most memory that a process held, the matrix included."""
    for work, n, d, form, density in cells:
        asked = ["--one", "--works", work, "--rows", n, "--columns", d, "--forms", form, "--densities", density]
        asked += ["--dense"] if density == 1 else []
        try:
            spent = command([sys.executable, Path(__file__).with_name("wide_tables.py"), *asked], limit=LIMIT)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
            print(f"{work} of {n} x {d}: {error}", file=sys.stderr)
            continue
        found = json.loads(spent.output.splitlines()[-1])
        case = {"work": work, "n": n, "d": d, "cells": form if density == 1 else f"{form}, {density:.0%} held"}
        facts = {key: found[key] for key in ("matrix_mb", "peak_mb")}
        record.add("memory", "blanketflow", [found["cpu_s"]], **case, facts=facts)


def main() -> None:
    """Measure, and write scaling.json."""
    chosen = options(__doc__).parse_args()
    record = Record("scaling", folder=chosen.results)
    with threadpool_limits(1):
        for make, work in WORK.values():
            work(*make(60, 12), 5)  # loads the kernels
        grow(record, WORK, chosen.tiny)
    memory(record, MEMORY_TINY if chosen.tiny else MEMORY)


if __name__ == "__main__":
    main()
