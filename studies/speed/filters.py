"""The filters beside other packages, over width and kind of columns: `python -m studies.speed.filters`.

One thread, CPU seconds, 20 features ranked. Ours: from a matrix to the ranking, with coding, packing, marginal tests
and their p-values; `fit` is scikit-learn's call. Packages from PyPI are measured where they take less than minutes;
R's praznik where Rscript has it. FEAST is C code that must be built by hand; what it takes goes to a file of its own:
`gcc -O3 -march=native -fPIC -shared -DCOMPILE_C -Iinclude -I<MIToolbox>/include src/*.c <MIToolbox>/src/*.c -lm -o
libfeast.so`, then `--feast libfeast.so`.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # fast-select's kernels are parallel

import numpy as np
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors import get_method
from studies.shared.clock import cpu_seconds, options
from studies.shared.record import OWN, Record
from studies.speed import filter_peers
from studies.speed.rscript import praznik_seconds

ROWS, PSI, REPEATS = 800, 20, 3
#: Calls of milliseconds are repeated so often, within so many seconds.
MOST_REPEATS, LASTING = 60, 0.2
METHODS = ("mim", "mrmr", "jmi", "cmim", "disr", "if", "mifs", "cife", "mimr", "mri", "relax-mrmr", "fcbf")
SPARSE = "binary, 5 % ones"
FORMS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    SPARSE: lambda rng, d: (rng.random((ROWS, d), dtype=np.float32) < 0.05).astype(np.int8),
    "binary, half ones": lambda rng, d: rng.integers(0, 2, (ROWS, d), dtype=np.int8),
    "5 levels": lambda rng, d: rng.integers(0, 5, (ROWS, d), dtype=np.int8),
    "10 levels": lambda rng, d: rng.integers(0, 10, (ROWS, d), dtype=np.int8),
    "labels of 5 levels": lambda rng, d: rng.integers(0, 5, (ROWS, d), dtype=np.int8),
    "labels of 20 levels": lambda rng, d: rng.integers(0, 20, (ROWS, d), dtype=np.int8),
    "integers 0 .. 999, binned": lambda rng, d: rng.integers(0, 1000, (ROWS, d), dtype=np.int16),
    "floats, binned": lambda rng, d: rng.random((ROWS, d), dtype=np.float32),
}


def data(form: str, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix and two classes that ten of its columns tell of; five more are noisy copies of these."""
    rng = np.random.default_rng(width)
    X = FORMS[form](rng, width)
    relevant = rng.choice(width, 15, replace=False)
    noise = rng.random((ROWS, 5)) < 0.1
    X[:, relevant[10:]] = np.where(noise, X[:, relevant[10:]], X[:, relevant[:5]])
    score = (X[:, relevant[:10]] > X[:, relevant[:10]].mean(axis=0)).sum(axis=1) + rng.random(ROWS)
    return X, (score > np.median(score)).astype(np.int64)


def held(form: str, X: np.ndarray) -> Table:
    """Return the table of a matrix; each label is a column by itself, as in a data frame."""
    if not form.startswith("labels"):
        return as_table(X)
    levels = tuple(map(str, range(int(X.max()) + 1)))
    columns = np.ascontiguousarray(X.T, dtype=np.int32)
    return Table([Column(f"x{j}", "categorical", codes, levels) for j, codes in enumerate(columns)])


def asked_of(name: str) -> dict[str, object]:
    """Return the options with which a method does what the other packages do: the criterion as published."""
    return {"information": "plug-in", **({"alpha": None} if name == "fcbf" else {"n_features": PSI})}


def ranked_by(name: str, table: Table, y: np.ndarray) -> list[int]:
    """Rank the columns of a table: binding, coding and marginal tests included, without stand-ins."""
    target = Column("target", "categorical", y.astype(np.int32), ("0", "1"))
    method = get_method(name, "benchmark", asked_of(name))
    outcome = run_fold(method, bf.get_ci_test("g2"), table, target, 0, finds_stand_ins=False)
    return table.places(outcome.decisions.feature[outcome.decisions.kept])


def repeated(work: Callable[[], object]) -> list[float]:
    """Return the CPU seconds of three calls, and of more calls where they are short."""
    runs = cpu_seconds(work, REPEATS)
    return runs + (cpu_seconds(work, MOST_REPEATS - REPEATS, LASTING - sum(runs)) if sum(runs) < LASTING else [])


def by_width(record: Record, by_hand: Record | None, widths: list[int], makers: dict, feast: dict) -> None:
    """Record CPU seconds over the number of binary sparse columns."""
    for width in widths:
        X, y = data(SPARSE, width)
        table = as_table(X)
        for name in METHODS:
            case = {"columns": width, "method": name}
            found = ranked_by(name, table, y)
            runs = repeated(lambda: ranked_by(name, table, y))  # noqa: B023
            fits = repeated(lambda: bf.get_selector(name, **asked_of(name)).fit(X, y))  # noqa: B023
            facts = {"fit_s": round(min(fits), 5), "features": len(found)}
            record.add("width", OWN, runs, **case, facts=facts)
            for package, methods in {**makers, "FEAST": feast}.items():
                most = filter_peers.MOST_COLUMNS.get((package, name), 10**9)
                if name in methods and width <= most:
                    call = methods[name](X, y, PSI)
                    chosen = call()
                    taken = repeated(call) if package == "FEAST" else cpu_seconds(call, REPEATS, 5)
                    seen = {"shared": len(set(map(int, chosen)) & set(found)), "same_order": list(chosen) == found}
                    target = by_hand if package == "FEAST" else record
                    if target is by_hand:
                        target.add("width", OWN, runs, **case, facts=facts)
                    target.add("width", package, taken, **case, facts=seen)
        names = filter_peers.PRAZNIK
        for name, seconds in praznik_seconds(X, y, PSI, list(names.values())).items():
            method = next(method for method, known in names.items() if known == name)
            record.add("width", "praznik (R)", [seconds], columns=width, method=method)


