"""Inputs and outputs of selectors: X and y as a table and a target, frames of other packages, the trace."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..core.cards import CATEGORICAL, CLASSIFICATION
from ..core.column_checks import declared_labels, number_texts, warn_of_number_texts
from ..core.convert import as_table, column_of_objects, refuse_path, without_mask
from ..core.errors import DataError, SimilarLabelsWarning
from ..core.prior import PriorKnowledge
from ..core.table import Column, Table, check_unicode
from ..data.arrow_frames import as_frame, with_plain_texts
from ..data.card import with_findings
from ..data.column_roles import RawTable
from ..data.columns import by_look
from ..data.findings import Finding, findings, in_lines
from ..data.suspected_cells import warn_of_cells
from ..search.confirmation import result_columns
from ..search.sample import check_complete
from ..search.search import Outcome
from ..selectors.base import FoldOutcome
from ..targets.forms import as_target
from ..targets.joint import refuse_among

if TYPE_CHECKING:
    import pandas as pd


def own_names(X: Any) -> dict[str, Any]:
    """Return the names of a frame's columns by their text; empty if all are texts."""
    if not hasattr(X, "iloc") or all(isinstance(name, str) for name in X.columns):
        return {}
    return {str(name): name for name in X.columns.tolist()}


def with_own_names(selector: Any, own: dict[str, Any]) -> Any:
    """Return the features of a result under the names of the caller's frame; a table has texts only."""
    if not own:
        return selector
    for attribute in ("selected_features_", "candidates_"):
        setattr(selector, attribute, [own[name] for name in getattr(selector, attribute)])
    for attribute in ("roles_", "importances_", "frequencies_", "groups_"):
        found = getattr(selector, attribute)
        setattr(selector, attribute, {own[name]: value for name, value in found.items()})
    stand_ins = {name: [row._replace(feature=own[row.feature]) for row in r] for name, r in selector.stand_ins_.items()}
    selector.stand_ins_ = {own[name]: rows for name, rows in stand_ins.items()}
    selector.feature_groups_ = {name: [own[m] for m in members] for name, members in selector.feature_groups_.items()}
    selector.blankets_ = [[own[name] for name in blanket] for blanket in selector.blankets_]
    trace = selector.trace_
    given = [None if names is None else [own[name] for name in names] for names in trace["given"]]
    selector.trace_ = trace.assign(feature=[own[name] for name in trace["feature"]], given=given)
    for attribute in ("confirmed_", "discoveries_"):
        frame = getattr(selector, attribute)
        setattr(selector, attribute, frame.assign(feature=[own[name] for name in frame["feature"]]))
    return selector


def plain(selector: Any, X: Any) -> Any:
    """Return input that scikit-learn can convert to an array, if an array is returned; else the frame unchanged."""
    X = without_mask(X)
    return with_plain_texts(as_frame(X)) if _output(selector) == "default" else as_frame(X)


def selected_columns(selector: Any, X: Any) -> Any:
    """Return the selected columns of a polars, pyarrow or other Arrow table.

    It keeps its type if that or nothing is requested; else it becomes a DataFrame of pandas.
    """
    check_is_fitted(selector, "selected_features_")
    frame = as_frame(X)
    validate_data(selector, frame, reset=False, skip_check_array=True)
    kept = selector._transform(frame)
    package = type(X).__module__.partition(".")[0]
    may_stay = package in ("polars", "pyarrow") and _output(selector) in ("default", package)
    return X.select(list(kept.columns)) if may_stay else kept


def _output(selector: Any) -> str:
    return _get_output_config("transform", selector)["dense"]


