"""What the stages cost, roughly, in CPU seconds: by this the plan merges jobs, splits them, and asks for time.

Estimates depend on the config and the table's shape alone, so that a plan is the same on every machine. What single
tests and fits take stands here; how many of them a method needs, in `workload`. docs/costs.md says how good they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...ci import CITest
from ...core.cards import CLASSIFICATION, NUMERIC
from ...selectors.base import Method
from ...selectors.number_of_features import MOST_FEATURES, N_PARTS
from ..peek import Facts
from .workload import FAMILIES, OTHERWISE, SEARCHES, WORK, Task

#: Seconds that any job works before its work begins, and one that trains models of scikit-learn or LightGBM.
LOADING, LOADING_MODELS = 0.6, 1.4
#: Seconds a cell of reading and imputing a table.
READING = 6e-8
#: Seconds a feature, and a cell, of coding and testing columns given nothing: of numbers that must be binned or ranked,
#: and of others.
MARGINAL = {
    "g2": ((3e-5, 1.6e-7), (2e-6, 1e-9)),
    "chi2": ((1e-4, 1e-7), (2e-6, 1e-9)),
    "mi-permutation": ((1e-4, 7e-7), (1e-4, 7e-7)),
    "fisher-z": ((2e-5, 4e-8), (2e-5, 4e-8)),
    "lr-mixed": ((2e-4, 4e-7), (2e-4, 4e-7)),
    "hsic": ((5e-4, 9e-6), (5e-4, 1e-6)),
}
#: Tests whose marginal stage takes cells that are not stored as long as others.
DENSE = ("hsic",)
MARGINAL_OTHER = ((1e-4, 1e-7), (1e-4, 1e-7))
#: The same of binning numbers before a search.
BINNING = (1e-4, 1e-7)
#: The same of the tree of one column, and what each further repeat takes a cell.
TREE, TREE_REPEAT = (2e-6, 6e-8), 2e-9
#: Seconds of a test given something: as such, and a row.
GIVEN = {
    "g2": (1.5e-5, 5e-9),
    "chi2": (1.5e-5, 5e-9),
    "fisher-z": (2e-5, 0.0),
    "lr-mixed": (1e-4, 3e-7),
    "mi-permutation": (1e-4, 2e-6),
    "hsic": (1e-4, 2.5e-6),
    "oracle": (1e-5, 0.0),
    "population": (1e-3, 0.0),
}
GIVEN_OTHER = (1e-3, 1e-6)
#: Seconds of a tree's fit on some columns: as such, and for the rows to the power of 1.5.
FIT_TREE, FIT_TREE_ROWS = 1e-5, 2.2e-8
#: Seconds of training a model on 20 features and predicting: as such, a row, and for the square of the rows.
MODELS = {
    "forest": (0.1, 3.4e-4, 0.0),
    "knn": (3e-3, 1e-5, 0.0),
    "lightgbm": (0.1, 1e-4, 0.0),
    "logistic": (5e-3, 5e-6, 0.0),
    "naive-bayes": (2e-3, 2e-6, 0.0),
    "svm": (3e-3, 1e-5, 4.3e-8),
    "tree": (2e-3, 2.2e-5, 0.0),
}
#: The same of probabilities, which scores ask for, where they take fits of their own.
PROBABILITIES = {"svm": (2.7e-2, 0.0, 8.7e-8)}
MODEL_OTHER = (0.1, 1e-4, 0.0)
#: The same of predicting a fifth of the rows by those that do not say what their columns matter, and by others.
PREDICTIONS = {"knn": (1e-4, 0.0, 1.2e-9), "naive-bayes": (1e-4, 0.0, 0.0), "svm": (1e-4, 0.0, 5.5e-9)}
PREDICTIONS_OTHER = (1e-4, 1e-6, 0.0)
MODEL_FEATURES = 20
#: Seconds of a split's scores.
SCORES = 0.03
#: Seconds a cell of reading a source and writing the table: of a dense one, as text, and of a sparse one.
SOURCE_CELL, SOURCE_STORED = 1.5e-6, 3e-7


def marginal_seconds(test: CITest, facts: Facts) -> float:
    """Return about how many CPU seconds testing all features given nothing takes.

    Parameters
    ----------
    test : CITest
        The configured test.
    facts : Facts
        Shape and kinds of the table.
    """
    n_fits, model = _fits(test.options())
    if n_fits and model == "tree":
        feature, cell = TREE
        cell += n_fits * TREE_REPEAT
    elif n_fits:
        feature, cell = n_fits * _test_fit_seconds(test.options(), facts.n_rows, 1), 0.0
    else:
        feature, cell = MARGINAL.get(test.card.id, MARGINAL_OTHER)[NUMERIC not in facts.kinds]
    n_cells = facts.n_rows * facts.n_features if test.card.id in DENSE else facts.n_cells
    return facts.n_features * feature + n_cells * cell


def grow_shrink_seconds(method: Method, test: CITest | None, facts: Facts, time_limit: float | None = None) -> float:
    """Return about how many CPU seconds growing and shrinking on one fold takes.

    Parameters
    ----------
    method : Method
        The configured method. How its work grows stands on its card, or is that of its family.
    test : CITest or None
        Its configured test.
    facts : Facts
        Shape and kinds of the table.
    time_limit : float, optional
        Seconds that each of the two phases may take.

    Examples
    --------
    >>> from blanketflow.ci import get_ci_test
    >>> from blanketflow.workflow.peek import peek
    >>> from blanketflow.selectors import get_method
    >>> wine = peek("wine", {"source": "sklearn:wine"})
    >>> seconds = grow_shrink_seconds(get_method("iamb", "wine", {}), get_ci_test("g2"), wine)
    >>> 0 < seconds < 60
    True
    """
    options = method.options()
    test_options = test.options() if test else {}
    task = Task(
        n=facts.n_rows,
        d=facts.n_features,
        cells=facts.n_cells,
        options=options,
        test_options=test_options,
        given=_given_seconds(test, facts) if test else 0.0,
        fit=_fit_seconds(options.get("model"), facts.n_rows, facts.n_features),
        levels=test_options.get("bins", 2) if NUMERIC in facts.kinds else min(facts.max_levels or 2, 10),
        classes=facts.n_classes or 2,
        predict=_permuted_seconds(options, facts),
        rankings=1 + N_PARTS if options.get("n_features") == "auto" else 1,  # itself, and one on each part of the rows
        longest=MOST_FEATURES,
    )
    work = work_of(method)
    seconds = WORK[work](task)
    if options.get("n_features") == "auto":
        tried = range(1, min(MOST_FEATURES, facts.n_features) + 1)
        seconds += N_PARTS * sum(_fit_seconds(options.get("model"), facts.n_rows, n) for n in tried)
    if NUMERIC in facts.kinds and "bins" in test_options and work in SEARCHES:
        feature, cell = BINNING
        seconds += facts.n_features * feature + facts.n_cells * cell
    return facts.n_cells * READING + (seconds if time_limit is None else min(seconds, 2 * time_limit))


def work_of(method: Method) -> str:
    """Return how the work of a method grows: a key of `workload.WORK`."""
    return method.card.work or FAMILIES.get(method.card.family, OTHERWISE)


def evaluate_seconds(models: Sequence[str], facts: Facts, n_chosen: int = MODEL_FEATURES) -> float:
    """Return about how many CPU seconds training and scoring some models takes, on one split.

    Parameters
    ----------
    models : sequence of str
        Their names.
    facts : Facts
        Shape and kinds of the table.
    n_chosen : int, default=20
        Features that they are trained on.
    """
    classes = (facts.n_classes or 2) if facts.task == CLASSIFICATION else 1
    n_features = min(facts.n_features, n_chosen)
    found = 0.0
    for name in models:
        trees = max(classes, 2) / 2 if name == "lightgbm" else 1
        found += SCORES + trees * _fit_seconds(name, facts.n_rows, n_features)
        found += _probability_seconds(name, facts.n_rows, n_features)
    return found


def table_seconds(facts: Facts) -> float:
    """Return about how many CPU seconds reading a source and writing the table takes."""
    cell = SOURCE_CELL if facts.n_stored is None else SOURCE_STORED
    return facts.n_cells * cell + facts.n_features * cell


def _fits(options: Mapping[str, Any]) -> tuple[int, Any]:
    """Return how many times a test fits which model; 0 for tests that fit none."""
    return options.get("n_repeats") or options.get("n_splits") or 0, options.get("model")


def _test_fit_seconds(options: Mapping[str, Any], n: int, d: int) -> float:
    """Return the seconds of a test's fit; a test that splits (cpi) compares losses of probabilities."""
    probabilities = _probability_seconds(options["model"], n, d) if options.get("n_splits") else 0.0
    return _fit_seconds(options["model"], n, d) + probabilities


