"""How much the set that each selector chooses varies from split to split."""

from __future__ import annotations

import altair as alt
import pandas as pd

from .scales import in_order
from .theme import BLUE, INK, STEP, WIDTH, noted, tooltip
from .words import mean_sd, number, rounded

_MARGIN = 240
_AIR = 0.02


def stability_by_selector(stability: pd.DataFrame) -> alt.LayerChart:
    """Draw Nogueira's index with its 95 % interval for each selector of one data set.

    Parameters
    ----------
    stability : DataFrame
        Columns selector, stability, lower, upper, mean_size, sd_size and n_sets of one data set, in the order to show.
        Selectors without an index are named in a note.
    """
    shown = stability.dropna(subset=["stability"])
    data = pd.DataFrame(
        {
            "selector": shown["selector"],
            "index": rounded(shown["stability"]),
            "lower": rounded(shown["lower"]),
            "upper": rounded(shown["upper"]),
            "text": [number(value, 2) for value in shown["stability"]],
            "interval": [
                f"{number(low, 2)} to {number(high, 2)}"
                for low, high in zip(shown["lower"], shown["upper"], strict=True)
            ],
            "size": [mean_sd(*sizes) for sizes in zip(shown["mean_size"], shown["sd_size"], strict=True)],
            "sets": shown["n_sets"],
        }
    )
    titles = {
        "selector": "selector",
        "text": "stability",
        "interval": "95 % interval",
        "size": "features in a set, mean ± sd",
        "sets": "sets compared",
    }
    x = alt.X(
        "lower:Q",
        title="stability: 1 means the same set on every split, 0 means random sets",
        scale=alt.Scale(domain=[min(0.0, *(data["lower"] - _AIR), 0.0), 1.0], nice=False),
        axis=alt.Axis(tickCount=6, format="~g"),
    )
    base = alt.Chart().encode(
        y=alt.Y("selector:N", scale=in_order(data["selector"]), title=None),
        tooltip=tooltip(titles),
    )
    zero = (
        alt.Chart(pd.DataFrame({"index": [0]}))
        .mark_rule(color=INK, opacity=0.6, strokeDash=[4, 3])
        .encode(x="index:Q", tooltip=tooltip({"index": "as stable as random sets"}))
    )
    intervals = base.mark_rule(color=BLUE, strokeWidth=2).encode(x=x, x2="upper:Q")
    points = base.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x="index:Q")
    left_out = list(stability.loc[stability["stability"].isna(), "selector"])
    chart = alt.layer(zero, intervals, points, data=data).properties(width=WIDTH - _MARGIN, height=alt.Step(STEP))
    return noted(chart, f"fewer than two sets to compare: {', '.join(left_out)}" if left_out else "")