def by_form(record: Record, by_hand: Record | None, width: int, feast: dict) -> None:
    """Record CPU seconds over the kind of columns."""
    for form in FORMS:
        X, y = data(form, width)
        table = held(form, X)
        for name in ("mim", "mrmr", "jmi", "cmim"):
            case = {"form": form, "columns": width, "method": name}
            found = ranked_by(name, table, y)
            runs = repeated(lambda: ranked_by(name, table, y))  # noqa: B023
            record.add("form", OWN, runs, **case)
            if by_hand is not None and "binned" not in form:
                call = feast[name](X, y, PSI)
                facts = {"same_order": call() == found}
                by_hand.add("form", OWN, runs, **case)
                by_hand.add("form", "FEAST", cpu_seconds(call, REPEATS, 2), **case, facts=facts)


def memory(name: str, width: int, answer: multiprocessing.Queue) -> None:
    """Put what a ranking takes beyond its matrix, in bytes, and its CPU seconds."""
    X, y = wide(width)
    ranked_by(name, as_table(X[:, :1000].copy()), y)  # what importing and loading takes
    before = _resident()
    started = time.process_time()
    table = as_table(X)
    ranked_by(name, table, y)
    taken = time.process_time() - started
    answer.put((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before, taken))


def wide(width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a sparse binary matrix of many columns, made without a larger one; the classes follow ten columns."""
    rng = np.random.default_rng(width)
    X = np.zeros((ROWS, width), dtype=np.int8)
    for row in range(ROWS):
        X[row, rng.integers(0, width, width // 20)] = 1
    y = (X[:, :: width // 10].sum(axis=1) + rng.random(ROWS) > 0.9).astype(np.int64)
    return X, y


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def by_memory(record: Record, widths: list[int]) -> None:
    """Record memory and CPU seconds of wide tables, each in a process of its own."""
    for width, name in itertools.product(widths, ("mrmr", "jmi", "cmim")):
        context = multiprocessing.get_context("spawn")
        answer: multiprocessing.Queue = context.Queue()
        process = context.Process(target=memory, args=(name, width, answer))
        process.start()
        taken, cpu = answer.get()
        process.join()
        packed = width * -(-ROWS // 64) * 8
        facts = {"extra_mb": round(taken / 1e6), "packed_mb": round(packed / 1e6)}
        record.add("memory", OWN, [cpu], columns=width, method=name, facts=facts)


def others(record: Record) -> None:
    """Record CPU seconds of `fit` for rankings without mutual information."""
    X = np.random.default_rng(0).normal(size=(ROWS, 10_000))
    y = (X[:, :10].sum(axis=1) > 0).astype(np.int64)
    widths = {"relief": [1_000], "relieved": [1_000], "fisher-markov": [1_000], "spfs-lar": [1_000, 10_000]}
    for name, width in ((name, width) for name, some in widths.items() for width in some):
        part = np.ascontiguousarray(X[:, :width])
        case = {"method": name, "shape": f"{ROWS:,} x {width:,}"}
        fits = cpu_seconds(lambda: bf.get_selector(name, n_features=PSI).fit(part, y), REPEATS)  # noqa: B023
        record.add("others", OWN, fits, **case)
        for package, make in filter_peers.reliefs().items() if name == "relief" else ():
            make(part[:60, :5], y[:60], 2)()  # compiles
            record.add("others", package, cpu_seconds(make(part, y, PSI), 1), **case)


def arguments() -> argparse.Namespace:
    """Return what was asked."""
    parser = options(__doc__)
    parser.add_argument("--feast", type=Path, help="FEAST's library, built by hand")
    parser.add_argument("--widths", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    parser.add_argument("--form-width", type=int, default=10_000, help="columns of the table over kinds of columns")
    parser.add_argument("--memory-widths", type=int, nargs="*", default=[100_000, 1_000_000])
    return parser.parse_args()


def main() -> None:
    """Measure, and write filters.json, and filters-feast.json where it was asked for."""
    chosen = arguments()
    warnings.simplefilter("ignore")
    makers = filter_peers.installed()
    packages = [*makers, "skrebate"]
    record = Record("filters", packages, chosen.results)
    by_hand = Record("filters-feast", folder=chosen.results) if chosen.feast else None
    feast = filter_peers.feast(chosen.feast) if chosen.feast else {}
    with threadpool_limits(1):
        if chosen.tiny:
            by_width(record, by_hand, [40], {"scikit-learn": makers["scikit-learn"]}, feast)
            return
        for make in (make for methods in makers.values() for make in methods.values()):
            make(*data(SPARSE, 20), 2)()  # loads and compiles
        by_width(record, by_hand, chosen.widths, makers, feast)
        by_form(record, by_hand, chosen.form_width, feast)
        by_memory(record, chosen.memory_widths)
        others(record)


if __name__ == "__main__":
    main()
