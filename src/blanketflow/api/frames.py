"""What selectors take and give back of a frame: its own kind of table, and its names, which may be whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.cards import CATEGORICAL, CLASSIFICATION
from ..core.convert import as_table
from ..core.errors import DataError
from ..core.table import Column, Table
from ..data.frames import as_frame, with_plain_texts


def own_names(X: Any) -> dict[str, Any]:
    """Return the names of a frame's columns by the text of each; empty if they are texts, as most are."""
    if not hasattr(X, "iloc") or all(isinstance(name, str) for name in X.columns):
        return {}
    return {str(name): name for name in X.columns.tolist()}


def with_own_names(selector: Any, own: dict[str, Any]) -> Any:
    """Name features in what a selector has found as the caller's frame does; a table has texts only."""
    if not own:
        return selector
    for attribute in ("selected_features_", "candidates_"):
        setattr(selector, attribute, [own[name] for name in getattr(selector, attribute)])
    for attribute in ("roles_", "importances_", "frequencies_", "groups_"):
        found = getattr(selector, attribute)
        setattr(selector, attribute, {own[name]: value for name, value in found.items()})
    selector.feature_groups_ = {name: [own[m] for m in members] for name, members in selector.feature_groups_.items()}
    selector.blankets_ = [[own[name] for name in blanket] for blanket in selector.blankets_]
    trace = selector.trace_
    given = [None if names is None else [own[name] for name in names] for names in trace["given"]]
    selector.trace_ = trace.assign(feature=[own[name] for name in trace["feature"]], given=given)
    selector.confirmed_ = selector.confirmed_.assign(feature=[own[name] for name in selector.confirmed_["feature"]])
    return selector


def plain(selector: Any, X: Any) -> Any:
    """Return what scikit-learn can make an array of, if an array is to come out; else a frame as it is."""
    return with_plain_texts(as_frame(X)) if _output(selector) == "default" else as_frame(X)


def selected_columns(selector: Any, X: Any) -> Any:
    """Return the selected columns of a table of polars, pyarrow or another that gives Arrow.

    It stays a table of its own kind where that, or nothing, is asked for; else it is a DataFrame of pandas.
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


def frame_as_table(X: Any) -> Table:
    """Return a DataFrame as a table; refuses names of which some are text and others are not, as scikit-learn does."""
    other = next((name for name in X.columns if not isinstance(name, str)), None)
    if other is not None and any(isinstance(name, str) for name in X.columns):
        raise DataError(
            f"column name {other!r} is not text, but other names are. Make all of them text: "
            "X.columns = X.columns.astype(str)."
        )
    return as_table(X)


def check_one_target(y: Any) -> None:
    """Raise `DataError` if y has several columns."""
    shape = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise DataError(
            f"y has {shape[1]} columns, and fit takes one target. For several, name columns of X in "
            "bf.blankets(X, targets=[...], exclude_targets=True), or as y of bf.compare."
        )


def check_labels(y: np.ndarray, target: Column, task: str) -> None:
    """Raise `DataError` if y is to be classes, but has no labels that can be told apart."""
    if target.kind == CATEGORICAL and len({isinstance(label, str) for label in y.tolist()}) > 1:
        other = next(label for label in y.tolist() if not isinstance(label, str))
        raise DataError(f"y holds text and other values, such as {other!r}. Make all of them text, or all numbers.")
    if task == CLASSIFICATION or target.is_discrete:
        try:
            check_classification_targets(target.values)
        except ValueError as error:
            raise DataError(f"{error} Set task to regression, or make labels of the values.") from error
