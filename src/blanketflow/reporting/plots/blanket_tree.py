"""The Markov blanket of one selector as a list that hangs on the target, for narrow screens."""

from __future__ import annotations

import altair as alt
import pandas as pd

from ..colours import INK
from ..text import number
from .blanket_graph import (
    MAX_FEATURES,
    ROLES,
    TARGET,
    TARGET_CHARACTERS,
    by_role,
    in_folds,
    node_sizes,
    note_on,
)
from .labels import CHARACTER, shortened
from .theme import noted, tooltip

#: Width of the chart, height of a line, and where the trunk and the nodes are, near to it and further out, in pixels.
_WIDTH, _LINE, _TRUNK, _NEAR, _FAR = 280, 26, 14, 40, 64
#: The legend of a role on a narrow screen.
_SHORT = {
    "parent_or_child": "parent or child",
    "parent": "parent",
    "child": "child",
    "member": "role not known",
    "included": "asked for",
    "spouse": "spouse",
}


def blanket_tree(blanket: pd.DataFrame, target: str, limit: int = MAX_FEATURES) -> alt.LayerChart:
    """Draw what `blanket_graph` draws in a column 280 pixels wide: one feature per line, spouses further out.

    Takes the same arguments.
    """
    shown = by_role(blanket[:limit])
    x = [_FAR if role == "spouse" else _NEAR for role in shown["role"]]
    nodes = pd.DataFrame(
        {
            "feature": shown["feature"],
            "label": [
                shortened(name, int((_WIDTH - at - 13) / CHARACTER))
                for name, at in zip(shown["feature"], x, strict=True)
            ],
            "role": [_SHORT[role] for role in shown["role"]],
            "importance": [number(value) for value in shown["importance"]],
            "folds": [in_folds(value) for value in shown["frequency"]],
            "size": node_sizes(shown["importance"]),
            "x": x,
            "y": [_LINE * (at + 1.5) for at in range(len(shown))],
        }
    )
    height = _LINE * (len(shown) + 1)
    x_axis = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, _WIDTH], nice=False, zero=False))
    y_axis = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False, zero=False))
    present = [role for role in ROLES if role in set(shown["role"])]
    names, colours, shapes = ([_SHORT[role] for role in present], *([ROLES[r][at] for r in present] for at in (2, 3)))
    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=0) if present else None
    titles = {"feature": "feature", "role": "role", "importance": "importance", "folds": "chosen in"}
    base = alt.Chart()
    dashes = alt.condition(f"datum.role == '{_SHORT['spouse']}'", alt.value([4, 4]), alt.value([1, 0]))
    branches = base.mark_rule(color=INK, opacity=0.45, strokeWidth=1.4).encode(x2=alt.datum(_TRUNK), strokeDash=dashes)
    points = base.mark_point(filled=True, opacity=1).encode(
        color=alt.Color("role:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        shape=alt.Shape("role:N", scale=alt.Scale(domain=names, range=shapes), legend=legend),
        size=alt.Size("size:Q", scale=None, legend=None),
    )
    labels = base.mark_text(align="left", dx=13, color=INK, fontSize=12).encode(text=alt.Text("label:N"))
    last = float(nodes["y"].max()) if len(nodes) else 0.0
    # What the layers share is said once: a report has a chart for each selector and data set.
    features = alt.layer(branches, points, labels, data=nodes).encode(x=x_axis, y=y_axis, tooltip=tooltip(titles))
    chart = alt.layer(_target(target, last, y_axis), features, width=_WIDTH, height=height)
    return noted(chart, note_on(blanket, limit))


def _target(target: str, last: float, y_axis: alt.Y) -> alt.LayerChart:
    """Return the trunk down to the last line, and the target above it."""
    label = shortened(target, TARGET_CHARACTERS)
    width = max(len(label) * CHARACTER + 20, 60)
    data = pd.DataFrame({"target": [target], "label": [label], "y": [_LINE * 0.5], "end": [last]})
    base = alt.Chart()
    return alt.layer(
        base.mark_rule(color=INK, opacity=0.45, strokeWidth=1.4).encode(x=alt.XValue(_TRUNK), y2=alt.Y2("end:Q")),
        base.mark_rect(color=TARGET, cornerRadius=6, width=width, height=24).encode(x=alt.XValue(width / 2)),
        base.mark_text(color="white", fontSize=13, fontWeight="bold").encode(
            x=alt.XValue(width / 2), text=alt.Text("label:N")
        ),
        data=data,
    ).encode(y=y_axis, tooltip=tooltip({"target": "target"}))