def table_and_target(selector: Any, X: Any, y: Any) -> tuple[Table, Column]:
    """Return X and y as a selector fits them, with the column names.

    Raises `DataError` if they cannot be read or have unsupported content.
    """
    name = str(getattr(y, "name", None) or "target")
    refuse_path(X)
    given = y
    of_kind = as_target(type(selector).__name__, name, y, selector.target_kind)
    table, X, y = None, as_frame(X), with_plain_texts(without_mask(y)) if of_kind is None else of_kind.numbers()
    _check_one_target(y)
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        table = _frame_as_table(X)  # before scikit-learn looks at it, whose messages do not name the column
    elif np.ma.is_masked(X):
        table, X = as_table(X), without_mask(X)
    if isinstance(X, Table):
        checked, y = X, _validated_table(selector, X, y)
    else:
        checked, y = validate_data(
            selector,
            with_plain_texts(X),
            y,
            dtype=None,
            accept_sparse="csc",
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
    y = column_or_1d(y, warn=True)
    target = column_of_objects(name, y) if of_kind is None else of_kind
    name = target.name
    check_unicode("y has the name", [name])
    if target.n_missing():
        raise DataError(f"Input y contains NaN or None in {target.n_missing()} rows. Drop those rows first.")
    if of_kind is None:
        _check_labels(y, target, selector.task)
    if table is None:
        table = as_table(checked)
    refuse_among(type(selector).__name__, given, table.names)
    told = warn_of_cells(type(selector).__name__, X, table, target, stacklevel=3)
    warn_of_number_texts(type(selector).__name__, X, table, 4, told)
    _warn_of_similar_labels(type(selector).__name__, [target, *table.one_of_each()])
    selector._table_names = table.names
    selector._own_names = own_names(X)
    check_complete(table, selector.missing)
    if name in table.names:
        name = "target"
    while name in table.names:
        name = "_" + name
    return table, replace(target, name=name)


def findings_told(X: Any, raw: RawTable, prior: PriorKnowledge) -> tuple[str, ...]:
    """Return the serious findings of X as it was read, but for features that are excluded, with what settles them."""
    names = raw.features.names
    excluded = set(prior.of(names, "exclude", raw.target.name).excluded)
    seen = raw.features.select([name for name in names if name not in excluded]) if excluded else raw.features
    texts = [] if isinstance(X, Table) else number_texts(seen.columns, declared_labels(X, raw.features))
    looked = with_findings(replace(raw, features=seen), texts)
    return tuple(in_lines(map(Finding.as_dict, findings(looked)), "arguments"))


def _warn_of_similar_labels(where: str, columns: Sequence[Column]) -> None:
    """Warn of the first column with labels that look the same, but are of different characters."""
    for column in columns:
        alike = next((pair for pair in by_look(column.levels).values() if len(pair) > 1), None)
        if alike:
            warnings.warn(
                f"{where}: column {column.name!r} holds the labels {alike[0]!a} and {alike[1]!a}, which look alike, as "
                "two. Make one of them, as str.normalize of pandas does.",
                SimilarLabelsWarning,
                stacklevel=5,
            )
            return


def _validated_table(selector: Any, table: Table, y: Any) -> Any:
    """Check a `Table` as scikit-learn checks its own input types; return the target."""
    y = validate_data(selector, y=y)
    if len(y) != table.n_rows or len(y) < 2 or not len(table):
        raise DataError(
            f"X has {table.n_rows} rows and {len(table)} columns, y has {len(y)} rows. "
            "Both need the same number of rows, at least 2, and X at least one column."
        )
    selector.n_features_in_, selector.feature_names_in_ = len(table), np.array(table.names, dtype=object)
    return y


def _frame_as_table(X: Any) -> Table:
    """Return a DataFrame as a table; refuses a mixture of text and other column names, as scikit-learn does."""
    other = next((name for name in X.columns if not isinstance(name, str)), None)
    if other is not None and any(isinstance(name, str) for name in X.columns):
        raise DataError(
            f"column name {other!r} is not text, but other names are. Make all of them text: "
            "X.columns = X.columns.astype(str)."
        )
    return as_table(X)


def _check_one_target(y: Any) -> None:
    """Raise `DataError` if y has several columns."""
    shape = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise DataError(
            f"y has {shape[1]} columns, and fit takes one target. For times and events set target_kind to survival. "
            "For joint labels give {'joint': y}. For several targets, name columns of X in bf.blankets(X, "
            "targets=[...], exclude_targets=True), or as y of bf.compare."
        )


def _check_labels(y: np.ndarray, target: Column, task: str) -> None:
    """Raise `DataError` if y should be classes but has no distinguishable labels."""
    if target.kind == CATEGORICAL and len({isinstance(label, str) for label in y.tolist()}) > 1:
        other = next(label for label in y.tolist() if not isinstance(label, str))
        raise DataError(f"y holds text and other values, such as {other!r}. Make all of them text, or all numbers.")
    if task == CLASSIFICATION or target.is_discrete:
        try:
            check_classification_targets(target.values)
        except ValueError as error:
            raise DataError(f"{error} Set task to regression, or make labels of the values.") from error


def trace(folds: Sequence[str], outcomes: Sequence[FoldOutcome]) -> pd.DataFrame:
    """Return one row per admission or removal on each fold, with its test."""
    import pandas as pd

    names = ("feature", "kept", "role", "statistic", "p_value", "importance")
    columns: dict[str, list[Any]] = {name: [] for name in ("fold", "stage", "step", *names, "given")}
    for fold, outcome in zip(folds, outcomes, strict=True):
        for stage, steps in (("grow", outcome.grown), ("shrink", outcome.decisions)):
            n = len(steps)
            columns["fold"] += [fold] * n
            columns["stage"] += [stage] * n
            columns["step"] += range(n)
            columns["given"] += steps.listed
            for name in names:
                columns[name] += getattr(steps, name).tolist()
    return pd.DataFrame(columns, dtype=None if columns["fold"] else object)


def discoveries_frame(verdict: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each discovery with the smallest level at which it is one, the smallest level first."""
    import pandas as pd

    return pd.DataFrame(verdict.get("discoveries", {"feature": [], "q": [], "n_features": []}))


def confirmation_frame(outcome: Outcome | None = None) -> pd.DataFrame:
    """Return a row for each feature tested on left-out rows, with a column for each field of its result."""
    import pandas as pd

    names = result_columns(None) if outcome is None else outcome.confirmed_columns
    return pd.DataFrame([] if outcome is None else outcome.confirmed_rows, columns=names)
