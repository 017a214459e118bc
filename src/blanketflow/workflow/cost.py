"""Estimates the CPU seconds of each stage, by which the plan merges and splits jobs and requests time.

An estimate is the number of cells times the time per cell of a test or fit times their number per feature. It depends
only on the config and the shape of the table, so plans are equal on all machines. Accuracy: docs/costs.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ci import CITest
from ..core.cards import NUMERIC
from ..selectors.base import Method
from ..selectors.ranking import MOST_FEATURES, N_PARTS
from .peek import Facts

#: CPU seconds of a job before its work begins, and of one that trains models.
LOADING, LOADING_MODELS = 0.6, 1.4
#: Seconds per cell: to read and impute a table; to read a source and write the table, dense as text or sparse.
READING, SOURCE_CELL, SOURCE_STORED = 6e-8, 1.5e-6, 3e-7
#: Seconds of one test, and per row; binning a column of numbers for discrete tests.
TESTS = {
    "g2": (1.5e-5, 5e-9),
    "chi2": (1.5e-5, 5e-9),
    "fisher-z": (2e-5, 4e-8),
    "lr-mixed": (1e-4, 4e-7),
    "mi-permutation": (1e-4, 7e-7),
    "hsic": (1e-4, 5e-6),
    "spline": (1.2e-3, 5e-7),
    "pcm": (2e-3, 8e-6),
    "rcit": (1e-3, 2e-6),
    "cmi-knn": (1e-3, 8e-5),
    "codec": (3e-4, 5e-6),
    "oracle": (1e-5, 0.0),
}
OTHER_TEST, BINNING = (1e-3, 1e-6), (3e-5, 1.6e-7)
#: Tests that also process the cells that a sparse table does not store.
DENSE = ("hsic",)
#: Seconds of fitting a tree to one column, and per row; per row of each further repeat on the column; and of a tree on
#: some columns, per row to the power of 1.5.
TREE, TREE_REPEAT, TREE_GIVEN = (2e-6, 6e-8), 2e-9, 2.2e-8
#: The same of binned trees, with a tree on some columns per row.
BINNED_REPEAT, BINNED_GIVEN = 3e-9, 5e-8
#: Seconds of training a model on 20 features and predicting: constant, per row, and per squared row.
MODELS = {
    "cox": (5e-3, 9e-6, 0.0),
    "fractional-logit": (5e-3, 2e-6, 0.0),
    "gamma": (5e-3, 1e-6, 0.0),
    "poisson": (5e-3, 1e-6, 0.0),
    "proportional-odds": (5e-3, 4e-6, 0.0),
    "forest": (0.1, 3.4e-4, 0.0),
    "knn": (3e-3, 1e-5, 0.0),
    "lightgbm": (0.04, 1e-4, 0.0),
    "logistic": (5e-3, 5e-6, 0.0),
    "naive-bayes": (2e-3, 2e-6, 0.0),
    "svm": (3e-3, 1e-5, 1.3e-7),
    "tree": (2e-3, 2.2e-5, 0.0),
}
OTHER_MODEL, MODEL_FEATURES = (0.1, 1e-4, 0.0), 20
#: Seconds of nearest-neighbour predictions for a fifth of the rows, per squared row, and per feature set.
NEAREST, NEAREST_SET = 1.5e-10, 2e-5
#: Models whose importances need predictions with each column permuted; a prediction takes this share of a fit.
SILENT_MODELS, PREDICTION = ("knn", "naive-bayes", "svm"), 0.1
#: Seconds of scoring one model on one split.
SCORES = 0.01
#: How a method's work grows, by `work` on its card: the operation, and its number per feature and per pair. ``code`` is
#: a test of two coded columns, ``rows`` the distances between all rows, ``fit`` a fit to all or some features.
WORK = {
    "nothing": ("test", 0.0, 0.0),
    "marginal": ("test", 0.0, 0.0),  # the ci_test stage has found all; the table is not even read
    "sums": ("cell", 1.0, 0.0),
    "near-rows": ("rows", 1.0, 0.0),
    "ranking": ("code", 10.0, 0.0),
    "pairs": ("code", 0.0, 0.5),
    "backward": ("test", 0.15, 0.0),
    "forward": ("test", 5.0, 0.0),
    "sets": ("test", 0.0, 1.0),
    "neighbours": ("test", 10.0, 0.0),
    "spouses": ("test", 20.0, 0.0),
    "kernel-pairs": ("test", 1.0, 0.1),
    "kernel-rounds": ("test", 10.0, 0.0),
    "fits": ("fit", 0.0, 0.0),
    "knockoffs": ("cell", 3.0, 0.04),
    "halves": ("cell", 0.3, 0.0),
    "fits-of-each": ("fit of some", 20.0, 0.0),
    "panel": ("panel", 0.0, 0.0),
}
#: The option that repeats the work, and the number of repeats per unit.
REPEATED = {"knockoffs": ("draws", 1), "halves": ("pairs", 2)}
#: Models that score feature sets, their largest number of training rows, and the number of fits of all of them.
PANEL, PANEL_ROWS, PANEL_FITS = ("lightgbm", "logistic", "knn"), 2000, 50
#: The work of methods that do not name it, by family; other families fit models.
FAMILIES = {"causal": "forward", "filter": "ranking", "kernel": "kernel-pairs", "reference": "nothing"}
#: Seconds of the regressions that confirm a member, and per row.
CONFIRM_MEMBER, CONFIRM_ROW = 0.05, 1e-4
CODE, CODE_ROW, CELL, DISTANCE = 2e-6, 1e-9, 2e-7, 5e-10


def work_of(method: Method) -> str:
    """Return the key of `WORK` that describes how the work of a method grows."""
    return method.card.work or FAMILIES.get(method.card.family, "fits")


def marginal_seconds(test: CITest, facts: Facts) -> float:
    """Return the approximate CPU seconds of all marginal tests of the features."""
    options = test.options()
    n_fits, model = _n_fits(options), options.get("model")
    if n_fits and model not in ("tree", "binned-tree"):
        return facts.n_features * n_fits * _fit_seconds(model, facts.n_rows, 1)
    feature, cell = TESTS.get(test.card.id, OTHER_TEST)
    if n_fits:
        feature, cell = TREE[0], TREE[1] + n_fits * (TREE_REPEAT if model == "tree" else BINNED_REPEAT)
    n_cells = facts.n_rows * facts.n_features if test.card.id in DENSE else facts.n_cells
    return facts.n_features * feature + n_cells * cell + _binning_seconds(options, facts)


def grow_shrink_seconds(method: Method, test: CITest | None, facts: Facts, time_limit: float | None = None) -> float:
    """Return the approximate CPU seconds of growing and shrinking on one fold, each at most `time_limit`.

    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.workflow.peek import peek
    >>> from blanketflow.selectors import get_method
    >>> wine = peek("wine", {"source": "sklearn:wine"})
    >>> seconds = grow_shrink_seconds(get_method("iamb", "wine", {}), get_ci_test("g2"), wine)
    >>> 0 < seconds < 60
    True
    """
    options, n, d = method.options(), facts.n_rows, facts.n_features
    model, is_auto = options.get("model"), options.get("n_features") == "auto"
    unit, per_feature, per_pair = WORK[work_of(method)]
    once = {
        "cell": n * CELL,
        "rows": DISTANCE * n * min(options.get("n_iterations") or n, n),
        "code": CODE + CODE_ROW * n,
        "test": _test_seconds(test, n) if test else 0.0,
        "fit": _fit_seconds(model, n, d),
        "fit of some": _nearest_seconds(n) if _by_distances(options) else _fit_seconds(model, n, d),
        "panel": PANEL_FITS * sum(_fit_seconds(name, min(n, PANEL_ROWS), d) for name in PANEL),
    }[unit]
    option, each_time = REPEATED.get(work_of(method), ("", 1))
    seconds = once * (per_feature * d + per_pair * d**2) * options.get(option, 1) * each_time
    if work_of(method) == "fits":
        times = options.get("n_splits", 5) * (1 + PREDICTION * d) if _is_permuted(options) else 1
        seconds = once * times * (options.get("n_permutations", 0) + 1)
    if unit == "panel":
        seconds = once
    if is_auto:  # ranks on all rows and on each part of them, and fits a model for each number of features
        numbers = range(1, min(MOST_FEATURES, d) + 1)
        models = (
            len(numbers) * _nearest_seconds(n) if model == "knn" else sum(_fit_seconds(model, n, k) for k in numbers)
        )
        seconds += N_PARTS * (seconds + models)
    if unit == "test" and test and per_feature + per_pair:
        seconds += _binning_seconds(test.options(), facts)
    return facts.n_cells * READING + (seconds if time_limit is None else min(seconds, 2 * time_limit))


def confirm_seconds(facts: Facts, n_members: int) -> float:
    """Return the approximate CPU seconds of testing each member given the others on the left-out rows."""
    return n_members * (CONFIRM_MEMBER + CONFIRM_ROW * facts.n_rows)


def evaluate_seconds(models: Sequence[str], facts: Facts, n_chosen: int = MODEL_FEATURES) -> float:
    """Return the approximate CPU seconds of training and scoring models on a number of features on one split."""
    d = min(facts.n_features, n_chosen)
    n_boosters = max(facts.n_classes or 2, 2) / 2
    return sum(SCORES + (n_boosters if m == "lightgbm" else 1) * _fit_seconds(m, facts.n_rows, d) for m in models)


def table_seconds(facts: Facts) -> float:
    """Return the approximate CPU seconds of reading a source and writing the table."""
    return (facts.n_cells + facts.n_features) * (SOURCE_CELL if facts.n_stored is None else SOURCE_STORED)


def _n_fits(options: Mapping[str, Any]) -> int:
    """Return the number of model fits per test; 0 for tests without a model or with their own regressions."""
    has_model = options.get("model") not in (None, "splines")
    return (options.get("n_repeats") or options.get("n_splits") or 0) if has_model else 0


def _test_seconds(test: CITest, n: int) -> float:
    """Return the seconds of one conditional test."""
    options = test.options()
    n_fits, model = _n_fits(options), options.get("model")
    if n_fits and model == "binned-tree":
        return n_fits * BINNED_GIVEN * n
    if n_fits:
        return n_fits * (TREE_GIVEN * n**1.5 if model == "tree" else _fit_seconds(model, n, 3) / 2)  # tests share fits
    fixed, per_row = TESTS.get(test.card.id, OTHER_TEST)
    return fixed + per_row * n


def _binning_seconds(options: Mapping[str, Any], facts: Facts) -> float:
    """Return the seconds of binning the features for a discrete test; 0 if nothing is binned."""
    if "bins" not in options or NUMERIC not in facts.kinds:
        return 0.0
    return facts.n_features * BINNING[0] + facts.n_cells * BINNING[1]


def _fit_seconds(model: Any, n: int, d: int) -> float:
    """Return the seconds of training on n rows and d features and predicting; they grow with the square root of d."""
    fixed, per_row, per_square = MODELS.get(_name(model), OTHER_MODEL)
    return fixed + (per_row * n + per_square * n * n) * (max(d, 1) / MODEL_FEATURES) ** 0.5


def _is_permuted(options: Mapping[str, Any]) -> bool:
    """Return whether a method needs predictions with each column permuted."""
    source = options.get("importance")
    return source == "permutation" or (source == "auto" and _name(options.get("model")) in SILENT_MODELS)


def _nearest_seconds(n: int) -> float:
    """Return the seconds of nearest-neighbour predictions for a part of n rows, for one of many feature sets."""
    return NEAREST_SET + NEAREST * n**2


def _by_distances(options: Mapping[str, Any]) -> bool:
    """Return whether feature sets are compared by distances, which can reuse those of shared features."""
    return _name(options.get("model")) == "knn" and options.get("scoring") == "auto"


def _name(model: Any) -> str:
    """Return the id of a model; "" for an estimator."""
    name = model.get("type") if isinstance(model, Mapping) else model
    return name if isinstance(name, str) else ""
