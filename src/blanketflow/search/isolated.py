"""The stages of a search in their own process, so that code that crashes, hangs or exits does no other harm.

Used for plug-ins, and for searches whose time limit may end them without an answer. Searches of this package stop at
the limit between two tests; the process is for a test that does not end.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from ..ci.base import CITest
from ..core.isolation import in_child
from ..core.limits import Limits
from ..core.registry import is_foreign
from ..core.results import CIResults, StandIn
from ..moves.steps import FIELDS, Answer, Steps, objects
from ..selectors.base import Method, Problem

#: Packages that load slower than most searches run. If a stage's process loaded them, they are loaded here afterwards,
#: so that the next process has them.
LOADED_AGAIN = ("blanketflow", "lightgbm", "numba", "scipy", "sklearn")


def is_isolated(method: Method, test: CITest | None, limits: Limits) -> bool:
    """Whether the stages of a search run in their own processes."""
    is_limited = limits.time_limit is not None and not method.always_answers
    return is_limited or is_foreign(method) or is_foreign(test)


def stages_isolated(problem: Problem, work: Callable[[], list[Steps]], n_stages: int = 1) -> list[Steps]:
    """Return the steps of the stages run by `work` in another process, and set the problem's status and answers."""
    _ = problem.table

    def told() -> dict[str, Any]:
        before, had = problem.n_tests, _heavy(sys.modules)
        steps = [_plain(stage) for stage in work()]
        answers = [[list(answer.features), answer.count] for answer in problem.answers]
        said = {"status": problem.status, "reason": problem.reason, "answers": answers, "verdict": problem.verdict}
        said["refused"] = [list(columns) for columns in problem.refused_tables()]
        return said | {"steps": steps, "n_tests": problem.n_tests - before, "loaded": sorted(_heavy(sys.modules) - had)}

    found = in_child(told, problem.limits.time_limit, n_stages)
    problem.status, problem.reason = found["status"], found["reason"]
    problem.verdict = found["verdict"]
    problem.answers = [Answer(tuple(features), count) for features, count in found["answers"]]
    problem.refused |= {tuple(columns) for columns in found["refused"]}
    problem.n_inner_tests += found["n_tests"]
    _load(found["loaded"])
    return [_steps(**columns) for columns in found["steps"]]


def _heavy(modules: Iterable[str]) -> set[str]:
    return {name for name in list(modules) if name.partition(".")[0] in LOADED_AGAIN}


def _load(modules: Iterable[str]) -> None:
    """Import only the modules of these packages that a process has imported, since it may have run plug-ins."""
    for module in sorted(_heavy(modules)):
        with suppress(ImportError):  # some put themselves there under a name that cannot be imported
            importlib.import_module(module)


def results_isolated(work: Callable[[], tuple[CIResults, Any]]) -> tuple[CIResults, Any]:
    """Return the results and repeats of a ci_test stage run in another process."""

    def told() -> list[Any]:
        results, differences = work()
        return [results.columns(), differences]

    columns, differences = in_child(told)
    return CIResults(**columns), differences


def _plain(steps: Steps) -> dict[str, Any]:
    columns = {name: getattr(steps, name) for name in FIELDS}
    columns |= {name: column.tolist() for name, column in columns.items() if column.dtype == np.object_}
    return columns | {"given": steps.listed, "stand_ins": [[*map(list, rows)] for rows in columns["stand_ins"]]}


def _steps(feature: list[str], given: list[Any], stand_ins: list[Any], **columns: Any) -> Steps:
    columns["given"] = objects([None if names is None else tuple(names) for names in given])
    columns["stand_ins"] = objects([tuple(StandIn(*row) for row in rows) for rows in stand_ins])
    columns |= {name: objects(column) for name, column in columns.items() if isinstance(column, list)}
    return Steps(feature, **columns)
