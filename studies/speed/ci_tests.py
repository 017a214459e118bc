"""CI tests beside the peers: `python -m studies.speed.ci_tests`; the numbers stand in README.md.

One process, one thread, CPU seconds. G2 on 5,000 rows of ALARM: every pair of columns given none, one, two and three
others (a sample of the conditioning sets), in batch (`test_many`) and one at a time (`test`). Fisher's z on 5,000 rows
of ecoli70: all candidates given S; splines, a sample of these. Peers answer a sample of the same queries one at a time,
which is all that they offer, through their own cheapest interface.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import blanketflow as bf
from blanketflow.core.table import Table
from blanketflow.data.simulate import read_network
from studies.shared.clock import cpu_seconds, options
from studies.shared.record import OWN, Record

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


def in_batch(name: str, table: Table, asked: list[Query]) -> list[float]:
    """Return microseconds a test by `test_many`; each run has a memory of its own."""

    def work() -> None:
        bound = fresh(name, table)
        for candidates, target, given in asked:
            bound.test_many(candidates, target, given)

    return microseconds(work, table, name, sum(len(c) for c, _, _ in asked))


def one_by_one(name: str, table: Table, asked: list[Query]) -> list[float]:
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
    bound._cache.clear()
    return bound


def microseconds(work: Callable[[], None], table: Table, name: str, n_tests: int) -> list[float]:
    """Return the time of each run, without that of binding and coding, over the number of tests."""
    before = min(cpu_seconds(lambda: fresh(name, table), REPEATS))
    return [(taken - before) / n_tests * 1e6 for taken in cpu_seconds(work, REPEATS)]


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
        print("causal-learn is not installed: make setup-bench", file=sys.stderr)
    try:
        from pgmpy.ci_tests import GSq

        def pgmpy_test() -> Answer:
            test = GSq(data=texts, use_cache=False)
            return lambda x, y, given: test.run_test(names[x], names[y], [names[z] for z in given])

        found["pgmpy"] = pgmpy_test
    except ImportError:
        print("pgmpy is not installed: make setup-bench", file=sys.stderr)
    return found


def peer_microseconds(make: Callable[[], Answer], asked: list[Query]) -> list[float]:
    """Return microseconds a test over a sample of the queries, run by run."""
    sample = asked[:: max(1, len(asked) // PEER_QUERIES)]

    def work() -> None:
        test = make()
        for candidates, target, given in sample:
            test(candidates[0], target, given)

    before = min(cpu_seconds(make, REPEATS))
    return [(taken - before) / len(sample) * 1e6 for taken in cpu_seconds(work, REPEATS)]


def whole_network(record: Record, table: Table, frame: pd.DataFrame) -> None:
    """Record grow-shrink for every column of ALARM, ours and bnlearn's C code called from Python."""
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

    case = {"work": "gs, all columns of alarm"}
    runs = cpu_seconds(work, REPEATS)
    record.add("whole network", OWN, runs, **case, facts={"tests": n_tests[-1]})
    try:
        from pybnlearn import learn_mb

        def theirs() -> None:
            for name in frame:
                learn_mb(frame, node=name, method="gs", test="mi", alpha=0.01)

        record.add("whole network", "bnlearn-port", cpu_seconds(theirs, REPEATS), **case)
    except ImportError:
        print("bnlearn-port is not installed: make setup-bench", file=sys.stderr)


def main() -> None:
    """Measure, and write ci_tests.json."""
    chosen = options(__doc__).parse_args()
    record = Record("ci_tests", ["causal-learn", "pgmpy", "bnlearn-port"], chosen.results)
    n_rows, sizes = (200, 1) if chosen.tiny else (ROWS, 4)
    table = read_network("alarm").sample(n_rows, seed=2026)
    frame = pd.DataFrame({c.name: pd.Categorical.from_codes(c.values, c.levels) for c in table.columns})
    frame = frame.apply(lambda column: column.cat.remove_unused_categories())
    rivals = peers(frame)
    unit = "microseconds a test"
    with threadpool_limits(1):
        for k in range(sizes):
            asked = queries(len(table), k)
            batch, single = ({"given": k, "how": how} for how in ("in batch", "one at a time"))
            for peer, test in rivals.items():
                taken = peer_microseconds(test, asked[:5] if chosen.tiny else asked)
                for case in (batch, single):  # a peer's only way stands beside both of ours
                    record.add("alarm", peer, taken, unit, test="g2", **case)
            record.add("alarm", OWN, in_batch("g2", table, asked), unit, test="g2", **batch)
            record.add("alarm", OWN, one_by_one("g2", table, asked), unit, test="g2", **single)
            record.add("alarm", OWN, in_batch("chi2", table, asked), unit, test="chi2", **batch)
        gaussian = read_network("ecoli70").sample(n_rows, seed=2026)
        for k in range(sizes):
            asked = queries(len(gaussian), k)
            batch, single = ({"given": k, "how": how} for how in ("in batch", "one at a time"))
            record.add("ecoli70", OWN, in_batch("fisher-z", gaussian, asked), unit, test="fisher-z", **batch)
            record.add("ecoli70", OWN, one_by_one("fisher-z", gaussian, asked), unit, test="fisher-z", **single)
            some = asked[:: max(1, len(asked) // SETS)]  # what splines find is confirmed on rows, which takes longer
            record.add("ecoli70 by splines", OWN, in_batch("spline", gaussian, some), unit, test="spline", **batch)
        if not chosen.tiny:
            whole_network(record, table, frame)


if __name__ == "__main__":
    main()
