"""Measures CI tests beside the peers: run it with `make bench`; the numbers stand in docs/performance.md.

One process, one thread, CPU seconds. G2 on 5,000 rows of ALARM: every pair of columns given none, one, two and three
others (a sample of the conditioning sets), in batch (`test_many`) and one at a time (`test`). Fisher's z on 5,000 rows
of ecoli70: all candidates given S. Peers answer a sample of the same queries, through their own cheapest interface.
Ratios are theirs over ours.
"""

from __future__ import annotations

import itertools
import json
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.core.table import Table
from blanketflow.data.simulate import read_network

ROWS, SETS, REPEATS, PEER_QUERIES = 5_000, 40, 3, 200
Query = tuple[list[int], int, list[int]]


def queries(n_columns: int, k: int) -> list[Query]:
    """Return (candidates, target, given) that cover every pair once for each of some conditioning sets of size k."""
    sets = list(itertools.combinations(range(n_columns), k))
    found = []
    for given in sets[:: max(1, len(sets) // SETS)]:
        free = [column for column in range(n_columns) if column not in given]
        found += [(free[i + 1 :], free[i], list(given)) for i in range(len(free) - 1)]
    return found


def seconds(work: Callable[[], object]) -> float:
    """Return the least CPU seconds of a few runs."""
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def in_batch(name: str, table: Table, asked: list[Query]) -> float:
    """Return microseconds a test by `test_many`; each run has a memory of its own."""

    def work() -> None:
        bound = fresh(name, table)
        for candidates, target, given in asked:
            bound.test_many(candidates, target, given)

    return microseconds(work, table, name, sum(len(c) for c, _, _ in asked))


def one_by_one(name: str, table: Table, asked: list[Query]) -> float:
    """Return microseconds a test by `test`."""
    singles = [(candidates[0], target, given) for candidates, target, given in asked]

    def work() -> None:
        bound = fresh(name, table)
        for candidate, target, given in singles:
            bound.test(candidate, target, given)

    return microseconds(work, table, name, len(singles))


def fresh(name: str, table: Table) -> object:
    """Return a bound test that has coded all its columns."""
    bound = bf.get_ci_test(name).bind(table)
    bound.test_many(range(1, len(table)), 0, [])
    bound._memory.clear()
    return bound


def microseconds(work: Callable[[], None], table: Table, name: str, n_tests: int) -> float:
    """Return the time of a run, without that of binding and coding, over the number of tests."""
    return round((seconds(work) - seconds(lambda: fresh(name, table))) / n_tests * 1e6, 2)


Answer = Callable[[int, int, list[int]], object]


def peers(frame: pd.DataFrame) -> dict[str, Callable[[], Answer]]:
    """Return what makes each installed peer's G2 test anew, without answers that it remembers."""
    found: dict[str, Callable[[], Answer]] = {}
    codes = np.column_stack([frame[c].cat.codes for c in frame]).astype(int)
    names, texts = list(frame), frame.astype(str)
    try:
        from causallearn.utils.cit import CIT

        found["causal-learn"] = lambda: CIT(codes, "gsq")
    except ImportError:
        print("causal-learn is not installed: pip install 'blanketflow[bench]'", file=sys.stderr)
    try:
        from pgmpy.ci_tests import GSq

        def pgmpy_test() -> Answer:
            test = GSq(data=texts, use_cache=False)
            return lambda x, y, given: test.run_test(names[x], names[y], [names[z] for z in given])

        found["pgmpy"] = pgmpy_test
    except ImportError:
        print("pgmpy is not installed: pip install 'blanketflow[bench]'", file=sys.stderr)
    return found


def peer_microseconds(make: Callable[[], Answer], asked: list[Query]) -> float:
    """Return microseconds a test over a sample of the queries."""
    sample = asked[:: max(1, len(asked) // PEER_QUERIES)]

    def work() -> None:
        test = make()
        for candidates, target, given in sample:
            test(candidates[0], target, given)

    return round((seconds(work) - seconds(make)) / len(sample) * 1e6, 1)


def whole_network(table: Table, frame: pd.DataFrame) -> dict[str, object]:
    """Return CPU seconds of grow-shrink for every column of ALARM, ours and bnlearn's C code called from Python."""
    from blanketflow.selectors.base import Problem
    from blanketflow.selectors.causal.gs import GS

    method, n_tests = GS(alpha=0.01), []

    def work() -> None:
        bound = bf.get_ci_test("g2", dof="nominal").bind(table)
        for target in table.names:
            features = [name for name in table.names if name != target]
            problem = Problem(features, target, bound.test_many(features, target), 0, lambda: table, lambda _: bound)
            method.shrink(problem, method.grow(problem))
        n_tests.append(bound.n_tests)

    found: dict[str, object] = {"blanketflow_s": round(seconds(work), 3), "blanketflow_tests": n_tests[-1]}
    try:
        from pybnlearn import learn_mb

        def theirs() -> None:
            for name in frame:
                learn_mb(frame, node=name, method="gs", test="mi", alpha=0.01)

        found["bnlearn_s"] = round(seconds(theirs), 3)
        found["bnlearn / blanketflow"] = round(found["bnlearn_s"] / found["blanketflow_s"], 1)
    except ImportError:
        print("bnlearn-port is not installed: pip install 'blanketflow[bench]'", file=sys.stderr)
    return found


def main() -> None:
    """Measure and print everything as JSON."""
    table = read_network("alarm").sample(ROWS, seed=2026)
    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.values, c.levels) for c in table.columns})
    frame = frame.apply(lambda column: column.cat.remove_unused_categories())
    report: dict[str, object] = {"python": platform.python_version(), "numpy": version("numpy")}
    rivals = peers(frame)
    for k in range(4):
        asked = queries(len(table), k)
        row: dict[str, object] = {name: in_batch(name, table, asked) for name in ("g2", "chi2")}
        row["g2, single"] = one_by_one("g2", table, asked)
        for peer, test in rivals.items():
            row[peer] = peer_microseconds(test, asked)
            row[f"{peer} / g2"] = round(row[peer] / row["g2"], 1)
            row[f"{peer} / g2, single"] = round(row[peer] / row["g2, single"], 1)
        report[f"alarm, given {k}, microseconds a test"] = row
    gaussian = read_network("ecoli70").sample(ROWS, seed=2026)
    for k in range(4):
        asked = queries(len(gaussian), k)
        report[f"ecoli70, given {k}, microseconds a test"] = {
            "fisher-z": in_batch("fisher-z", gaussian, asked),
            "fisher-z, single": one_by_one("fisher-z", gaussian, asked),
        }
    report["gs, all columns of alarm"] = whole_network(table, frame)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
