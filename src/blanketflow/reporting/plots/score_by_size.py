"""The score of the best set of each size, from which a choice was made."""

from __future__ import annotations

import altair as alt
import pandas as pd

from ..colours import BLUE, INK, ORANGE
from ..tables.references import reference_of
from ..text import number
from .theme import noted, rounded, tooltip

_WIDTH = 420


def score_by_size(alternatives: pd.DataFrame, metric: str) -> alt.LayerChart:
    """Draw the score of the best set of each size, with the chosen size marked and a dashed line at all features.

    `alternatives` has the columns n_features, ranking, difference, stability, chosen and one that is called `metric`,
    by size. The line is at no feature where all features were not judged.
    """
    at, reference = reference_of(alternatives)
    data = pd.DataFrame(
        {
            "size": alternatives["n_features"],
            "score": rounded(alternatives[metric]),
            "chosen": alternatives["chosen"],
            "ranking": alternatives["ranking"],
            "stability": alternatives["stability"].map(number),
            "difference": alternatives["difference"].map(number),
        }
    )
    titles = {
        "size": "features",
        "score": metric,
        "ranking": "ranking",
        "stability": "stability",
        "difference": "difference to all features",
    }
    sizes = alt.Axis(values=data["size"].tolist(), format="d", labelOverlap="greedy")
    base = alt.Chart(data).encode(
        x=alt.X("size:Q", title="features kept", scale=alt.Scale(type="symlog", constant=4), axis=sizes),
        y=alt.Y("score:Q", title=metric, scale=alt.Scale(zero=False)),
        tooltip=tooltip(titles),
    )
    line = (
        alt.Chart(data.iloc[[at]][["score"]]).mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3]).encode(y="score:Q")
    )
    points = base.mark_point(filled=True, opacity=1, size=50, color=BLUE)
    chosen = base.transform_filter("datum.chosen").mark_point(filled=True, opacity=1, size=160, color=ORANGE)
    chart = alt.layer(line, base.mark_line(color=BLUE), points, chosen).properties(width=_WIDTH, height=200)
    return noted(chart, f"orange: kept; dashed: {reference}")
