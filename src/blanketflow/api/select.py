"""``bf.select``: which features of a table to keep, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..core.printable import printable

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

    from ..core.results import StandIn
    from .selectors import Auto


#: The verdict where there is nothing to judge.
NOTHING_VARIES: dict[str, Any] = {
    "sentence": "No feature helps: each has one value only.",
    "scores": [],
    "alternatives": [],
    "budget": {},
}


@dataclass(frozen=True)
class Selected:
    """The smallest set of features that loses nothing.

    Attributes
    ----------
    features : list of str
        The features to keep, most important first; all or none are possible answers.
    verdict : str
        The answer in a few sentences, with the score corrected for the choice among many sets, and its 95 % interval.
    stand_ins : dict of str to list of StandIn
        For each feature kept the others that keep at least 0.8 of its information about the target, the most first:
        feature, share (0 to 1) and its 95 % interval (low, high). From a share of 0.95 on one can stand in for it.
    scores : DataFrame
        One row per model of the panel and one for their mean: model, metric (accuracy, roc_auc or r2), value with the
        chosen features and with all, and their difference, by cross-validation. The row ``corrected`` is the mean
        corrected for the choice, with the interval of the difference (low, high).
    alternatives : DataFrame
        One row per number of features that was judged: the best set's ranking, its score with its 95 % interval over
        the rows (low, high; missing for roc_auc), its difference to all features, its stability from 0 to 1, and
        whether it was chosen.
    estimator : Pipeline or None
        Selection and the best model of the panel, fitted on all rows; None if no feature was kept. With
        ``missing="impute"`` its model takes medians of missing numbers, and missing labels as a level of their own.
    selector : Auto
        The fitted selector, with `trace_`, `status_`, and `importances_`: 1 divided by the geometric mean
        of a feature's ranks in the resamples.
    budget : dict of str to int
        How many rows were judged at most, and by how many fits: ``select(X, y, budget=...)`` finds the same answer.
    notes : list of str
        What to look at in the table first, such as a feature that may be known only after the target, and what was
        done with its rows.

    Examples
    --------
    >>> import blanketflow as bf
    >>> x = [[i % 7, i % 5, i] for i in range(200)]
    >>> found = bf.select(x, [row[2] > 100 for row in x])
    >>> found.features, found.estimator.predict([[0, 0, 150]]).tolist()
    (['x2'], [True])
    """

    features: list[str]
    verdict: str
    stand_ins: dict[str, list[StandIn]]
    scores: pd.DataFrame
    alternatives: pd.DataFrame
    estimator: Pipeline | None
    selector: Auto
    budget: dict[str, int]
    notes: list[str]

    def __repr__(self) -> str:
        return "\n- ".join(map(printable, [f"Selected({self.verdict})", *self.notes]))

    def _repr_html_(self) -> str:
        from .notebook import selected_html

        return selected_html(self)

    def plot(self) -> Any:
        """Draw the score of the best set of each size, with the chosen size marked and a dashed line at all features.

        ``found.selector.plot()`` draws the importances of the features.

        Returns
        -------
        altair.LayerChart
            A chart, which a notebook shows and ``chart.save("sizes.svg")`` writes.

        Examples
        --------
        >>> import blanketflow as bf
        >>> x = [[i % 7, i] for i in range(40)]
        >>> chart = bf.select(x, [row[1] > 20 for row in x]).plot()
        >>> chart.to_dict()["layer"][1]["encoding"]["y"]["title"]
        'accuracy'
        """
        from ..reporting.plots import score_by_size

        return score_by_size(self.alternatives, str(self.scores["metric"].iloc[0]))


def select(
    X: Any,
    y: Any,
    time_limit: float | None = 60,
    *,
    task: str = "auto",
    target_kind: str = "auto",
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    feature_groups: Mapping[str, Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    tiers: Sequence[Sequence[str]] | None = None,
    missing: Literal["error", "impute", "drop"] = "error",
    imputations: int | None = None,
    sample_weight: Any = None,
    weights_are: Literal["counts", "sampling"] = "counts",
    groups: Any = None,
    within: Any = None,
    max_rows: int | None = None,
    metric: Literal["auto", "error", "log-loss", "r2", "normal-scores"] = "auto",
    max_features: int | None = None,
    n_features: int | None = None,
    budget: Mapping[str, int] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Selected:
    """Find the features worth keeping: the smallest set with which models predict as well as with the best.

    Parameters
    ----------
    X : DataFrame, ndarray or sparse matrix of shape (n, d)
        n rows, d features; missing cells only if `missing` says what becomes of them.
    y : array-like of shape (n,)
        The target; of further kinds also a structured array, a DataFrame, a pair of arrays or a mapping, as in
        `Auto.fit`.
    time_limit : float, optional
        Seconds after which it decides by what it has judged; the verdict then says so. Whatever it is, there is an
        answer. Default 60; None for no limit.
    task : {"auto", "classification", "regression"}
        What the target is.
    target_kind : {"auto", "classification", "regression", "survival", "count", "ordered", "share", "positive"}
        Kind of the target. Models of this kind, such as Cox regression, then judge the sets, by concordance, explained
        deviance or the ranked probability score.
    include, exclude : list of str, optional
        Features that stay in the answer, and features that stay out of it; ``prefix*`` names all that begin so.
    feature_groups : dict of str to list of str, optional
        Features that come into the answer and stay out of it together, by the name of their group.
    costs : dict of str to float, optional
        What features cost. Of features that can stand in for each other the cheapest is taken.
    tiers : list of lists of str, optional
        Features by when they were measured, the earliest first: see the classes of causal methods.
    missing : {"error", "impute", "drop"}, default="error"
        What becomes of missing cells of X: refused, imputed (median, or most frequent label), or their rows dropped.
        Models judge the sets, so that every cell must be there: CI tests that take missing cells as they are do not
        help.
    imputations : int, optional
        Refused, for the same reason.
    sample_weight : array-like of shape (n,), optional
        How many equal rows each row stands for.
    weights_are : {"counts", "sampling"}, default="counts"
        What weights are. Sampling weights are refused: models judge the sets on the rows as they are.
    groups : array-like of shape (n,), optional
        Labels of rows that belong together: they are held out together.
    within : array-like of shape (n,), optional
        Refused: it is for CI tests, and models judge the sets. The classes of searches take it, such as `HITONMB`.
    max_rows : int, optional
        Most rows to rank and judge by, at least 10: beyond it a sample, stratified by the target. The final model is
        trained on all rows.
    metric : {"auto", "error", "log-loss", "r2", "normal-scores"}
        What decides between sets. By default what suits the target: the error rate, the log-loss where a class is rare,
        R² of numbers, or of their normal scores where tails are heavy.
    max_features : int, optional
        Most features in the answer.
    n_features : int, optional
        Keep the best set of exactly so many features, in place of the smallest.
    budget : dict of str to int, optional
        The rows and the fits of another answer, its ``budget``, to find it again: no time limit holds then.
    random_state : int
        Seed.
    n_jobs : int, optional
        Processes that share the work, at most one per core; -1 uses all cores, None is 1. What is found does not depend
        on it, unless the time limit ends it.
    verbose : int, default=0
        What is said on stderr: 0 nothing, 1 a line per round of judging, 2 one per step too.

    Returns
    -------
    Selected
        Features, verdict, scores, alternatives and a fitted pipeline.

    Raises
    ------
    DataError, ParameterError, UnsupportedError
        As `Auto.fit`.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = bf.select(X[["petal length (cm)", "petal width (cm)"]], y)
    >>> len(found.features) <= 2, found.alternatives["chosen"].sum()
    (True, np.int64(1))
    """
    import pandas as pd

    from ..search.workers import load_kernels
    from ..selectors.judged.in_time import load_models
    from .selectors import Auto

    load_kernels()  # before the time limit counts
    load_models()
    selector = Auto(
        task=task,
        target_kind=target_kind,
        include=include,
        exclude=exclude,
        feature_groups=feature_groups,
        costs=costs,
        tiers=tiers,
        missing=missing,
        imputations=imputations,
        weights_are=weights_are,
        max_rows=max_rows,
        metric=metric,
        max_features=max_features,
        n_features=n_features,
        budget=budget,
        random_state=random_state,
        time_limit=time_limit,
        n_jobs=n_jobs,
        verbose=verbose,
    ).fit(X, y, sample_weight, groups, within)
    said = NOTHING_VARIES | selector.verdict_
    sentence = said["sentence"] + (f" ({selector.status_}: {selector.reason_})" if selector.status_ != "ok" else "")
    return Selected(
        features=list(selector.selected_features_),
        verdict=sentence,
        stand_ins=dict(selector.stand_ins_),
        scores=pd.DataFrame(said["scores"]),
        alternatives=pd.DataFrame(said["alternatives"]),
        estimator=_pipeline(selector, said["best_model"], X, y, sample_weight) if selector.selected_features_ else None,
        selector=selector,
        budget=dict(said["budget"]),
        notes=list(selector.notes_),
    )


def _pipeline(selector: Auto, model: Any, X: Any, y: Any, weights: Any) -> Pipeline:
    """Return the fitted selector, indicators of labels and a model, which is fitted on what the selector keeps."""
    import numpy as np
    import pandas as pd
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

    from ..core.cards import scored_as
    from ..core.column import TargetColumn
    from ..core.convert import repeated_rows
    from ..core.table import column_from_array
    from ..core.task import target_column
    from ..models import build_estimator
    from ..models.encode import USUAL
    from ..models.responses import response
    from ..selectors.judged.judged_round import panel_of
    from ..targets import as_numbers
    from ..targets.forms import as_target

    selector = selector.set_output(transform="pandas") if hasattr(X, "columns") else selector
    found = selector.transform(X)
    kept, is_sparse = _dense(found), hasattr(found, "toarray")
    numbers: Any = SimpleImputer(strategy="median") if selector.missing == "impute" else "passthrough"
    steps: list[tuple[str, Any]] = [("dense", FunctionTransformer(_dense, accept_sparse=True))] if is_sparse else []
    if hasattr(kept, "columns"):
        labels = make_column_selector(dtype_exclude=["number", "bool"])
        encoder = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), labels), remainder=numbers
        )
        steps.append(("encode", encoder.set_output(transform="default")))
    elif selector.missing == "impute":
        steps.append(("impute", numbers))
    encoded = np.asarray(Pipeline(steps).fit_transform(kept) if steps else kept, dtype=float)
    powers = np.frexp(np.nanmax(np.abs(encoded), axis=0, initial=0))[1]
    if (np.abs(powers) > USUAL).any():  # models square what they are given
        of_columns = {"powers": np.where(np.abs(powers) > USUAL, powers, 0)}
        steps.append(("scale", FunctionTransformer(_scaled, kw_args=of_columns)))
    of_kind = as_target("select", "y", y, selector.target_kind)
    task = scored_as(selector.task_)
    if isinstance(of_kind, TargetColumn) and task != selector.task_:
        of_kind = as_numbers(of_kind)
    if isinstance(of_kind, TargetColumn):
        target, y = of_kind, response(of_kind, of_kind.target_kind)
    else:
        column = column_from_array("y", np.asarray(y)) if of_kind is None else of_kind
        target = target_column(column, task)
        if of_kind is not None:
            y = np.array(of_kind.levels, dtype=object)[of_kind.cells()] if of_kind.levels else of_kind.numbers()
    steps.append(("model", build_estimator(panel_of(target)[model], task, selector.random_state)))
    if weights is not None:
        rows = repeated_rows("select: sample_weight", weights, len(y))
        kept, y = (kept.iloc[rows] if hasattr(kept, "iloc") else kept[rows]), np.asarray(y)[rows]
    if selector.missing == "drop":
        complete = ~np.asarray(pd.isna(kept)).any(axis=1)
        kept, y = kept[complete], np.asarray(y)[complete]
    rest = Pipeline(steps).fit(kept, y)
    return Pipeline([("select", selector), *rest.steps])


def _dense(X: Any) -> Any:
    """Return a sparse matrix as an array, which scalers and models of the panel need; anything else as it is."""
    return X.toarray() if hasattr(X, "toarray") else X


def _scaled(X: Any, powers: Any) -> Any:
    """Return numbers divided column by column by powers of two."""
    import numpy as np

    return np.ldexp(np.asarray(X, dtype=float), -powers)
