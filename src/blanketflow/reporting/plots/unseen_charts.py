"""Charts of what was observed on unseen rows by parts of the predictions: survival curves, means, shares of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import pandas as pd

from ..formatting import BLUE, INK, ORANGE, VERMILLION, number
from .placement import in_order
from .theme import STEP, WIDTH, noted, rounded, themed, tooltip

_WIDTH, _HEIGHT = 620, 320
_MARGIN = 240
#: Colours of thirds, from the lowest prediction to the highest, and dashes for whoever does not see colours.
_COLOURS, _DASHES = (BLUE, ORANGE, VERMILLION), ([1, 0], [7, 3], [2, 2])
#: Classes with a colour of their own: from light to dark.
_SCHEME = "blues"


def _of_shares() -> dict[str, Any]:
    """Return scale and axis of shares."""
    return {"scale": alt.Scale(domain=[0, 1]), "axis": alt.Axis(format="~%", tickCount=5)}


def survival_curves(observed: pd.DataFrame, parts: Mapping[int, str], time: str, event: str) -> alt.Chart:
    """Draw the Kaplan-Meier curve of each part, up to its last row.

    `observed` is that result table for one data set, selector and model, `parts` names its parts; `time` and `event`
    are what the axes are called after. The axis marks the times with numbers at risk.
    """
    known = observed.dropna(subset=["observed"])
    names = [parts[part] for part in sorted({*known["part"]})]
    data = pd.DataFrame(
        {
            "risk": known["part"].map(parts),
            "time": rounded(known["at"]),
            "share": rounded(known["observed"]),
            "text": [number(share, 2) for share in known["observed"]],
        }
    )
    ticks = sorted({*observed.loc[observed["at_risk"].notna(), "at"]})
    used = [part - 1 for part in sorted({*known["part"]})]
    base = alt.Chart(data).encode(
        x=alt.X("time:Q", title=time, scale=alt.Scale(nice=False), axis=alt.Axis(values=ticks)),
        y=alt.Y("share:Q", title=f"share without {event}", **_of_shares()),
        color=alt.Color("risk:N", scale=alt.Scale(domain=names, range=[_COLOURS[at] for at in used]), title=None),
        strokeDash=alt.StrokeDash("risk:N", scale=alt.Scale(domain=names, range=[_DASHES[at] for at in used])),
        tooltip=tooltip({"risk": "predicted risk", "time": time, "text": f"share without {event}"}),
    )
    return themed(base.mark_line(interpolate="step-after", strokeWidth=2).properties(width=_WIDTH, height=_HEIGHT))


def mean_by_prediction(observed: pd.DataFrame, what: str) -> alt.LayerChart:
    """Draw the observed mean of each part with its 95 % interval against the predicted one.

    On the dashed line both are equal. `observed` is that result table for one data set, selector and model.
    """
    data = pd.DataFrame(
        {
            "predicted": rounded(observed["predicted"]),
            "observed": rounded(observed["observed"]),
            "low": rounded(observed["low"]),
            "high": rounded(observed["high"]),
            "part": [f"{row.part} of {row.n_parts}" for row in observed.itertuples()],
            "rows": observed["rows"],
        }
    )
    titles = {"part": "part of the rows", "rows": "rows", "predicted": "predicted mean", "observed": "observed mean"}
    ends = [float(data[["predicted", "observed"]].min().min()), float(data[["predicted", "observed"]].max().max())]
    ends = ends if ends[0] < ends[1] else [ends[0] - 0.5, ends[1] + 0.5]
    few: dict[str, Any] = {
        "scale": alt.Scale(zero=False),
        "axis": alt.Axis(tickCount=6, labelOverlap="parity", labelSeparation=6),
    }
    base = alt.Chart(data).encode(x=alt.X("predicted:Q", title=f"predicted {what}", **few), tooltip=tooltip(titles))
    y = alt.Y("observed:Q", title=f"observed {what}", **few)
    equal = (
        alt.Chart(pd.DataFrame({"predicted": ends, "observed": ends}))
        .mark_line(color=INK, opacity=0.6, strokeDash=[4, 3], strokeWidth=1)
        .encode(x="predicted:Q", y="observed:Q")
    )
    spreads = base.mark_rule(color=BLUE, strokeWidth=2, opacity=0.5).encode(y="low:Q", y2="high:Q")
    points = base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(y=y)
    chart = alt.layer(equal, spreads, points).properties(width=_WIDTH, height=_HEIGHT)
    return noted(chart, "dashed: observed as predicted")


def shares_by_prediction(observed: pd.DataFrame, parts: Mapping[int, str], classes: Sequence[str]) -> alt.Chart:
    """Draw the shares of ordered classes in each part, as one bar.

    `observed` is that result table for one data set, selector and model, `parts` names its parts.
    """
    data = pd.DataFrame(
        {
            "part": observed["part"].map(parts),
            "class": observed["label"],
            "place": observed["at"].astype(int),
            "share": rounded(observed["observed"]),
            "text": [f"{share:.0%}" for share in observed["observed"]],
            "expected": [f"{share:.0%}" for share in observed["predicted"]],
        }
    )
    titles = {"part": "predicted class", "class": "class", "text": "observed share", "expected": "predicted share"}
    bars = alt.Chart(data).encode(
        x=alt.X("share:Q", title="observed share", **_of_shares()),
        y=alt.Y("part:N", title=None, scale=in_order(data["part"])),
        color=alt.Color("class:N", title=None, scale=alt.Scale(domain=list(classes), scheme=_SCHEME)),
        order=alt.Order("place:Q"),
        tooltip=tooltip(titles),
    )
    return themed(
        bars.mark_bar(stroke=INK, strokeWidth=0.5).properties(width=WIDTH - _MARGIN, height=alt.Step(2 * STEP))
    )
