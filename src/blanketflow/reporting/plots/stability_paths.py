"""Stability paths: how the share of the halves that select a feature grows with the number that each selects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from ..colours import BLUE, INK
from ..text import number
from .theme import noted, rounded, themed, tooltip

#: Features whose lines are named; the others have no room.
MOST_NAMED = 12
_WIDTH, _HEIGHT, _GREY = 520, 300, "#9aa3ad"
_KINDS = ("kept", "not kept")


def stability_paths(paths: Mapping[str, Any]) -> alt.LayerChart:
    """Draw a line for each feature, blue if its last share reaches the threshold, which is dashed.

    `paths` has n_features, the numbers at which shares are known; shares, a list by feature, in any order; and the
    threshold.
    """
    sizes, threshold = list(paths["n_features"]), float(paths["threshold"])
    ordered = sorted(paths["shares"].items(), key=lambda one: [-share for share in reversed(one[1])])
    rows = [
        (feature, size, share, _KINDS[shares[-1] < threshold - 1e-9])
        for feature, shares in ordered
        for size, share in zip(sizes, shares, strict=True)
    ]
    data = pd.DataFrame(rows, columns=["feature", "size", "share", "kind"])
    data["share"], data["text"] = rounded(data["share"]), [number(share, 2) for share in data["share"]]
    titles = {"feature": "feature", "size": "features selected on each half", "text": "share of the halves"}
    of_sizes = alt.Axis(format="d", tickMinStep=1)
    base = alt.Chart(data).encode(
        x=alt.X("size:Q", title=titles["size"], axis=of_sizes, scale=alt.Scale(domain=[sizes[0], sizes[-1]])),
        y=alt.Y("share:Q", title=titles["text"], scale=alt.Scale(domain=[0, 1])),
        detail="feature:N",
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(_KINDS), range=[BLUE, _GREY]),
            legend=alt.Legend(title=None, orient="bottom"),
        ),
        tooltip=tooltip(titles),
    )
    limit = alt.Chart(pd.DataFrame({"share": [threshold]})).mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3])
    named = _ends(data, sizes[-1])
    layers = [
        limit.encode(y="share:Q", tooltip=tooltip({"share": "threshold"})),
        base.mark_line(strokeWidth=1.5, point={"size": 14}),
        alt.Chart(named)
        .mark_text(align="left", dx=6, fontSize=11, color=INK)
        .encode(x="size:Q", y="place:Q", text="feature:N"),
    ]
    n_kept = data.loc[data["kind"] == _KINDS[0], "feature"].nunique()
    note = f"{len(named)} of {n_kept} kept features are named" if len(named) < n_kept else ""
    return noted(themed(alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)), note)


def _ends(data: pd.DataFrame, last: int) -> pd.DataFrame:
    """Return where the names of kept features stand: at the ends of their lines, moved apart downwards."""
    ends = data[(data["size"] == last) & (data["kind"] == _KINDS[0])].head(MOST_NAMED).copy()
    places, step = [], 14 / _HEIGHT
    for share in ends["share"]:
        places.append(min(share, places[-1] - step) if places else share)
    return ends.assign(place=places)[["feature", "size", "place"]]
