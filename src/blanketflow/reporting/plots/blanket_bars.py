"""The importances of one blanket's features as bars, and the score of a choice against its number of features."""

from __future__ import annotations

import altair as alt
import pandas as pd

from ..colours import BLUE, INK, ORANGE, ROLES
from ..text import number
from .scales import in_order
from .theme import STEP, noted, rounded, themed, tooltip

_WIDTH = 420
#: The largest number of features shown.
MAX_FEATURES = 40


def blanket_bars(blanket: pd.DataFrame, limit: int = MAX_FEATURES) -> alt.Chart:
    """Draw one bar per feature, as long as its importance and in the colour of its role.

    `blanket` has the columns feature, role, importance, p_value and frequency, most important first. At most `limit`
    features are drawn; a note says how many there are.
    """
    shown = blanket[:limit]
    labels = [ROLES.get(role, (role.replace("_", " "), INK))[0] for role in shown["role"]]
    data = pd.DataFrame(
        {
            "feature": shown["feature"],
            "importance": rounded(shown["importance"]),
            "role": labels,
            "p": ["" if p != p else number(p) for p in shown["p_value"]],
            "folds": [f"{share:.0%}" for share in shown["frequency"]],
        }
    )
    known = [(label, colour) for label, colour in ROLES.values() if label in labels]
    known += [(label, INK) for label in dict.fromkeys(labels) if label not in dict(known)]
    names, colours = zip(*known, strict=True) if known else ((), ())
    titles = {"feature": "feature", "role": "role", "importance": "importance", "p": "p-value", "folds": "chosen in"}
    chart = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X("importance:Q", title="importance", axis=alt.Axis(tickCount=4, format="~s")),
            y=alt.Y("feature:N", title=None, scale=in_order(data["feature"])),
            color=alt.Color("role:N", scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(title=None)),
            tooltip=tooltip(titles),
        )
        .properties(width=_WIDTH, height=alt.Step(STEP))
    )
    return noted(chart, f"{len(shown)} of {len(blanket)} features" if len(shown) < len(blanket) else "")


def score_by_size(alternatives: pd.DataFrame, metric: str) -> alt.LayerChart:
    """Draw the score of the best set of each size, with the chosen size marked and a dashed line at all features.

    `alternatives` has the columns n_features, ranking, difference, stability, chosen and one that is called `metric`,
    by size; the last row is all features.
    """
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
    whole = alt.Chart(data.tail(1)[["score"]]).mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3]).encode(y="score:Q")
    points = base.mark_point(filled=True, opacity=1, size=50, color=BLUE)
    chosen = base.transform_filter("datum.chosen").mark_point(filled=True, opacity=1, size=160, color=ORANGE)
    return themed(alt.layer(whole, base.mark_line(color=BLUE), points, chosen).properties(width=_WIDTH, height=200))