def _fit_seconds(model: Any, n: int, d: int) -> float:
    """Return the seconds of training a model on d features of n rows and predicting."""
    return _grown(MODELS.get(_name(model), MODEL_OTHER), n, d)


def _probability_seconds(model: Any, n: int, d: int) -> float:
    """Return the seconds that a model's probabilities take beyond that."""
    return _grown(PROBABILITIES.get(_name(model), (0.0, 0.0, 0.0)), n, d)


def _permuted_seconds(options: Mapping[str, Any], facts: Facts) -> float:
    """Return the seconds of predicting held-out rows with a column permuted, 0 where importances need none."""
    model, source = options.get("model"), options.get("importance")
    if source != "permutation" and not (source == "auto" and _name(model) in PREDICTIONS):
        return 0.0
    return _grown(PREDICTIONS.get(_name(model), PREDICTIONS_OTHER), facts.n_rows, facts.n_features)


def _name(model: Any) -> str:
    """Return a model's id; "" for an estimator."""
    name = model.get("type") if isinstance(model, Mapping) else model
    return name if isinstance(name, str) else ""


def _grown(seconds: tuple[float, float, float], n: int, d: int) -> float:
    """Return the seconds of n rows and d features; models grow with the root of d."""
    fixed, per_row, per_square = seconds
    return fixed + (per_row * n + per_square * n * n) * (max(d, 1) / MODEL_FEATURES) ** 0.5


def _given_seconds(test: CITest, facts: Facts) -> float:
    """Return the seconds of one test given something."""
    n_fits, model = _fits(test.options())
    if n_fits and model == "tree":
        return n_fits * (FIT_TREE + FIT_TREE_ROWS * facts.n_rows**1.5)
    if n_fits:
        return n_fits * _test_fit_seconds(test.options(), facts.n_rows, 3) / 2  # tests share fits
    fixed, per_row = GIVEN.get(test.card.id, GIVEN_OTHER)
    return fixed + per_row * facts.n_rows
