"""Searches on a Parquet file larger than memory: CPU seconds and memory of each step, and memory over the run.

    python -m studies.many_rows codes FILE --rows 100000000
    python -m studies.many_rows products FILE --rows 20000000 --chart docs/many-rows-products.svg
    python -m studies.many_rows mixed FILE --rows 20000000
    python -m studies.many_rows sizes FOLDER --rows 20000000 --chart studies/many_rows/many-rows-sizes.svg

The file is drawn in blocks unless it is there: rows of ALARM, of which codes are kept, 100 numeric columns, of which
sums of products are, or 60 numbers and 40 labels, of whose indicators, too. Delete it afterwards: numbers take 8 GB.
With `sizes`, `blanketflow select` searches tables of up to so many rows of ALARM, of one byte a cell and of text, each
in a process of its own, whose CPU seconds and peak memory are printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import blanketflow as bf
from blanketflow.ci import get_ci_test
from blanketflow.reporting.plots.theme import svg_on_white
from studies.speed import charts

BLOCK, N_COLUMNS = 2**18, 100
#: Seconds between looks at the memory.
STEP = 0.5
SEARCHES = {
    "codes": [("hiton-mb", "g2"), ("mrmr", "g2"), ("jmi", "g2")],
    "products": [("iamb", "fisher-z"), ("hiton-mb", "fisher-z")],
    "mixed": [("iamb", "lr-mixed"), ("gs", "lr-mixed")],
}
#: Of the tests, and of the methods: with 92 other features hardly any is admitted by chance.
TEST_OPTIONS = {"lr-mixed": {"directions": "linear"}}
OPTIONS: dict[str, dict[str, Any]] = {"mixed": {"alpha": 1e-4}}
TARGETS = {"codes": "HYPOVOLEMIA", "products": "t", "mixed": "t"}
#: What a search of the mixed columns has to find: the target's causes, its effect, and the other causes of that.
BLANKET = {"x10", "x40", "l3", "l20", "x58", "x5", "l30"}
N_LABELS = 40


def main() -> None:
    """Draw the file if need be, run all steps and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", choices=[*SEARCHES, "sizes"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", nargs="+", help="methods to search by")
    parser.add_argument("--chart", type=Path, metavar="FILE.svg", help="draw the memory over the run")
    asked = parser.parse_args()
    if asked.kept == "sizes":
        found = [*over_sizes(asked.file, [n for n in SIZES if n <= asked.rows])]
        if asked.chart:
            asked.chart.write_text(svg_on_white(charts.by_rows(found)), encoding="utf-8")
        return
    if not asked.file.exists():
        draw(asked.file, {"codes": alarm, "products": numbers, "mixed": mixed}[asked.kept](), asked.rows)
    profile = run(asked.file, asked.kept, asked.only)
    if asked.chart:
        asked.chart.write_text(svg_on_white(charts.memory_of_a_run(profile)), encoding="utf-8")


def alarm(as_text: bool = False) -> Iterator[dict[str, Any]]:
    """Yield blocks of rows of ALARM, one byte a cell, or as texts."""
    from blanketflow.data.simulate import read_network

    network, seed = read_network("alarm"), 1000
    while True:
        columns = network.sample(1_000_000, seed).columns
        if as_text:
            yield {c.name: pa.DictionaryArray.from_arrays(c.values, c.levels).cast(pa.string()) for c in columns}
        else:
            yield {column.name: column.values.astype(np.int8) for column in columns}
        seed += 1


#: Rows of the tables of different sizes.
SIZES = [100_000, 500_000, 1_000_000, 4_000_000, 20_000_000, 100_000_000]
#: What is searched in them: the cells, and the arguments of `select`.
OF_SIZES: dict[str, tuple[str, list[str]]] = {
    "hiton-mb, one byte a cell": ("codes", ["--method", "hiton-mb", "--ci-test", "g2"]),
    "hiton-mb, text": ("text", ["--method", "hiton-mb", "--ci-test", "g2"]),
    "auto, text, 20,000 rows sampled": ("text", ["--data-set", "max_rows=20000"]),
    "hiton-mb, 30 numbers": ("numbers", ["--method", "hiton-mb"]),
}

#: The program of a process that runs the command line and prints its CPU seconds and peak memory in kB.
MEASURED = """
import time
from blanketflow.cli import main

try:
    main()
except SystemExit as ended:
    if ended.code:
        raise
with open("/proc/self/status") as file:
    peak = next(line.split()[1] for line in file if line.startswith("VmHWM"))
print(time.process_time(), peak)
"""


def over_sizes(folder: Path, sizes: list[int]) -> Iterator[tuple[str, int, float, float]]:
    """Yield what is searched, the rows, and the CPU seconds and peak memory in GB of `blanketflow select`."""
    folder.mkdir(parents=True, exist_ok=True)
    print("| search | rows | CPU s | peak memory |\n|---|---|---|---|")
    for what, (cells, arguments) in OF_SIZES.items():
        for n_rows in sizes:
            path, are_numbers = folder / f"{cells}-{n_rows}.parquet", cells == "numbers"
            if not path.exists():
                draw(path, numbers(30) if are_numbers else alarm(cells == "text"), n_rows)
            target = ["t"] if are_numbers else [TARGETS["codes"], "--data-set", "task=classification"]
            command = [sys.executable, "-c", MEASURED, "select", str(path), "--target", *target, *arguments]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            seconds, kilobytes = map(float, said.splitlines()[-1].split())
            gigabytes = kilobytes / 1e6
            print(f"| {what} | {n_rows:,} | {seconds:.1f} | {gigabytes:.2f} GB |", flush=True)
            yield what, n_rows, seconds, gigabytes


