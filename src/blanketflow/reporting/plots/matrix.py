"""Selectors by selectors: a square of cells, as deep in colour as a value is large, with a text in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from .theme import BLUE, INK, VERMILLION, noted, tooltip
from .words import rounded

#: Beyond this many selectors the cells are too small for a text.
MAX_TEXTS = 15
_LARGE, _SMALL = 46, 22
#: Colour is laid over the page by opacity, never fully, so that the page's ink is legible on it, light or dark.
_DEEPEST = 0.85


def matrix(
    cells: pd.DataFrame,
    names: Sequence[str],
    depth: float,
    titles: Mapping[str, str],
    note: str = "",
) -> alt.LayerChart:
    """Draw a square of cells.

    Parameters
    ----------
    cells : DataFrame
        Columns selector (the row), other (the column), value, text, and those that `titles` names. Values are blue,
        those below 0 vermillion.
    names : sequence of str
        The selectors in the order to show.
    depth : float
        The size of a value that has the deepest colour.
    titles : mapping of str to str
        Column and what it is.
    note : str
        A line above the chart.
    """
    step = _LARGE if len(names) <= MAX_TEXTS else _SMALL
    wanted = cells[cells["selector"].isin(names) & cells["other"].isin(names)]
    # One row a selector, spread over the others by the chart: every name is then held once more, not twice.
    spread = list(dict.fromkeys(["other", "value", "text", *titles]))
    spread.remove("selector")
    shown = wanted.assign(value=rounded(wanted["value"])).groupby("selector", sort=False)[spread].agg(list)
    axis = alt.Axis(domain=False, ticks=False, labelPadding=6)
    scale = alt.Scale(domain=list(names), paddingInner=0.05)
    base = alt.Chart().encode(
        x=alt.X("other:N", title=None, scale=scale, axis=alt.Axis(orient="top", labelAngle=-45, **axis.to_dict())),
        y=alt.Y("selector:N", title=None, scale=scale, axis=axis),
        tooltip=tooltip(titles),
    )
    rects = base.mark_rect().encode(
        color=alt.condition("datum.value < 0", alt.value(VERMILLION), alt.value(BLUE)),
        opacity=alt.Opacity("depth:Q", scale=alt.Scale(domain=[0, depth], range=[0.06, _DEEPEST]), legend=None),
    )
    texts = base.mark_text(color=INK, fontSize=11).encode(text="text:N")
    layers = [rects, texts] if len(names) <= MAX_TEXTS else [rects]
    chart = alt.layer(*layers, data=shown.reset_index())
    chart = chart.transform_flatten(spread).transform_calculate(depth="abs(datum.value)")
    return noted(chart.properties(width=step * max(len(names), 1), height=step * max(len(names), 1)), note)
