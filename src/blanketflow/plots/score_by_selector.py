"""The score of each selector beside that of all features, a panel for each model."""

from __future__ import annotations

import altair as alt
import pandas as pd

from .theme import BLUE, INK, STEP, WIDTH, themed

_COLUMNS = 3
#: Pixels of a row that the names on the y axis and the gaps between panels take.
_MARGIN = 220


def score_by_selector(scores: pd.DataFrame, metric: str, baseline: str = "all") -> alt.FacetChart:
    """Draw mean and standard deviation over the splits of one data set.

    Parameters
    ----------
    scores : DataFrame
        Columns selector, model, metric, mean, sd of one data set, in the order to show.
    metric : str
        The metric to draw.
    baseline : str
        The selector that keeps all features: a dashed line.
    """
    shown = scores[(scores["metric"] == metric) & scores["mean"].notna()]
    spread = shown["sd"].fillna(0.0)
    reference = shown[shown["selector"] == baseline].set_index("model")["mean"]
    data = pd.DataFrame(shown[["selector", "model", "mean"]]).assign(
        low=shown["mean"] - spread, high=shown["mean"] + spread, baseline=shown["model"].map(reference)
    )
    models = list(dict.fromkeys(data["model"]))
    columns = max(1, min(_COLUMNS, len(models)))
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(tickCount=3, labelOverlap="parity", labelSeparation=6)
    y = alt.Y("selector:N", sort=list(dict.fromkeys(data["selector"])), title=None)
    base = alt.Chart().properties(width=(WIDTH - _MARGIN) // columns, height=alt.Step(STEP))
    reference_line = base.mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3])
    spreads = base.mark_rule(color=BLUE, strokeWidth=2)
    means = base.mark_point(color=BLUE, filled=True, size=60, opacity=1)
    layers = alt.layer(
        reference_line.encode(x=alt.X("mean(baseline):Q", scale=scale)),
        spreads.encode(x=alt.X("low:Q", scale=scale, title=metric, axis=axis), x2="high:Q", y=y),
        means.encode(x=alt.X("mean:Q", scale=scale), y=y),
        data=data,
    )
    facets = layers.facet(facet=alt.Facet("model:N", sort=models, title=None), columns=columns, spacing=18)
    return themed(facets.resolve_scale(x="independent"))
