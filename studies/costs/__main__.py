"""What the stages of the workflow cost, for README.md to compare with the estimates: `python -m studies.costs`.

CPU seconds of each CI test given nothing, of growing and shrinking by each method, and of each model, on tables of
several shapes; each in a process of its own, which ends after so many CPU seconds. Numba and scikit-learn are loaded
before, since what they take is the same for all. Then the most memory that each job of some runs holds.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from blanketflow.core.errors import BlanketflowError
from blanketflow.core.results import CIResults
from blanketflow.core.table import Column, Table
from blanketflow.search.run_fold import run_problem, test_marginally
from blanketflow.selectors.base import Problem
from studies.costs.cases import SHAPES, TINY, cases, method_of, test_of
from studies.costs.job_memory import CONFIG, FILES, MOST_OF_ALL, TINY_FILES, peaks, write
from studies.shared.clock import options
from studies.shared.record import OWN, Record

#: CPU seconds after which a process ends.
LIMIT = 8
#: Wall seconds after which a job is given up.
WALL = 200
#: Features of the sets that models learn from.
CHOSEN = 20


def marginal(table: Table, test: str, method: str = "") -> CIResults:
    """Test every feature given nothing."""
    configured = test_of(test, method_of(method) if method else None)
    return test_marginally(configured.bind(table, target="target"), "target")


def grow_shrink(table: Table, known: CIResults | None, method: str, test: str) -> dict[str, int]:
    """Grow and shrink; return how many tests were computed, candidates admitted, and features kept."""
    chosen = method_of(method)
    configured = test_of(test, chosen)
    names = [name for name in table.names if name != "target"]
    bind = (lambda t: configured.bind(t, target="target")) if configured else None
    outcome = run_problem(chosen, Problem(names, "target", known, 0, lambda: table, bind))
    kept = sum(step.kept for step in outcome.decisions)
    return {"tests": outcome.n_tests, "candidates": len(outcome.candidates), "kept": kept}


def evaluate(features: Table, target: Column, model: str) -> None:
    """Train and score one model on four fifths of the rows and on the others."""
    from blanketflow.models.evaluation import evaluate_split

    is_test = np.arange(features.n_rows) % 5 == 0
    few = features.select(features.names[:CHOSEN])
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    parts = [part for rows in (train, test) for part in (few.take(rows), target.take(rows))]
    evaluate_split(*parts, [model], "auto", "classification", (0,))


def in_a_process(work: Callable[[], Any]) -> tuple[str, float, Any]:
    """Do a work in a process of its own; return ``ok``, ``limit`` or why not, CPU seconds, and what it returned."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_child, args=(sender, work))
    process.start()
    sender.close()
    try:
        found = receiver.recv()
    except EOFError:
        found = None
    process.join()
    if found is None and process.exitcode == -signal.SIGXCPU:
        return "limit", float(LIMIT), None
    if found is None:
        raise RuntimeError(f"a process ended with code {process.exitcode}")
    return found


def _child(sender: Connection, work: Callable[[], Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    begin = time.process_time()
    try:
        said, found = "ok", work()
    except BlanketflowError as error:
        said, found = f"{type(error).__name__}: {error}", None
    sender.send((said, time.process_time() - begin, found))


def measure(record: Record, name: str, shape: Any, methods: Sequence[str] | None = None) -> None:
    """Measure all cases of a table, or those of some methods."""
    features, target = shape.draw()
    table = features.with_column(target)
    known: dict[tuple[str, str], CIResults | None] = {}
    for case in (case for case in cases(name) if methods is None or case.get("method") in methods):
        method, test = case.get("method", ""), case.get("ci_test", "")
        if "model" in case:
            said, seconds, found = in_a_process(lambda: evaluate(features, target, case["model"]))  # noqa: B023
        elif method:
            default = bool(method_of(method).default_test_options) and method_of(method).default_test == test
            key = (test, method if default else "")
            if test and key not in known:
                known[key] = in_a_process(lambda: marginal(table, *key))[2]  # noqa: B023
            if test and known[key] is None:
                continue
            said, seconds, found = in_a_process(lambda: grow_shrink(table, known.get(key), method, test))  # noqa: B023
        else:
            said, seconds, known[test, ""] = in_a_process(lambda: marginal(table, test))  # noqa: B023
            found = None
        if said in ("ok", "limit"):
            facts = {"status": said, **(found or {})}
            record.add("seconds", OWN, [seconds], **case, facts=facts)
        else:
            print(f"{case}: {said}")


def load() -> None:
    """Load what most jobs need."""
    import lightgbm
    import sklearn.ensemble
    import sklearn.svm

    loaded = lightgbm, sklearn.ensemble, sklearn.svm
    assert all(loaded)
    features, target = next(iter(TINY.values())).draw()
    for test in ("g2", "ppi"):
        marginal(features.with_column(target), test)


def main() -> None:
    """Measure, and write costs.json."""
    parser = options(__doc__)
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="renew the seconds of some methods alone")
    chosen = parser.parse_args()
    record = Record("costs", folder=chosen.results, renews=chosen.methods is not None)
    load()
    with threadpool_limits(1):
        for name, shape in (TINY if chosen.tiny else SHAPES).items():
            measure(record, name, shape, chosen.methods)
    if chosen.methods:
        return
    for name, (shape, ending) in (TINY_FILES if chosen.tiny else FILES).items():
        with tempfile.TemporaryDirectory() as folder:
            spec = write(shape, Path(folder) / f"table.{ending}")
            for case, seconds, peak in peaks(spec, CONFIG, Path(folder), WALL, shape.n_features <= MOST_OF_ALL):
                record.add("memory", OWN, [peak], "MB", data=name, **case, facts={"cpu_s": round(seconds, 2)})


if __name__ == "__main__":
    main()
