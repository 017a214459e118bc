"""How far from the machine's limit: bytes that must be read over what memory delivers.

`python -m studies.speed.limits`.

Memory: the best of a sum, an exclusive or and a triad (numba, one thread) on arrays far larger than any cache. Work:
the bytes that no method could leave out, each read once, over its CPU seconds; `share` is that over the best read. A
table that fits a cache can be above one. Ranks and trees compute: their share says how much is not reading.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors import get_method
from studies.shared.clock import cpu_seconds, options
from studies.shared.record import Record

ROWS, PSI, REPEATS = 800, 20, 5
WIDTH, NUMBERS, N_REPEATS = 100_000, 2_000, 5


@njit("void(float64[::1], float64[::1], float64[::1])", fastmath=True)
def _triad(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    for i in range(a.size):
        a[i] = b[i] + 3.0 * c[i]


@njit("float64(float64[::1])", fastmath=True)
def _sum(a: np.ndarray) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@njit("uint64(uint64[::1])")
def _xor(a: np.ndarray) -> int:
    found = np.uint64(0)
    for i in range(a.size):
        found ^= a[i]
    return found


def bandwidth(record: Record, megabytes: int) -> float:
    """Record what memory delivers, and return the best read in bytes a second."""
    n = megabytes * 10**6 // 8
    a, b, c = np.ones(n), np.ones(n), np.ones(n)
    kernels: dict[str, tuple[Callable[[], object], int]] = {
        "sum": (lambda: _sum(a), 1),
        "exclusive or": (lambda: _xor(a.view(np.uint64)), 1),
        "triad": (lambda: _triad(a, b, c), 3),
    }
    best = 0.0
    for name, (work, n_arrays) in kernels.items():
        seconds = cpu_seconds(work, 7)
        rates = [n_arrays * a.nbytes / taken for taken in seconds]
        record.add("bandwidth", "memory", [rate / 1e9 for rate in rates], "GB/s", kernel=name)
        best = max(best, *rates)
    return best


def compared(record: Record, best: float, work: str, n_bytes: float, seconds: list[float]) -> None:
    """Record one piece of work with the bytes that it must read."""
    rate = n_bytes / min(seconds)
    facts = {"bytes": int(n_bytes), "gb_per_s": round(rate / 1e9, 3), "share": round(rate / best, 4)}
    record.add("distance", "blanketflow", seconds, work=work, facts=facts)


def counted(record: Record, best: float, width: int) -> None:
    """Compare MIM and mRMR on binary columns, from the matrix and from the bits."""
    rng = np.random.default_rng(width)
    X = (rng.random((ROWS, width), dtype=np.float32) < 0.05).astype(np.int8)
    y = (X[:, :10].sum(axis=1) + rng.random(ROWS) > 0.8).astype(np.int32)
    target = Column("target", "categorical", y, ("0", "1"))
    table, packed = as_table(X), -(-ROWS // 64) * 8 * width
    bound = bf.get_ci_test("g2").bind(table.with_column(target))
    features = np.arange(width)
    bound.test_many(features, "target")  # codes and packs the columns
    taken = cpu_seconds(lambda: bound.engine.evaluate(features, width, ()), REPEATS)
    compared(record, best, f"g2 of {width:,} packed columns, p-values included", packed, taken)
    for name, passes in (("mim", 1), ("mrmr", PSI)):
        method = get_method(name, "benchmark", {"n_features": PSI})
        run_fold(method, bf.get_ci_test("g2"), as_table(X[:, :100].copy()), target, 0)
        taken = cpu_seconds(lambda: run_fold(method, bf.get_ci_test("g2"), table, target, 0), REPEATS)  # noqa: B023
        what = f"{name}, {PSI} of {width:,} binary columns, {ROWS} rows, from a matrix of bytes"
        compared(record, best, what, X.nbytes + passes * packed, taken)


def permuted(record: Record, best: float, width: int, sparse_width: int) -> None:
    """Compare the marginal PPI test: values once for the sort, or the cells that are not zero."""
    rng = np.random.default_rng(width)
    y = Column("target", "categorical", rng.integers(0, 2, 500).astype(np.int32), ("0", "1"))
    X = rng.normal(size=(500, width))
    taken = cpu_seconds(lambda: marginal(as_table(X), y), REPEATS)
    compared(record, best, f"marginal ppi, B = {N_REPEATS}, 500 x {width:,} numbers, values once", X.nbytes, taken)
    import scipy.sparse

    S = scipy.sparse.random(ROWS, sparse_width, 0.01, "csc", random_state=rng)
    S.data[:] = 1.0
    y = Column("target", "categorical", rng.integers(0, 2, ROWS).astype(np.int32), ("0", "1"))
    n_bytes = S.data.nbytes + S.indices.nbytes + S.indptr.nbytes
    taken = cpu_seconds(lambda: marginal(as_table(S), y), REPEATS)
    what = f"marginal ppi, B = {N_REPEATS}, {ROWS} x {sparse_width:,} sparse, cells once"
    compared(record, best, what, n_bytes, taken)


def marginal(table: Table, target: Column) -> object:
    """Test every column given nothing, with nothing remembered."""
    bound = bf.get_ci_test("ppi", n_repeats=N_REPEATS).bind(table.with_column(target), target="target")
    return bound.test_many(np.arange(len(table)), "target")


def main() -> None:
    """Measure, and write limits.json."""
    chosen = options(__doc__).parse_args()
    record = Record("limits", folder=chosen.results)
    with threadpool_limits(1):
        best = bandwidth(record, 8 if chosen.tiny else 400)
        counted(record, best, 200 if chosen.tiny else WIDTH)
        permuted(record, best, 10 if chosen.tiny else NUMBERS, 20 if chosen.tiny else WIDTH)


if __name__ == "__main__":
    main()
