"""The importances of one blanket's features, as bars."""

from __future__ import annotations

import altair as alt
import pandas as pd

from ..formatting import INK, ROLES, number
from .placement import in_order
from .theme import STEP, noted, rounded, tooltip

_BARS_WIDTH = 420
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
        .properties(width=_BARS_WIDTH, height=alt.Step(STEP))
    )
    return noted(chart, f"{len(shown)} of {len(blanket)} features" if len(shown) < len(blanket) else "")
