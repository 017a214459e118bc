"""Compares selectors without Snakemake: the same stages, tables and charts, in a notebook or on the command line."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...ci.base import CITest
from ...ci.choice import AUTO
from ...config.reading import read_config
from ...core.column_checks import number_texts
from ...core.errors import BlanketflowError, ConfigError
from ...core.prior import KEYS, as_texts
from ...core.registry import discover
from ...core.seeds import DEFAULT_SEED
from ...core.table import COUNTS, Column
from ...data.card import with_findings
from ...data.column_roles import RawTable, assemble
from ...data.in_memory import SOURCE, columns_in_memory
from ...data.sources import read_source
from ...models import DEFAULT_MODELS
from ...search.workers import n_workers
from ...selectors.external import WRAPPED
from ...workflow.in_process import run_plan
from ...workflow.peek import facts_of
from ...workflow.plan import make_plan, plan_of
from ...workflow.specs import Plan, table_seed
from ..estimator import MarkovBlanketSelector
from ..frames import own_names
from .result import Comparison

if TYPE_CHECKING:
    from ...reporting.report import Run


def compare(
    X: Any,
    y: Any = None,
    selectors: Any = ("hiton-mb", "ppfs", "mrmr"),
    *,
    models: Sequence[str] = DEFAULT_MODELS,
    metrics: str | Sequence[str] = "auto",
    evaluation: int | Literal["leave-group-out", "forward"] = 5,
    parts: int = 5,
    gap: float = 0,
    repeats: int = 1,
    final: bool = True,
    stratify: bool = True,
    optimistic: bool = False,
    folds: int = 5,
    fold_rows: str = "train",
    aggregate: str | Mapping[str, float] = "best-blanket",
    ci_tests: Mapping[str, Any] | None = None,
    groups: Any = None,
    weights: Any = None,
    weights_are: str = COUNTS,
    within: Any = None,
    time: Any = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    tiers: Sequence[Sequence[str]] | None = None,
    feature_groups: Mapping[str, Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    missing: str = "impute",
    imputations: int | None = None,
    max_rows: int | None = None,
    task: str = "auto",
    target_kind: str | None = None,
    name: str = "table",
    random_state: int = DEFAULT_SEED,
    n_jobs: int | None = 1,
    progress: bool = False,
) -> Comparison:
    """Compare selectors on one or several tables: what they select, and how well models predict from it.

    The results equal those of the workflow on files with the same content, to the last digit: the same stages run
    without Snakemake, and temporary files are removed at the end.

    Parameters
    ----------
    X : DataFrame, ndarray or scipy sparse matrix of shape (n, d), or mapping
        The features. A mapping ``{name: (X, y)}`` or ``{name: (X, y, groups, weights, within, time)}`` has several data
        sets.
    y : array-like of shape (n,), str, list of str, or mapping
        The target, or the name of its column in `X`; for times to an event a form that `fit` takes, or the names of the
        columns, ``{"time": "days", "event": "died"}``; for joint labels ``{"joint": ["relapse", "death"]}``. Rows
        without a target are left out. Several names make a data set for each target, ``table-age`` and so on, without
        the other targets among its features.
    selectors : sequence or mapping
        Method ids, selectors such as ``bf.HITONMB(alpha=0.01)``, any scikit-learn selector, or mappings ``{id: spec}``
        with a spec as in config.yaml; or one mapping of ids to any of these. With an evaluation the baseline ``all`` is
        added, and scores have a row ``none`` without features. `n_folds`, `fold_rows` and `aggregate` of a blanketflow
        selector override the values given here unless they have their defaults.
    models : sequence of str
        Models that score the blankets on the test rows, by default some for each kind of target. Models of another task
        are skipped.
    metrics : "auto" or sequence of str
        Metrics of the models.
    evaluation : int, "leave-group-out" or "forward"
        Outer folds of the evaluation, at least 2; 0 for none. With ``leave-group-out`` each of the `groups` is held out
        once, and ``found.held_out_groups`` has the scores on the unseen groups. With ``forward`` each period of `time`
        is the test part of a search in the periods before it, and ``found.drift`` tells how the features change.
    parts : int
        Forward: number of periods, of about equally many rows.
    gap : float
        Forward: time before the test rows that is left out of the training rows, in days for dates.
    repeats : int
        Repetitions of the outer folds.
    final : bool
        Whether to find the final blanket, on all rows.
    stratify : bool
        Whether folds preserve the class proportions.
    optimistic : bool
        Whether to score the final blanket on each split, too, although its search has used the test rows.
    folds : int
        Inner folds whose blankets are aggregated; 0 for none.
    fold_rows : {"train", "part"}
        Rows of an inner fold: all but its part, or the part.
    aggregate : {"best-blanket", "union", "intersection"} or {"frequency": share}
        Rule that combines the blankets of the inner folds.
    ci_tests : mapping, optional
        CI tests by id, used by specs: ``{"type": ..., option: ...}``, or tests of ``bf.get_ci_test``.
    groups : array-like of shape (n,), or str, optional
        Rows of a group are on the same side of every split except forward ones; a str names a column of `X`.
    weights : array-like of shape (n,), or str, optional
        Weights of the rows; a str names a column of `X`.
    weights_are : {"counts", "sampling"}
        Numbers of equal rows, or sampling weights, proportional to the population members that a row represents.
    within : array-like of shape (n,), or str, optional
        Strata, such as sites, within which CI tests are computed; a column of `X` named by a str is then no feature.
    time : array-like of shape (n,), or str, optional
        Forward: time of each row, as numbers or dates; a column of `X` named by a str is then no feature.
    include, exclude : list of str, optional
        Features forced into every selection, and features left out; ``prefix*`` matches a prefix.
    tiers : list of lists of str, optional
        Features by time of measurement, earliest first.
    feature_groups : dict of str to list of str, optional
        Features that are selected together or not at all, by the name of their group.
    costs : dict of str to float, optional
        Costs of features. Among interchangeable features the cheapest is selected.
    missing : {"impute", "drop", "error", "pairwise"}
        Missing cells are imputed from the training rows of each fold (median or most frequent label), their rows are
        dropped, or they raise an error. With "pairwise" each CI test uses the rows that are complete in its columns.
    imputations : int, optional
        Number of imputed copies of each fold's rows, at least 2, over which each CI test is pooled; needs
        ``missing="impute"``. Models are trained on rows imputed once.
    max_rows : int, optional
        Most rows of a fold, at least 10, for selectors that fit models or compare pairs of rows. Larger folds are
        sampled, stratified by the target. Other selectors use all rows.
    task : {"auto", "classification", "regression"}
        Prediction task.
    target_kind : str, optional
        Kind of the target, as in `fit`.
    name : str
        Id of the data set, unless `X` is a mapping; random numbers depend on it, as in the workflow.
    random_state : int
        Seed of all random numbers.
    n_jobs : int or None
        Parallel tasks, at most one per core; None is 1, -1 all cores. Results do not depend on it.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    Comparison
        Tables, charts and the report. `outcomes` lists failures and `skipped` unsuitable pairs; others are unaffected.

    Raises
    ------
    ConfigError, ParameterError
        If an argument is wrong or no selector suits a data set.
    DataError
        If a table cannot be used.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = bf.compare(X, y, ["mrmr", bf.GS(alpha=0.01)], models=["tree"], evaluation=2, folds=2)
    >>> found.scores["selector"].unique().tolist()
    ['mrmr', 'gs', 'all', 'none']
    >>> "proline" in found.blanket("mrmr")
    True
    """
    n_workers("compare", n_jobs, 1)  # refused before anything is read
    rows = {"groups": groups, "weights": weights, "within": within, "time": time}
    of_all = {"task": task, "missing": missing, "imputations": imputations, "include": include, "exclude": exclude}
    of_all |= {"target_kind": target_kind}
    of_all |= {"tiers": tiers, "feature_groups": feature_groups, "costs": costs, "max_rows": max_rows}
    given = data_sets(X, y, rows, weights_are, name, of_all)
    wanted, tests = selectors_and_tests(selectors, ci_tests)
    raw = {
        "seed": random_state,
        "datasets": {data.name: data.spec for data in given},
        "splits": {
            "evaluation": evaluation,
            "parts": parts,
            "gap": gap,
            "repeats": repeats,
            "final": final,
            "stratify": stratify,
            "optimistic": optimistic,
        },
        "folds": folds,
        "fold_rows": fold_rows,
        "aggregate": aggregate,
        "ci_tests": tests,
        "selectors": wanted,
        "models": list(models),
        "metrics": metrics if isinstance(metrics, str) else list(metrics),
    }
    config = read_config(raw)
    columns = {part: data.columns for data in given for part in config.parts(data.name)}
    tables = {
        name: with_findings(assemble(name, spec, columns[name], spec["target"]), number_texts(columns[name]))
        for name, spec in config.datasets.items()
    }
    facts = {name: facts_of(table) for name, table in tables.items()}
    run = _run_of(plan_of(config, facts, Path), tables, n_jobs, progress)
    names = {part: data.own_names for data in given for part in (data.name, *config.parts(data.name))}
    return Comparison(run, {name: own for name, own in names.items() if own})


def compare_config(raw: Mapping[str, Any], *, n_jobs: int | None = 1, progress: bool = False) -> Comparison:
    """Compare the selectors of a configuration on its data sets, as the workflow would.

    `raw` is the content of config.yaml. Paths are relative to the current folder; `output` and `grain` are ignored.
    Data sets in object storage are refused, because only the workflow reads them.

    Examples
    --------
    >>> found = compare_config(
    ...     {
    ...         "datasets": {"clinic": {"source": "simulate:clinic", "rows": 200}},
    ...         "selectors": {"gs": {"method": "gs"}},
    ...         "splits": {"evaluation": 0},
    ...         "folds": 0,
    ...     }
    ... )
    >>> found.truth[["dataset", "selector", "split"]].values.tolist()
    [['clinic', 'gs', 'full']]
    """
    plan = make_plan(raw, Path)
    config = plan.config
    tables = {name: read_source(name, spec, table_seed(config, name)) for name, spec in config.datasets.items()}
    return Comparison(_run_of(plan, tables, n_jobs, progress))


def _run_of(plan: Plan, tables: Mapping[str, RawTable], n_jobs: int | None, progress: bool) -> Run:
    with tempfile.TemporaryDirectory(prefix="blanketflow-") as folder:
        return run_plan(plan, tables, Path(folder), n_jobs, progress)


#: Settings of the whole comparison, which a single selector cannot override.
_OF_ALL = ("task", "random_state", "missing", "imputations", "weights_are", "max_rows")
#: Settings that a selector takes from the comparison unless they are set, by configuration key.
_OWN = {
    "n_folds": "folds",
    "fold_rows": "fold_rows",
    "aggregate": "aggregate",
    "time_limit": "time_limit",
    "max_tests": "max_tests",
    "confirm": "confirm",
    "confirm_splits": "confirm_splits",
    **{key: key for key in KEYS},
}
#: Optional values after the target in the tuple of a data set, in order.
_PARTS = ("groups", "weights", "within", "time")


@dataclass(frozen=True)
class DataSet:
    """A data set in memory: id, spec as in a configuration, all columns, and column names that are not text."""

    name: str
    spec: dict[str, Any]
    columns: Sequence[Column]
    own_names: dict[str, Any]


def data_sets(
    X: Any, y: Any, rows: Mapping[str, Any], weights_are: str, name: str, of_all: Mapping[str, Any]
) -> list[DataSet]:
    """Return the data sets of `compare`.

    `rows` has groups, weights, strata and times by these names, and `of_all` configuration keys that apply to all data
    sets.
    """
    asked = {key: as_texts(value) if key in KEYS else value for key, value in of_all.items() if value is not None}
    if not isinstance(X, Mapping):
        return [_data_set(name, (X, y, *map(rows.get, _PARTS)), weights_are, asked)]
    if any(part is not None for part in (y, *rows.values())):
        raise ConfigError(
            "compare: with a mapping of data sets, y, groups, weights, within and time belong in it: "
            "{name: (X, y, groups, weights, within, time)}. None stands for what a data set does not have."
        )
    for name, parts in X.items():
        if not isinstance(parts, tuple) or not 2 <= len(parts) <= 2 + len(_PARTS):
            raise ConfigError(
                f"compare: data set {name!r} must be (X, y), or begin so and have groups, weights, within and time, in "
                "this order."
            )
    return [_data_set(name, parts, weights_are, asked) for name, parts in X.items()]


def _data_set(name: str, parts: Sequence[Any], weights_are: str, of_all: Mapping[str, Any]) -> DataSet:
    columns, target, names = columns_in_memory(name, *parts, target_kind=of_all.get("target_kind", AUTO))
    spec = {"source": SOURCE, "target": target, **names, **of_all}
    spec |= {"weights_are": weights_are} if "weights" in names else {}
    return DataSet(name, spec, columns, own_names(parts[0]))


def selectors_and_tests(selectors: Any, ci_tests: Mapping[str, Any] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the sections `selectors` and `ci_tests` of a configuration.

    Raises `ConfigError` for duplicate ids, parameters out of range, and a selector with its own seed or task.

    >>> selectors_and_tests(["mrmr", {"strict": {"method": "gs", "alpha": 0.001}}], None)[0]
    {'mrmr': {'method': 'mrmr'}, 'strict': {'method': 'gs', 'alpha': 0.001}}
    """
    tests = {name: _spec_of_test(test) for name, test in (ci_tests or {}).items()}
    specs: dict[str, Any] = {}
    for name, asked in _named(selectors):
        if name in specs:
            raise ConfigError(f"compare: two selectors are called {name!r}. Name them: {{id: selector, id: selector}}.")
        specs[name] = _spec(name, asked, tests)
    return specs, tests