def numbers(n_columns: int = N_COLUMNS) -> Iterator[dict[str, np.ndarray]]:
    """Yield blocks of Gaussian columns of which each depends on two before it; five are the target's blanket.

    Of fewer columns than 100 the first ones are shown, and the target.
    """
    seed = 1000
    while True:
        x = np.random.default_rng(seed).standard_normal((N_COLUMNS, BLOCK), dtype=np.float32)
        for i in range(3, N_COLUMNS - 1):
            x[i] += 0.4 * x[i - 1] - 0.3 * x[i - 3]
        x[-1] += 0.5 * x[10] - 0.4 * x[40] + 0.3 * x[70]
        x[71] += 0.6 * x[-1] + 0.5 * x[5]
        x[20] += 0.4 * x[-1]
        yield {**{f"x{i}": x[i] for i in range(n_columns - 1)}, "t": x[-1]}
        seed += 1


def mixed() -> Iterator[dict[str, Any]]:
    """Yield blocks of 60 numbers and 40 labels of 2 to 6 levels.

    Labels depend on the label before, numbers on two numbers before and every third on a label. All relations between
    numbers are linear, with normal noise, so that linear regressions given the target's blanket are right.
    """
    seed, texts = 1000, pa.array(["A", "B", "C", "D", "E", "F"])
    while True:
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((N_COLUMNS - N_LABELS, BLOCK), dtype=np.float32)
        labels = [rng.integers(0, 2 + i % 5, BLOCK, dtype=np.int8) for i in range(N_LABELS)]
        for i in range(1, N_LABELS):
            is_like = rng.random(BLOCK, dtype=np.float32) < 0.3
            labels[i][is_like] = labels[i - 1][is_like] % (2 + i % 5)
        *others, child, t = x
        for i in range(3, len(others)):
            x[i] += 0.4 * x[i - 1] - 0.3 * x[i - 3] + (effects(labels[i % N_LABELS]) if i % 3 == 0 else 0)
        t += 0.5 * x[10] - 0.4 * x[40] + effects(labels[3]) + effects(labels[20])
        child += 0.4 * t + 0.5 * x[5] + effects(labels[30])
        numbers = {f"x{i}": row for i, row in enumerate(x[:-1])}
        held = {f"l{i}": pa.DictionaryArray.from_arrays(codes, texts) for i, codes in enumerate(labels)}
        yield {**numbers, **held, "t": t}
        seed += 1


def effects(codes: np.ndarray) -> np.ndarray:
    """Return what each level of a label adds to a number."""
    return np.array([0.0, 0.4, -0.3, 0.2, 0.5, -0.1], dtype=np.float32)[codes]


def draw(path: Path, blocks: Iterator[dict[str, np.ndarray]], n_rows: int) -> None:
    """Write so many rows, a row group for each block."""
    writer, left = None, n_rows
    while left:
        block = next(blocks)
        n = min(left, len(next(iter(block.values()))))
        table = pa.table({name: values[:n] for name, values in block.items()})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=n)
        left -= n
    if writer:
        writer.close()


def run(path: Path, kept: str, only: list[str] | None) -> list[tuple[float, str, float]]:
    """Agree, keep codes or products, and search; return seconds, step and resident set in GB, over the run."""
    begin, profile, done = time.perf_counter(), list[tuple[float, str, float]](), threading.Event()
    at = ["start"]

    def look() -> None:
        while not done.wait(STEP):
            profile.append((time.perf_counter() - begin, at[0], memory("VmRSS")))

    threading.Thread(target=look, daemon=True).start()
    print("| step | CPU s | wall s | largest resident set so far |\n|---|---|---|---|")

    def step(name: str, work: Callable[[], Any]) -> Any:
        at[0], cpu, wall = name, time.process_time(), time.perf_counter()
        found = work()
        seconds = f"{time.process_time() - cpu:.1f} | {time.perf_counter() - wall:.0f}"
        print(f"| {name} | {seconds} | {memory('VmHWM'):.2f} GB |", flush=True)
        return found

    target, keep = TARGETS[kept], bf.pack if kept == "codes" else bf.count
    tables = "relevance" if kept == "codes" else "cross-products"
    agreement = step("agree", lambda: bf.agree(path, target, tables=tables))
    statistics = step("pack" if kept == "codes" else "count", lambda: keep(path, agreement))
    for method, test in SEARCHES[kept]:
        if only is None or method in only:
            configured = get_ci_test(test, **TEST_OPTIONS.get(test, {}))
            selector = bf.get_selector(method, ci_test=configured, **OPTIONS.get(kept, {}))
            found = step(f"{method}, {test}", lambda selector=selector: bf.fit_statistics(selector, statistics))
            print(f"<!-- {found.n_tests_} tests: {', '.join(found.selected_features_)} -->", flush=True)
            if kept == "mixed" and {*found.selected_features_} != BLANKET:
                raise SystemExit(f"{method} found other features than {sorted(BLANKET)}")
    done.set()
    print("\n| second | step | resident set |\n|---|---|---|")
    for second, name, gigabytes in profile[:: max(1, len(profile) // 20)]:
        print(f"| {second:.0f} | {name} | {gigabytes:.2f} GB |")
    return profile


def memory(what: str) -> float:
    """Return the resident set of this process in GB: `VmRSS` now, `VmHWM` at most."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:")) * 1024 / 1e9


if __name__ == "__main__":
    main()
