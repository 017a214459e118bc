"""Tests for numbers beside those of other packages: `python -m studies.speed.ci_packages`; README.md has the numbers.

One process, one thread, CPU seconds. Each test of ours answers for 50 candidates in batch (`test_many`; slow ones for
10), and one at a time (`test`), given none and three columns of 1,000 rows. Packages answer some
of the same queries one at a time, which is all that they offer, with options as near to ours as they have. For Fisher's
z, the one test of which all have a version, the result says how far apart p-values are. A package that is not installed
is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from studies.shared.clock import cpu_seconds, options
from studies.shared.record import OWN, Record

ROWS, CANDIDATES, SIZES, REPEATS = 1_000, 50, (0, 3), 3
#: Candidates that packages answer for, the same of slow tests, and these, which get fewer candidates too.
SOME, SLOW_SOME, SLOW = 10, 2, ("hsic", "cmi-knn")
NEIGHBOURS, PERMUTATIONS = 7, 200
#: Our tests by name in the tables: id and options.
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "fisher-z": ("fisher-z", {}),
    "gcm": ("gcm", {}),
    "rcit": ("rcit", {}),
    "hsic": ("hsic", {}),
    "cmi-knn": ("cmi-knn", {"n_neighbors": NEIGHBOURS, "n_permutations": PERMUTATIONS}),
}
PACKAGES = ("causal-learn", "pgmpy", "tigramite", "hyppo", "citests")
#: Returns the statistic or p-value of a candidate, the target and given columns.
Answer = Callable[[int, int, list[int]], float]


def table(n_rows: int, n_candidates: int) -> np.ndarray:
    """Return three given columns, a target and candidates: sums of these or of their squares, with noise."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n_rows, 3))
    weights = rng.normal(size=(3, 1 + n_candidates)) * (rng.random((3, 1 + n_candidates)) < 0.7)
    sums = z @ weights
    sums[:, ::3] = z**2 @ weights[:, ::3]
    return np.column_stack([z, sums + rng.normal(size=sums.shape)])


def causal_learn(X: np.ndarray, test: str) -> Answer | None:
    """Return its test that is like one of ours."""
    from causallearn.utils.cit import KCI, RCIT, FisherZ

    kind = {"fisher-z": FisherZ, "rcit": RCIT, "hsic": KCI}.get(test)
    if kind is None:
        return None
    found = kind(X)

    def answer(x: int, y: int, given: list[int]) -> float:
        found.pvalue_cache.clear()
        return float(found(x, y, given))

    return answer


def pgmpy(X: np.ndarray, test: str) -> Answer | None:
    """Return its test that is like one of ours; GCM with its linear regressions."""
    from pgmpy.ci_tests import GCM, FisherZ

    kind = {"fisher-z": FisherZ, "gcm": GCM}.get(test)
    if kind is None:
        return None
    frame = pd.DataFrame(X, columns=[str(at) for at in range(X.shape[1])])
    found = kind(data=frame, use_cache=False)

    def answer(x: int, y: int, given: list[int]) -> float:
        return float(found.run_test(str(x), str(y), [str(z) for z in given])[1])

    return answer


def tigramite(X: np.ndarray, test: str) -> Answer | None:
    """Return its test that is like one of ours; partial correlation has Student's t in place of Fisher's z."""
    if test == "fisher-z":
        from tigramite.independence_tests.parcorr import ParCorr

        found = ParCorr()
    elif test == "cmi-knn":
        from tigramite.independence_tests.cmiknn import CMIknn

        found = CMIknn(knn=NEIGHBOURS, sig_samples=PERMUTATIONS, sig_blocklength=1, workers=1)
    else:
        return None
    return lambda x, y, given: float(found.run_test_raw(X[:, [x]], X[:, [y]], X[:, given] if given else None)[1])


def hyppo(X: np.ndarray, test: str) -> Answer | None:
    """Return its test that is like one of ours, which takes nothing given."""
    from hyppo.conditional import KCI

    return (lambda x, y, given: float(KCI().test(X[:, [x]], X[:, [y]])[1])) if test == "hsic" else None


def citests(X: np.ndarray, test: str) -> Answer | None:
    """Return its test that is like one of ours, of those that ask neither R nor another package of these."""
    from citests import tests

    name = {"fisher-z": "FisherZ", "hsic": "KCI"}.get(test)
    if name is None:
        return None

    def answer(x: int, y: int, given: list[int]) -> float:
        return float(getattr(tests, name)(X)(x, y, given))

    return answer


def measured(record: Record, X: np.ndarray, name: str, k: int, repeats: int) -> None:
    """Record one test of ours given `k` columns, and those of packages that are like it."""
    test, given = bf.get_ci_test(OURS[name][0], **OURS[name][1]), list(range(k))
    prepared = test.bind(X)
    candidates, unit = list(range(4, X.shape[1]))[: SOME if name in SLOW else None], "ms a test"

    asked = candidates[: SLOW_SOME if name in SLOW else SOME]

    def fresh() -> Any:
        """Return a bound test without results; the kernels of `hsic` are results."""
        prepared._cache.clear()
        return test.bind(X) if name in SLOW else prepared

    def batch() -> Any:
        return fresh().test_many(candidates, 3, given)

    def alone() -> None:
        bound = fresh()
        for x in asked:
            bound.test(x, 3, given)

    ours = batch().p_value  # which prepares the columns, and loads what is compiled
    for how, work, n_tests in (("in batch", batch, len(candidates)), ("one at a time", alone, len(asked))):
        taken = [1e3 * seconds / n_tests for seconds in cpu_seconds(work, repeats)]
        record.add("tests", OWN, taken, unit, test=name, given=k, how=how)
    for package, make in zip(PACKAGES, (causal_learn, pgmpy, tigramite, hyppo, citests), strict=True):
        try:
            answer = None if package == "hyppo" and k else make(X, name)
        except ImportError as error:
            print(f"{package} is left out: {error}", file=sys.stderr)
            continue
        if answer is None:
            continue
        found: list[float] = []

        def theirs(answer: Answer = answer, found: list[float] = found) -> None:
            found[:] = [answer(x, 3, given) for x in asked]

        spent = [1e3 * seconds / len(asked) for seconds in cpu_seconds(theirs, repeats)]
        facts = {"apart": float(np.abs(ours[: len(asked)] - found).max())} if name == "fisher-z" else {}
        for how in ("in batch", "one at a time"):
            record.add("tests", package, spent, unit, test=name, given=k, how=how, facts=facts)


def main() -> None:
    """Measure, and write ci_packages.json."""
    chosen = options(__doc__).parse_args()
    record = Record("ci_packages", PACKAGES, chosen.results)
    X = table(*((80, 3) if chosen.tiny else (ROWS, CANDIDATES)))
    with threadpool_limits(1):
        for name in ("fisher-z",) if chosen.tiny else OURS:
            for k in SIZES:
                measured(record, X, name, k, 1 if chosen.tiny else REPEATS)


if __name__ == "__main__":
    main()