def _spec_of_test(test: Any) -> Any:
    return {"type": test.card.id, **test.options()} if isinstance(test, CITest) else test


def _named(selectors: Any) -> Iterable[tuple[str, Any]]:
    """Yield each selector with its id: by default the id of its method, with a number if that is taken."""
    if isinstance(selectors, str) or not isinstance(selectors, Iterable):
        raise ConfigError(f"compare: selectors must be a list or a mapping, but is {selectors!r}.")
    if isinstance(selectors, Mapping):
        yield from selectors.items()
        return
    selectors = list(selectors)
    taken = {name for asked in selectors if isinstance(asked, Mapping) for name in asked}
    for asked in selectors:
        if isinstance(asked, Mapping):
            yield from asked.items()
            continue
        first, n = _identifier(asked), 1
        name = first
        while name in taken:
            n += 1
            name = f"{first}-{n}"
        taken.add(name)
        yield name, asked


def _identifier(asked: Any) -> str:
    """Return the id of a method, or a class name in the form of an id."""
    if isinstance(asked, MarkovBlanketSelector):
        return asked.method_class.card.id
    called = asked.rpartition(":")[2] if isinstance(asked, str) else type(asked).__name__
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", "-", called).lower()


def _spec(name: str, asked: Any, tests: dict[str, Any]) -> Any:
    if isinstance(asked, str):
        return {"method": asked}
    if isinstance(asked, MarkovBlanketSelector):
        return _spec_of_ours(name, asked, tests)
    if hasattr(asked, "fit") and not isinstance(asked, type):
        return {"method": WRAPPED, "selector": asked}
    return asked  # a spec; anything else is refused where all specs are checked


