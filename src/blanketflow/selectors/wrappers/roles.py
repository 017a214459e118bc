"""The roles of features, parent or child or spouse, where a reliable search for a Markov blanket found them."""

from __future__ import annotations

from ...core.limits import LimitReached, Limits
from ..causal.hiton_mb import HITONMB
from ..run_fold import FoldOutcome, run_fold
from .rows import Rows

#: Features and tests beyond which no blanket is looked for: it would take longer than the judging of sets.
MOST_FEATURES, MOST_TESTS = 100, 5000


def reliable_blanket(rows: Rows) -> FoldOutcome | None:
    """Return what HITON-MB finds with the CI test that suits the rows; None where that is long or not reliable."""
    if len(rows.features) > MOST_FEATURES:
        return None
    limits = Limits(max_tests=MOST_TESTS)
    try:
        found = run_fold(HITONMB(max_k=3), rows.test, rows.features, rows.target, rows.seed, limits)
    except LimitReached:
        return None
    return found if found.status == "ok" else None


def roles_of(found: FoldOutcome | None) -> dict[str, str]:
    """Return the role of each member of a blanket, by name."""
    return {step.feature: step.role for step in found.decisions if step.kept} if found else {}
