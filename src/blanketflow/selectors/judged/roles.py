"""The roles of features, parent or child or spouse, where a reliable search for a Markov blanket found them."""

from __future__ import annotations

from ...ci.feature_groups import variables
from ...core.limits import LimitReached, Limits
from ..causal.hiton_mb import HITONMB
from .rows import Rows

#: Features and tests beyond which no blanket is looked for: it would take longer than the judging of sets.
MOST_FEATURES, MOST_TESTS = 100, 5000


def roles_of(rows: Rows) -> dict[str, str]:
    """Return the role of each member of the blanket that HITON-MB finds, by name.

    Its CI test is the one that suits the rows. There are no roles if the search is not reliable, or takes more tests
    than `MOST_TESTS`. Raises `LimitReached` if the time of the rows is over.
    """
    if len(rows.names) > MOST_FEATURES:
        return {}
    try:
        found = rows.run(HITONMB(max_k=3), rows.suited(), Limits(max_tests=MOST_TESTS))
    except LimitReached:  # how many tests it made by then is not known
        rows.check_time()
        return {}
    rows.count_tests(found.n_tests)
    if found.status != "ok":
        return {}
    return {variables([step.feature], rows.feature_groups)[0]: step.role for step in found.decisions if step.kept}
