"""What the stages cost, roughly, in CPU seconds: by this the plan merges jobs, splits them, and asks for time.

Estimates depend on the config and the table's shape alone, so that a plan is the same on every machine. They count the
units of work of a method (CI tests, or something of its own) and multiply them by what one unit takes. How good they
are stands in docs/costs.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Any

from .ci import CITest
from .core.cards import CLASSIFICATION, NUMERIC
from .data.peek import Facts
from .selectors.base import Method

#: Seconds a cell and repeat of the tree of one column: of numbers, and of columns of few values.
TREE_OF_NUMBERS, TREE_OF_LEVELS = 5e-8, 1e-8
#: Seconds of another model's fit: as such, and a row.
FIT, FIT_ROW = 2e-3, 5e-6
#: Seconds a cell of tests that fit nothing; the rest takes `OTHER`.
PER_CELL = {"mi-permutation": 5e-7, "lr-mixed": 5e-7, "hsic": 5e-6}
OTHER = 5e-9
#: Seconds that a test given something takes: as such, and a row. For tests that repeat a fit, of each of them.
GIVEN = {
    "g2": (3e-6, 5e-9),
    "chi2": (3e-6, 5e-9),
    "fisher-z": (3e-6, 1e-9),
    "lr-mixed": (1e-3, 2e-6),
    "mi-permutation": (1e-5, 1e-6),
    "hsic": (1e-3, 2e-5),
    "oracle": (1e-5, 0.0),
    "population": (1e-3, 0.0),
}
#: The same of tests that are not listed.
UNKNOWN_TEST = (1e-3, 1e-6)
#: Features of a set that models are trained on, as a rule.
TYPICAL_SIZE = 20
#: Seconds of a model's training and predictions for a row and feature, and for the square of the rows; `UNKNOWN_MODEL`
#: of those not listed.
MODELS = {
    "forest": (2e-5, 0.0),
    "knn": (1e-7, 1e-8),
    "lightgbm": (1e-5, 0.0),
    "logistic": (1e-6, 0.0),
    "naive-bayes": (1e-7, 0.0),
    "svm": (1e-6, 5e-8),
    "tree": (1e-6, 0.0),
}
UNKNOWN_MODEL = (2e-5, 0.0)
#: Seconds a cell of reading a source and writing the table.
READ_CELL = 5e-7


def marginal_seconds(test: CITest, facts: Facts) -> float:
    """Return about how many CPU seconds testing all features given nothing takes.

    Parameters
    ----------
    test : CITest
        The configured test.
    facts : Facts
        Shape and kinds of the table.
    """
    options = test.options()
    n_fits = options.get("n_repeats") or options.get("n_splits")
    if not n_fits:
        return facts.n_cells * PER_CELL.get(test.card.id, OTHER)
    if test.card.id == "ppi" and options["model"] == "tree":
        return facts.n_cells * n_fits * (TREE_OF_NUMBERS if NUMERIC in facts.kinds else TREE_OF_LEVELS)
    return facts.n_features * n_fits * (FIT + FIT_ROW * facts.n_rows)


def grow_shrink_seconds(method: Method, test: CITest | None, facts: Facts, time_limit: float | None = None) -> float:
    """Return about how many CPU seconds growing and shrinking on one fold takes.

    Parameters
    ----------
    method : Method
        The configured method.
    test : CITest or None
        Its configured test.
    facts : Facts
        Shape and kinds of the table.
    time_limit : float, optional
        Seconds that each of the two phases may take.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.data.peek import peek
    >>> from blanketflow.selectors import get_method
    >>> wine = peek("wine", {"source": "sklearn:wine"})
    >>> seconds = grow_shrink_seconds(get_method("iamb", "wine", {}), get_ci_test("g2"), wine)
    >>> 0 < seconds < 60
    True
    """
    options = method.options()
    work = method.card.work or FAMILIES.get(method.card.family, "fit")
    if work in TESTS:
        seconds = TESTS[work](facts.n_features, options) * _given_seconds(test, facts)
    else:
        seconds = SECONDS[work](max(facts.n_rows, 1), facts.n_features, options)
    return seconds if time_limit is None else min(seconds, 2 * time_limit)


def evaluate_seconds(models: Sequence[str], facts: Facts) -> float:
    """Return about how many CPU seconds training and scoring some models takes, on one split and a few features.

    Parameters
    ----------
    models : sequence of str
        Their names.
    facts : Facts
        Shape and kinds of the table.
    """
    n, d = facts.n_rows, min(facts.n_features, TYPICAL_SIZE)
    classes = (facts.n_classes or 2) if facts.task == CLASSIFICATION else 1
    found = 0.0
    for name in models:
        per_cell, per_square = MODELS.get(name, UNKNOWN_MODEL)
        found += n * d * per_cell * (classes if name == "lightgbm" else 1) + n * n * per_square
    return found


def table_seconds(facts: Facts) -> float:
    """Return about how many CPU seconds reading a source and writing the table takes."""
    return facts.n_cells * READ_CELL + facts.n_features * READ_CELL


# --- how the work of methods grows: what a card's `work` names -------------------------------------------------------


def _n_ranked(options: Mapping[str, Any], d: int) -> float:
    """Return how many features are ranked, over all rankings: one, or with `auto` one more a part of the rows."""
    asked = options.get("n_features", 10)
    if asked == "auto":
        return 6.0 * min(50, d)
    return float(min(max(asked) if isinstance(asked, Sequence) else asked, d))


def _admitted(d: int) -> float:
    """Return how many features a search admits, as a rule."""
    return min(float(d), 5 + 0.02 * d)


#: What methods do that state nothing.
FAMILIES = {
    "causal": "forward",
    "filter": "ranking",
    "kernel": "kernel",
    "wrapper": "wrapper",
    "reference": "none",
    "external": "fit",
}
#: Tests given something, of d features.
TESTS: dict[str, Callable[[int, Mapping[str, Any]], float]] = {
    "none": lambda d, options: 0.0,
    "ranking": lambda d, options: 2 * _n_ranked(options, d) * d,
    "backward": lambda d, options: _admitted(d),
    "forward": lambda d, options: _admitted(d) * (d + _admitted(d)) * options.get("n_runs", 1),
    "neighbours": lambda d, options: 30.0 * d,
    "spouses": lambda d, options: 30.0 * d * (1 + _admitted(d)),
    "pairs": lambda d, options: 0.5 * d * d,
}
#: CPU seconds, of n rows and d features.
SECONDS: dict[str, Callable[[int, int, Mapping[str, Any]], float]] = {
    "fit": lambda n, d, options: 1e-6 * n * d,
    "neighbour-rows": lambda n, d, options: 1e-9 * n * n * d,
    "kernel": lambda n, d, options: 1e-5 * n * d * log2(d + 1),
    "wrapper": lambda n, d, options: 20 * d * (FIT + FIT_ROW * n),
}


def _given_seconds(test: CITest | None, facts: Facts) -> float:
    """Return the seconds of one test given something."""
    if test is None:
        return 0.0
    options = test.options()
    n_fits = options.get("n_repeats") or options.get("n_splits")
    if n_fits:
        return n_fits * (FIT + FIT_ROW * facts.n_rows)
    fixed, per_row = GIVEN.get(test.card.id, UNKNOWN_TEST)
    return fixed + per_row * facts.n_rows
