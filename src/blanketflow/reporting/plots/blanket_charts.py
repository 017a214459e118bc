"""Draws the Markov blanket of one selector as a graph around the target or, on narrow screens, as a list."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import pandas as pd

from ..formatting import INK, ROLES, number
from .placement import CHARACTER, in_order, shortened
from .theme import STEP, noted, rounded, tooltip

_GRAPH_WIDTH = 700
#: The largest number of features shown.
MAX_FEATURES = 24
#: The label, ring, colour and shape of each role.
MARKS = {
    "parent_or_child": (ROLES["parent_or_child"][0], "inner", ROLES["parent_or_child"][1], "circle"),
    "parent": (ROLES["parent"][0], "inner", ROLES["parent"][1], "triangle-down"),
    "child": (ROLES["child"][0], "inner", ROLES["child"][1], "triangle-right"),
    "member": (ROLES["member"][0], "inner", ROLES["member"][1], "square"),
    "included": (ROLES["included"][0], "inner", ROLES["included"][1], "triangle-up"),
    "spouse": ("spouse: shares a child with the target", "outer", ROLES["spouse"][1], "diamond"),
}
#: A grey on which white text is legible and which is visible on light and dark pages.
TARGET = "#5A5F66"
TARGET_CHARACTERS = 26
#: Areas of a node in square pixels for lowest, highest and unknown importance.
_SMALL, _LARGE, _UNKNOWN = 70, 330, 130
#: Smallest and largest distance of two names, and the height for the names of one side, in pixels.
_CLOSEST, _WIDEST, _SIDE = 22, 48, 300
#: Half widths of the rings in pixels.
_INNER, _OUTER = 150, 215
#: A line is steeper than the one below it by at least this factor.
_STEEPER = 0.93


def blanket_graph(blanket: pd.DataFrame, target: str, limit: int = MAX_FEATURES) -> alt.LayerChart:
    """Draw the target with its parents and children in an inner ring and its spouses in an outer one.

    `blanket` has the columns feature, role, importance and frequency, most important first. Lines to parents and
    children are solid. Those to spouses are dashed, because a spouse depends on the target through a common child,
    which the table does not name. Node size is importance. Features without a reported role, and those only included on
    request, are in the inner ring. Beyond `limit` features a note gives their number.
    """
    nodes = _nodes(blanket[:limit])
    height = 2 * (max((abs(y) for y in nodes["y"]), default=0) + 30)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-_GRAPH_WIDTH // 2, _GRAPH_WIDTH // 2], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-height // 2, height // 2], nice=False, zero=False))
    present = [role for role in MARKS if role in set(blanket["role"][:limit])]
    names, _, colours, shapes = zip(*(MARKS[role] for role in present), strict=True) if present else ((),) * 4
    legend = alt.Legend(title=None, orient="bottom", direction="horizontal", labelLimit=0) if present else None
    base = alt.Chart().encode(
        x=x,
        y=y,
        tooltip=tooltip({"feature": "feature", "role": "role", "importance": "importance", "folds": "chosen in"}),
    )
    lines = base.mark_rule(color=INK, opacity=0.45, strokeWidth=1.4).encode(
        x2=alt.datum(0),
        y2=alt.datum(0),
        strokeDash=alt.condition(f"datum.role == '{MARKS['spouse'][0]}'", alt.value([4, 4]), alt.value([1, 0])),
    )
    points = base.mark_point(filled=True, opacity=1).encode(
        color=alt.Color("role:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        shape=alt.Shape("role:N", scale=alt.Scale(domain=names, range=shapes), legend=legend),
        size=alt.Size("size:Q", scale=None, legend=None),
    )
    labels = [
        base.transform_filter(f"datum.x {sign} 0")
        .mark_text(align=align, dx=dx, color=INK, fontSize=12)
        .encode(text=alt.Text("label:N"))
        for sign, align, dx in ((">", "left", 13), ("<=", "right", -13))
    ]
    chart = alt.layer(lines, points, *labels, *_centre(target), data=nodes, width=_GRAPH_WIDTH, height=height)
    return noted(chart, note_on(blanket, limit))


def _nodes(blanket: pd.DataFrame) -> pd.DataFrame:
    shown = by_role(blanket)
    outer = sum(MARKS[role][1] == "outer" for role in shown["role"])
    places = ring_places(len(shown) - outer, outer)
    room = [int((_GRAPH_WIDTH / 2 - abs(x) - 13) / CHARACTER) for x, _ in places]
    return pd.DataFrame(
        {
            "feature": shown["feature"],
            "label": [shortened(name, width) for name, width in zip(shown["feature"], room, strict=True)],
            "role": [MARKS[role][0] for role in shown["role"]],
            "importance": [number(value) for value in shown["importance"]],
            "folds": [in_folds(value) for value in shown["frequency"]],
            "size": node_sizes(shown["importance"]),
            "x": [x for x, _ in places],
            "y": [y for _, y in places],
        }
    )


def by_role(blanket: pd.DataFrame) -> pd.DataFrame:
    """Return the features of a blanket, spouses last."""
    rank = {role: at for at, role in enumerate(MARKS)}
    return blanket.sort_values("role", key=lambda role: role.map(rank), kind="stable")


def node_sizes(importance: pd.Series) -> list[int]:
    """Return the area of each node in square pixels, increasing with importance."""
    values = importance.astype("float64").where(lambda v: v.abs() < math.inf)
    low, high = min(values.min(), 0.0), values.max()
    if not high > low:
        return [_UNKNOWN] * len(values)
    share = (values - low) / (high - low)
    return [_UNKNOWN if s != s else round(_SMALL + (_LARGE - _SMALL) * s) for s in share]


def in_folds(frequency: float | None) -> str:
    """Return the share of the folds that chose a feature, in words."""
    return "not known" if frequency is None or frequency != frequency else f"{frequency:.0%} of folds"


def _centre(target: str) -> list[alt.Chart]:
    label = shortened(target, TARGET_CHARACTERS)
    half = max(len(label) * CHARACTER / 2 + 10, 30)
    base = alt.Chart(pd.DataFrame({"target": [target], "label": [label]})).encode(
        x=alt.datum(0), y=alt.datum(0), tooltip=tooltip({"target": "target"})
    )
    return [
        base.mark_rect(color=TARGET, cornerRadius=6, width=2 * half, height=28),
        base.mark_text(color="white", fontSize=13, fontWeight="bold").encode(text=alt.Text("label:N")),
    ]


def note_on(blanket: pd.DataFrame, limit: int) -> str:
    """Return the note above the graph of a blanket."""
    if blanket.empty:
        return "no feature was selected"
    size = "larger: more important" if blanket["importance"].notna().any() else ""
    cut = f"the first {limit} of {len(blanket)} features" if len(blanket) > limit else ""
    return "; ".join(filter(None, (cut, size)))


def ring_places(n_inner: int, n_outer: int) -> list[tuple[int, int]]:
    """Return the positions (x, y) of two rings of nodes in pixels around (0, 0), inner nodes first.

    No name or line crosses a name: names are outside their nodes, nodes alternate between left and right, and each side
    is filled from its middle, so that every node has its own line of text. Higher nodes have steeper lines.
    """
    n = n_inner + n_outer
    sides = [[node for node in range(n) if node % 2 == side] for side in (0, 1)]
    places = {node: place for side, nodes in enumerate(sides) for node, place in _side(nodes, n_inner, 1 - 2 * side)}
    return [places[node] for node in range(n)]


def _side(nodes: Sequence[int], n_inner: int, direction: int) -> list[tuple[int, tuple[int, int]]]:
    step = min(max(_SIDE / max(len(nodes), 1), _CLOSEST), _WIDEST)
    heights = [step * line for line in _from_the_middle(len(nodes))]
    top = max(map(abs, heights), default=0.0) + step
    top_inner = max((abs(h) for node, h in zip(nodes, heights, strict=True) if node < n_inner), default=0.0) + step
    steepest: dict[bool, float] = {}
    out = []
    for node, height in zip(nodes, heights, strict=True):
        width, reach = (_INNER, top_inner) if node < n_inner else (_OUTER, top)
        x = width * math.sqrt(1 - (height / reach) ** 2)
        if height:
            up = height > 0
            x = min(x, _STEEPER * steepest.get(up, math.inf) * abs(height))
            steepest[up] = x / abs(height)
        out.append((node, (direction * round(x), round(height))))
    return out


def _from_the_middle(n: int) -> list[float]:
    """Return n consecutive lines around 0, the nearest first."""
    return sorted((at - (n - 1) / 2 for at in range(n)), key=lambda line: (abs(line), -line))


# --- the Markov blanket of one selector as a list below the target, for narrow screens --------------------------------

#: Width of the chart, height of a line, and positions of the trunk and of near and far nodes, in pixels.
_TREE_WIDTH, _LINE, _TRUNK, _NEAR, _FAR = 280, 26, 14, 40, 64
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
    """Draw `blanket_graph` as a column 280 pixels wide, one feature per line, spouses further out."""
    shown = by_role(blanket[:limit])
    x = [_FAR if role == "spouse" else _NEAR for role in shown["role"]]
    nodes = pd.DataFrame(
        {
            "feature": shown["feature"],
            "label": [
                shortened(name, int((_TREE_WIDTH - at - 13) / CHARACTER))
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
    x_axis = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, _TREE_WIDTH], nice=False, zero=False))
    y_axis = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False, zero=False))
    present = [role for role in MARKS if role in set(shown["role"])]
    names, colours, shapes = ([_SHORT[role] for role in present], *([MARKS[r][at] for r in present] for at in (2, 3)))
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
    # The layers share their specification, because a report has a chart for each selector and data set.
    features = alt.layer(branches, points, labels, data=nodes).encode(x=x_axis, y=y_axis, tooltip=tooltip(titles))
    chart = alt.layer(_target(target, last, y_axis), features, width=_TREE_WIDTH, height=height)
    return noted(chart, note_on(blanket, limit))


def _target(target: str, last: float, y_axis: alt.Y) -> alt.LayerChart:
    """Return the trunk down to the last line, with the target above it."""
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


_BARS_WIDTH = 420
#: The largest number of features shown.
MOST_BARS = 40


def blanket_bars(blanket: pd.DataFrame, limit: int = MOST_BARS) -> alt.Chart:
    """Draw the importance of each feature as a bar, coloured by role.

    `blanket` has feature, role, importance, p_value and frequency, most important first; a note says if it is cut.
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
