"""HSIC tests by their trace error, and the rankings that use them: `python -m studies.speed.kernels`.

One process, one thread, CPU seconds. Tests are bound anew each time, so that everything a single test needs is counted.
The numbers stand in README.md.
"""

from __future__ import annotations

import itertools

import numpy as np
from threadpoolctl import threadpool_limits

import blanketflow as bf
from studies.shared.clock import cpu_seconds, options
from studies.shared.record import OWN, Record

ERRORS, REPEATS = (0.0, 0.001, 0.01), 5


def tests(record: Record, n_rows: int) -> None:
    """Record one test of two numbers given none, one and three others."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n_rows, 3))
    X = np.column_stack([z, z[:, 0] + rng.normal(size=n_rows), z[:, 1] + rng.normal(size=n_rows)])
    for k, error in itertools.product((0, 1, 3), ERRORS):
        test = bf.get_ci_test("hsic", trace_error=error)
        taken = cpu_seconds(lambda: test.bind(X).test(3, 4, range(k)), REPEATS)  # noqa: B023
        record.add("tests", OWN, [1e3 * seconds for seconds in taken], "ms a test", given=k, trace_error=error)


def rankings(record: Record, n_rows: int, widths: tuple[int, ...]) -> None:
    """Record a whole fit of `bahsic`, and of `hsmb` for each trace error, with the features that it keeps."""
    rng = np.random.default_rng(1)
    for width in widths:
        X = rng.normal(size=(n_rows, width))
        y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows)
        shape = f"{n_rows:,} x {width:,}"
        record.add("rankings", OWN, cpu_seconds(lambda: bf.BAHSIC().fit(X, y), 1), method="bahsic", shape=shape)  # noqa: B023
        for error in ERRORS if width <= 100 else ():
            found = bf.HSMB(ci_test=bf.get_ci_test("hsic", trace_error=error))
            taken = cpu_seconds(lambda: found.fit(X, y), 1)  # noqa: B023
            facts = {"kept": found.selected_features_[:5], "n": len(found.selected_features_)}
            record.add("rankings", OWN, taken, method="hsmb", shape=shape, trace_error=error, facts=facts)


def main() -> None:
    """Measure, and write kernels.json."""
    chosen = options(__doc__).parse_args()
    record = Record("kernels", folder=chosen.results)
    n_rows = 60 if chosen.tiny else 1_000
    # Loads what is compiled, and SciPy's BLAS, which is limited only if it is there.
    bf.BAHSIC().fit(np.random.default_rng(0).normal(size=(50, 3)), np.arange(50.0))
    bf.get_ci_test("hsic", trace_error=0.1).bind(np.random.default_rng(0).normal(size=(50, 3))).test(0, 1, [2])
    with threadpool_limits(1):
        tests(record, n_rows)
        rankings(record, n_rows, (5,) if chosen.tiny else (30, 100, 1_000))


if __name__ == "__main__":
    main()
