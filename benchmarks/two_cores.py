"""What a second core is worth: wall seconds of `n_jobs` 1 and 2, case by case: `python benchmarks/two_cores.py`.

Run it on a quiet machine of two cores or more: wall seconds say nothing on a busy one, so the load before each case is
recorded beside them. BLAS has one thread; the least of three counts. `link` is read from the folder that
BLANKETFLOW_DATA names. `--only ppfs` runs one of the cases. Prints the table, and writes two_cores.json, from
which `python benchmarks/page.py` puts it into docs/performance.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from suite.clock import options
from suite.record import OWN, Record
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.data.simulate import read_network

REPEATS = 3
#: From `n_jobs` to the work.
Work = Callable[[int], object]


def ppfs(is_tiny: bool) -> tuple[str, Work]:
    """PPFS with four folds, each searched by itself."""
    X, y = numbers(60 if is_tiny else 2_000, 4 if is_tiny else 500)
    asked = {"n_repeats": 5 if is_tiny else 30, "n_folds": 4, "random_state": 0}
    return f"{len(X):,} x {X.shape[1]}, 4 folds", lambda n_jobs: bf.PPFS(**asked, n_jobs=n_jobs).fit(X, y)


def blankets(is_tiny: bool) -> tuple[str, Work]:
    """The blanket of every column."""
    path = Path(os.environ.get("BLANKETFLOW_DATA", "."), "networks", "link.bif.gz")
    table = read_network("alarm" if is_tiny else path).sample(100 if is_tiny else 5_000, seed=2026)
    name = f"{table.n_rows:,} x {len(table)}, all targets"
    return name, lambda n_jobs: bf.blankets(table, "hiton-mb", "g2", alpha=0.01, n_jobs=n_jobs)


def numbers(n_rows: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return noise, and two classes that three columns tell of."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, width))
    return X, (X[:, :3].sum(axis=1) + rng.normal(size=n_rows) > 0).astype(int)


CASES: dict[str, Callable[[bool], tuple[str, Work]]] = {
    "ppfs": ppfs,
    "blankets": blankets,
}


def main() -> None:
    """Measure, write two_cores.json and print the table."""
    from suite.tables import cores

    parser = options(__doc__)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help=", ".join(CASES))
    chosen = parser.parse_args()
    record = Record("two_cores", folder=chosen.results)
    with threadpool_limits(1):
        for name in chosen.only:
            data, work = CASES[name](chosen.tiny)
            for n_jobs in (1, 2):
                CASES[name](True)[1](n_jobs)  # loads kernels, starts processes
                walls, facts = [], {"load": round(os.getloadavg()[0], 2)}
                for _ in range(1 if chosen.tiny else REPEATS):
                    begin = time.perf_counter()
                    work(n_jobs)
                    walls.append(time.perf_counter() - begin)
                record.add("cores", OWN, walls, "wall s", work=name, data=data, n_jobs=n_jobs, facts=facts)
    print(cores(record.content))


if __name__ == "__main__":
    main()
