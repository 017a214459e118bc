"""The score of each selector and that of all features, one panel per model."""

from __future__ import annotations

import altair as alt
import pandas as pd

from .scales import in_order
from .theme import BLUE, INK, STEP, WIDTH, themed, tooltip
from .words import DIFFERENCE, described, rounded

_COLUMNS = 3
#: Width of the names on the y axis and of the gaps between panels, in pixels.
_MARGIN = 220


def score_by_selector(scores: pd.DataFrame, metric: str, baseline: str = "all") -> alt.FacetChart:
    """Draw the mean and standard deviation over the splits of one data set.

    Pointing at a selector highlights it in every panel.

    Parameters
    ----------
    scores : DataFrame
        Columns selector, model, metric, mean and sd of one data set, in the order to show. If n_splits, n_features and
        difference are present, they are shown in the tooltip.
    metric : str
        The metric to draw.
    baseline : str
        The selector that keeps all features, drawn as a dashed line.
    """
    shown = scores[(scores["metric"] == metric) & scores["mean"].notna()]
    spread = shown["sd"].fillna(0.0)
    reference = shown[shown["selector"] == baseline].set_index("model")["mean"]
    data = described(shown).drop(columns="n_features")
    data = data.assign(
        mean=rounded(shown["mean"]),
        low=rounded(shown["mean"] - spread),
        high=rounded(shown["mean"] + spread),
        baseline=rounded(shown["model"].map(reference)),
    )
    models = list(dict.fromkeys(data["model"]))
    data = data.assign(panel=data["model"].map(models.index))
    columns = max(1, min(_COLUMNS, len(models)))
    scale = alt.Scale(zero=False, nice=True)
    axis = alt.Axis(tickCount=3, labelOverlap="parity", labelSeparation=6)
    y = alt.Y("selector:N", scale=in_order(data["selector"]), title=None)
    shown_as = tooltip(
        {
            "selector": "selector",
            "model": "model",
            "score": metric,
            "difference": DIFFERENCE,
            "features": "features kept",
        }
    )
    # Selections and views are named here, because Altair counts up its own names and equal charts would differ.
    pointed = alt.selection_point(name="pointed", fields=["selector"], on="pointerover", clear="pointerout", empty=True)
    base = alt.Chart().properties(width=(WIDTH - _MARGIN) // columns, height=alt.Step(STEP))
    reference_line = base.mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3])
    spreads = base.mark_rule(color=BLUE, strokeWidth=2)
    means = base.mark_point(color=BLUE, filled=True, size=60).properties(name="means").add_params(pointed)
    emphasis = alt.condition(pointed, alt.value(1), alt.value(0.25))
    layers = alt.layer(
        reference_line.encode(
            x=alt.X("mean(baseline):Q", scale=scale),
            tooltip=[alt.Tooltip("mean(baseline):Q", title="all features", format=".4~g")],
        ),
        spreads.encode(x=alt.X("low:Q", scale=scale, title=metric, axis=axis), x2="high:Q", y=y, tooltip=shown_as),
        means.encode(x=alt.X("mean:Q", scale=scale), y=y, opacity=emphasis, tooltip=shown_as),
        data=data,
    )
    by_panel = alt.EncodingSortField("panel", op="min")
    facets = layers.facet(facet=alt.Facet("model:N", sort=by_panel, title=None), columns=columns, spacing=18)
    return themed(facets.resolve_scale(x="independent"))