def _spec_of_ours(name: str, asked: MarkovBlanketSelector, tests: dict[str, Any]) -> dict[str, Any]:
    for parameter in _OF_ALL:
        if getattr(asked, parameter) != getattr(MarkovBlanketSelector, parameter):
            raise ConfigError(f"compare: selector {name!r} has a {parameter} of its own. Give it to compare.")
    try:
        method, test = asked.configured()
    except BlanketflowError as error:
        raise ConfigError(f"compare: selector {name!r}: {error}") from error
    own = type(method)
    is_listed = discover("blanketflow.selectors").get(own.card.id) is own
    spec = {"method": own.card.id if is_listed else f"{own.__module__}:{own.__qualname__}", **method.options()}
    spec |= {key: v for p, key in _OWN.items() if (v := getattr(asked, p)) != getattr(MarkovBlanketSelector, p)}
    spec |= {"min_effect": effect} if (effect := getattr(asked, "min_effect", None)) else {}
    if test is None:
        return spec
    if test == AUTO:
        return {**spec, "ci_test": AUTO}
    is_plain = isinstance(asked.ci_test, str) and all(getattr(asked, s) is None for s in method.test_shorthands)
    return {**spec, "ci_test": asked.ci_test if is_plain else _entered(name, test, tests)}


def _entered(name: str, test: CITest, tests: dict[str, Any]) -> str:
    """Add a configured test to the CI tests, once for equal tests; return its id."""
    spec = _spec_of_test(test)
    known = next((identifier for identifier, other in tests.items() if other == spec), None)
    if known is not None:
        return known
    identifier = f"{test.card.id}-of-{name}"
    tests[identifier] = spec
    return identifier
