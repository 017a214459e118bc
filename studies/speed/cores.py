"""What more cores are worth: wall seconds by `n_jobs`, case by case: `python -m studies.speed.cores --n-jobs 1 2`.

Run it on a quiet machine: wall seconds say nothing on a busy one, so the load before each case is recorded beside them.
BLAS has one thread; the least of the repeats counts. PPFS has as many folds as there are jobs, but at least four.
`link` is read from the folder that BLANKETFLOW_DATA names. `--only ppfs` runs one of the cases. Prints the table, and
writes cores.json, or cores-many.json for more than two jobs, from which `python -m studies.speed.page` puts it into
README.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.data.simulate import read_network
from studies.shared.clock import options
from studies.shared.record import OWN, Record

#: From `n_jobs` to the work.
Work = Callable[[int], object]


def memory(is_tiny: bool, n_folds: int) -> tuple[str, Work]:
    """The sum of a table that no cache holds, its rows dealt to threads: what reading memory gains."""
    cells = np.ones(10**4 if is_tiny else 5 * 10**8)

    def read(n_jobs: int) -> list[float]:
        with ThreadPoolExecutor(n_jobs) as pool:
            return [sum(pool.map(np.sum, np.array_split(cells, n_jobs))) for _ in range(5)]

    return f"{cells.nbytes / 1e9:.1g} GB, five times", read


def ppfs(is_tiny: bool, n_folds: int) -> tuple[str, Work]:
    """PPFS, each fold searched by itself."""
    X, y = numbers(60 if is_tiny else 2_000, 4 if is_tiny else 500)
    asked = {"n_repeats": 5 if is_tiny else 30, "n_folds": n_folds, "random_state": 0}
    return f"{len(X):,} x {X.shape[1]}, {n_folds} folds", lambda n_jobs: bf.PPFS(**asked, n_jobs=n_jobs).fit(X, y)


def blankets(is_tiny: bool, n_folds: int) -> tuple[str, Work]:
    """The blanket of every column."""
    name = "alarm" if is_tiny else "link"
    path = Path(os.environ.get("BLANKETFLOW_DATA", "."), "networks", f"{name}.bif.gz")
    table = read_network(path if path.exists() else name).sample(100 if is_tiny else 5_000, seed=2026)
    name = f"{table.n_rows:,} x {len(table)}, all targets"
    return name, lambda n_jobs: bf.blankets(table, "hiton-mb", "g2", alpha=0.01, n_jobs=n_jobs)


def numbers(n_rows: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return noise, and two classes that three columns tell of."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, width))
    return X, (X[:, :3].sum(axis=1) + rng.normal(size=n_rows) > 0).astype(int)


CASES: dict[str, Callable[[bool, int], tuple[str, Work]]] = {"memory": memory, "ppfs": ppfs, "blankets": blankets}


def main() -> None:
    """Measure, write the record and print the table."""
    from studies.speed.tables import cores

    parser = options(__doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--n-jobs", nargs="+", type=int, default=[1, 2], metavar="N", help="numbers of cores")
    parser.add_argument("--repeats", type=int, default=3, help="of which the fastest counts")
    chosen = parser.parse_args()
    most = max(chosen.n_jobs)
    record = Record("cores" if most <= 2 else "cores-many", folder=chosen.results)
    with threadpool_limits(1):
        for name in chosen.only:
            data, work = CASES[name](chosen.tiny, max(4, most))
            for n_jobs in chosen.n_jobs:
                CASES[name](True, max(4, most))[1](n_jobs)  # loads kernels, starts processes
                walls, facts = [], {"load": round(os.getloadavg()[0], 2)}
                for _ in range(1 if chosen.tiny else chosen.repeats):
                    begin = time.perf_counter()
                    work(n_jobs)
                    walls.append(time.perf_counter() - begin)
                record.add("cores", OWN, walls, "wall s", work=name, data=data, n_jobs=n_jobs, facts=facts)
    print(cores(record.content))


if __name__ == "__main__":
    main()
