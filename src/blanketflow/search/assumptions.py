"""What the regressions of a target assume, checked after a search on the features that it kept."""

from __future__ import annotations

import numpy as np

from ..ci.base import CITest
from ..ci.unbound import with_strata
from ..core.column import TargetColumn
from ..core.registry import is_foreign
from ..core.table import with_used_levels
from ..moves.steps import Steps
from ..selectors.base import Problem


def doubts_of(problem: Problem, test: CITest | None, decisions: Steps) -> str:
    """Return in words which assumptions of a CI test's regressions fail for the kept features; nothing if none does.

    Only targets of further kinds, such as survival, are checked, on the rows in which no kept feature is missing.
    """
    kept = decisions.feature[decisions.kept].tolist()
    if not kept or test is None or is_foreign(test) or not isinstance(problem.table[problem.target], TargetColumn):
        return ""
    table = problem.table.select([*problem.columns(kept), problem.target])
    is_missing = np.logical_or.reduce([column.missing() for column in table.columns])
    if is_missing.any():
        table = with_used_levels(table.take(np.flatnonzero(~is_missing)))
    whole, strata = with_strata(test, table)
    engine = test.prepare(whole, problem.seed, len(table) - 1)
    doubts = getattr(engine, "doubts", None)  # by its name: searches without such a target do not depend on its tests
    return "; ".join(doubts(range(len(table) - 1), strata)) if doubts else ""
