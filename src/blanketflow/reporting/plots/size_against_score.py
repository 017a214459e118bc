"""How small the blankets are against how well a model predicts from them."""

from __future__ import annotations

import altair as alt
import pandas as pd

from .scales import wide
from .scatter import scatter
from .score_words import DIFFERENCE, described


def size_against_score(scores: pd.DataFrame, metric: str, model: str, baseline: str = "all") -> alt.LayerChart:
    """Draw mean blanket size and mean score of each selector on one data set, for one model.

    Selectors at the same point share one label.

    Parameters
    ----------
    scores : DataFrame
        Columns selector, model, metric, mean, n_features of one data set; sd, n_splits and difference, where given,
        are in the tooltip.
    metric, model : str
        What to draw.
    baseline : str
        The selector that keeps all features, drawn in its own colour.
    """
    shown = described(scores[(scores["metric"] == metric) & (scores["model"] == model)])
    points = shown.assign(x=shown["n_features"].round(2), y=shown["mean"]).dropna(subset=["x", "y"])
    titles = {"score": f"{metric} ({model})", "difference": DIFFERENCE, "features": "features kept"}
    return scatter(
        points, wide(points["x"]), "features kept, mean over splits", f"{metric} ({model})", titles, baseline
    )
