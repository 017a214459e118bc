"""What a selector costs against how well a model predicts from its features."""

from __future__ import annotations

import altair as alt
import pandas as pd

from ...core.errors import UnknownNameError, did_you_mean
from .scales import wide
from .scatter import scatter
from .score_words import DIFFERENCE, described
from .words import number, seconds

_AXES = {"n_tests": "tests, all splits and folds", "selection_seconds": "seconds of selection, all splits and folds"}


def cost_against_score(
    scores: pd.DataFrame,
    runtime: pd.DataFrame,
    metric: str,
    model: str,
    cost: str = "selection_seconds",
    baseline: str = "all",
) -> alt.LayerChart:
    """Draw the cost of selection on a logarithmic axis and the mean score of each selector on one data set.

    The axis reaches 0 where a selector costs nothing, such as one that tests nothing.

    Parameters
    ----------
    scores : DataFrame
        Columns selector, model, metric, mean of one data set; sd, n_splits, n_features and difference, where given,
        are in the tooltip.
    runtime : DataFrame
        Columns selector, n_tests, selection_seconds of the same data set.
    metric, model : str
        What to draw.
    cost : {"selection_seconds", "n_tests"}
        What to draw across.
    baseline : str
        The selector that keeps all features, drawn in its own colour.

    Raises
    ------
    UnknownNameError
        If `cost` is neither.
    """
    if cost not in _AXES:
        raise UnknownNameError(f"no cost {cost!r} to draw. {did_you_mean(cost, _AXES)}")
    shown = described(scores[(scores["metric"] == metric) & (scores["model"] == model)])
    shown = shown.merge(runtime[["selector", "n_tests", "selection_seconds"]], on="selector")
    points = shown.assign(
        x=shown[cost],
        y=shown["mean"],
        tests=[number(n) for n in shown["n_tests"]],
        time=[seconds(value) for value in shown["selection_seconds"]],
    ).dropna(subset=["x", "y"])
    titles = {
        "score": f"{metric} ({model})",
        "difference": DIFFERENCE,
        "features": "features kept",
        "tests": "tests",
        "time": "time to select",
    }
    return scatter(points, wide(points["x"], always=True), _AXES[cost], f"{metric} ({model})", titles, baseline)
