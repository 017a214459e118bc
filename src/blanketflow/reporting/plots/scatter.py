"""Selectors as named points: what they take across, how well a model predicts from them upwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import altair as alt
import pandas as pd

from .labels import GAP, Place, place_labels
from .scales import Scale, linear
from .theme import BLUE, INK, ORANGE, WIDTH, noted, tooltip
from .words import rounded

_WIDTH, _HEIGHT = WIDTH - 90, 320
#: Pixels of a label.
_LONGEST = 260


def scatter(
    points: pd.DataFrame, x_scale: Scale, across: str, up: str, titles: Mapping[str, str], baseline: str
) -> alt.LayerChart:
    """Draw a point for each place, with the names of its selectors beside it.

    Parameters
    ----------
    points : DataFrame
        Columns selector, x, y, and the texts that `titles` names; none missing.
    x_scale : Scale
        The scale of x.
    across, up : str
        Titles of the axes.
    titles : mapping of str to str
        Column and what it is, for what the tooltip says beside the names.
    baseline : str
        The selector drawn in its own colour.
    """
    shown = points.assign(x=rounded(points["x"]), y=rounded(points["y"]), is_baseline=points["selector"] == baseline)
    texts = dict.fromkeys(titles, _each_once)
    shown = shown.groupby(["x", "y"], as_index=False).agg({"selector": ", ".join, "is_baseline": "any", **texts})
    y_scale = linear(shown["y"])
    places = _places(shown, x_scale, y_scale)
    shown = shown.assign(
        side=[place.side if place else "" for place in places],
        label_y=rounded(pd.Series([_value(place, y_scale) for place in places], dtype="float64")),
    )
    title = across + ("" if x_scale.kind == "linear" else " (logarithmic)")
    x = alt.X("x:Q", title=title, scale=x_scale.of_chart(), axis=x_scale.axis())
    base = alt.Chart().encode(x=x, tooltip=tooltip({"selector": "selector", **titles}))
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=alt.Y("y:Q", title=up, scale=y_scale.of_chart(), axis=y_scale.axis()),
        color=alt.condition("datum.is_baseline", alt.value(ORANGE), alt.value(BLUE)),
    )
    labels = [
        base.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=align, dx=dx, color=INK, fontSize=12, limit=_LONGEST)
        .encode(y=alt.Y("label_y:Q", scale=y_scale.of_chart()), text="selector:N")
        for side, align, dx in (("right", "left", GAP), ("left", "right", -GAP))
    ]
    chart = alt.layer(dots, *labels, data=shown).properties(width=_WIDTH, height=_HEIGHT)
    hidden = places.count(None)
    note = f"{hidden} of {len(places)} names have no room: point at them to read who they are"
    return noted(chart, note if hidden else "")


def _each_once(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _places(points: pd.DataFrame, x_scale: Scale, y_scale: Scale) -> list[Place | None]:
    rows = [
        (x_scale.position(row.x) * _WIDTH, y_scale.position(row.y) * _HEIGHT, row.selector)
        for row in points.itertuples()
    ]
    return place_labels(rows, _WIDTH, _HEIGHT, _LONGEST)


def _value(place: Place | None, scale: Scale) -> float:
    return float("nan") if place is None else scale.low + place.height / _HEIGHT * (scale.high - scale.low)
