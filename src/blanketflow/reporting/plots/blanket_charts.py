"""Draws the Markov blanket of one selector as a graph around the target or, on narrow screens, as a list."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

import altair as alt
import pandas as pd

from ..formatting import INK, ROLES, number, shortened
from .placement import CHARACTER, in_order
from .theme import STEP, noted, rounded, tooltip

_GRAPH_WIDTH = 700
#: The largest number of features shown.
MAX_FEATURES = 24
SPOUSE = "spouse"
#: The shape of each role; spouses are in the outer ring.
SHAPES = {
    "parent_or_child": "circle",
    "parent": "triangle-down",
    "child": "triangle-right",
    "member": "square",
    "included": "triangle-up",
    SPOUSE: "diamond",
}
#: The label of each role, and one for a narrow screen.
_LABELS = {role: label for role, (label, _) in ROLES.items()} | {SPOUSE: "spouse: shares a child with the target"}
_SHORT = {role: label for role, (label, _) in ROLES.items()} | {"member": "role not known", "included": "asked for"}
#: What a tooltip says of a feature.
_TITLES = {"feature": "feature", "role": "role", "importance": "importance", "folds": "chosen in"}
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
    shown = by_role(blanket[:limit])
    outer = sum(role == SPOUSE for role in shown["role"])
    places = ring_places(len(shown) - outer, outer)
    room = [int((_GRAPH_WIDTH / 2 - abs(x) - 13) / CHARACTER) for x, _ in places]
    nodes = _nodes(shown, _LABELS, places, room)
    height = 2 * (max((abs(y) for y in nodes["y"]), default=0) + 30)
    x, y = _axes([-_GRAPH_WIDTH // 2, _GRAPH_WIDTH // 2], [-height // 2, height // 2])
    base = alt.Chart().encode(x=x, y=y, tooltip=tooltip(_TITLES))
    layers = _lines_and_points(
        base, set(shown["role"]), _LABELS, {"direction": "horizontal"}, x2=alt.datum(0), y2=alt.datum(0)
    )
    labels = [
        base.transform_filter(f"datum.x {sign} 0")
        .mark_text(align=align, dx=dx, color=INK, fontSize=12)
        .encode(text=alt.Text("label:N"))
        for sign, align, dx in ((">", "left", 13), ("<=", "right", -13))
    ]
    chart = alt.layer(*layers, *labels, *_centre(target), data=nodes, width=_GRAPH_WIDTH, height=height)
    return noted(chart, note_on(blanket, limit))


def _nodes(
    shown: pd.DataFrame, labels: Mapping[str, str], places: Sequence[tuple[float, float]], room: Sequence[int]
) -> pd.DataFrame:
    """Return the nodes of some features at some places, their names cut to the room in characters."""
    return pd.DataFrame(
        {
            "feature": shown["feature"],
            "label": [shortened(name, width) for name, width in zip(shown["feature"], room, strict=True)],
            "role": [labels[role] for role in shown["role"]],
            "importance": [number(value) for value in shown["importance"]],
            "folds": [in_folds(value) for value in shown["frequency"]],
            "size": node_sizes(shown["importance"]),
            "x": [x for x, _ in places],
            "y": [y for _, y in places],
        }
    )


def _axes(x: Sequence[float], y: Sequence[float]) -> tuple[alt.X, alt.Y]:
    """Return hidden axes of pixels, given their ends."""
    scales = (alt.Scale(domain=list(ends), nice=False, zero=False) for ends in (x, y))
    return alt.X("x:Q", axis=None, scale=next(scales)), alt.Y("y:Q", axis=None, scale=next(scales))


def _lines_and_points(
    base: alt.Chart, roles: Set[str], labels: Mapping[str, str], legend: Mapping[str, Any], **ends: Any
) -> list[alt.Chart]:
    """Return the lines from the nodes, dashed for spouses, to their `ends`, and the nodes with a legend of roles."""
    present = [role for role in SHAPES if role in roles]
    names = [labels[role] for role in present]
    of_roles = alt.Legend(title=None, orient="bottom", labelLimit=0, **legend) if present else None
    dashes = alt.condition(f"datum.role == '{labels[SPOUSE]}'", alt.value([4, 4]), alt.value([1, 0]))
    colours = alt.Scale(domain=names, range=[ROLES[role][1] for role in present])
    shapes = alt.Scale(domain=names, range=[SHAPES[role] for role in present])
    return [
        base.mark_rule(color=INK, opacity=0.45, strokeWidth=1.4).encode(strokeDash=dashes, **ends),
        base.mark_point(filled=True, opacity=1).encode(
            color=alt.Color("role:N", scale=colours, legend=of_roles),
            shape=alt.Shape("role:N", scale=shapes, legend=of_roles),
            size=alt.Size("size:Q", scale=None, legend=None),
        ),
    ]


def by_role(blanket: pd.DataFrame) -> pd.DataFrame:
    """Return the features of a blanket, spouses last."""
    rank = {role: at for at, role in enumerate(SHAPES)}
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


def blanket_tree(blanket: pd.DataFrame, target: str, limit: int = MAX_FEATURES) -> alt.LayerChart:
    """Draw `blanket_graph` as a column 280 pixels wide, one feature per line, spouses further out."""
    shown = by_role(blanket[:limit])
    x = [_FAR if role == SPOUSE else _NEAR for role in shown["role"]]
    places = [(across, _LINE * (at + 1.5)) for at, across in enumerate(x)]
    nodes = _nodes(shown, _SHORT, places, [int((_TREE_WIDTH - across - 13) / CHARACTER) for across in x])
    height = _LINE * (len(shown) + 1)
    x_axis, y_axis = _axes([0, _TREE_WIDTH], [height, 0])
    base = alt.Chart()
    layers = _lines_and_points(base, set(shown["role"]), _SHORT, {"columns": 1}, x2=alt.datum(_TRUNK))
    labels = base.mark_text(align="left", dx=13, color=INK, fontSize=12).encode(text=alt.Text("label:N"))
    last = float(nodes["y"].max()) if len(nodes) else 0.0
    # The layers share their specification, because a report has a chart for each selector and data set.
    features = alt.layer(*layers, labels, data=nodes).encode(x=x_axis, y=y_axis, tooltip=tooltip(_TITLES))
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
