"""Colours, fonts and sizes that all charts share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import altair as alt

#: Okabe and Ito's palette, which people with any colour vision can tell apart.
BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
#: Text and lines take the colour of the page that a chart stands in, so that it is legible on light and on dark.
INK = "currentColor"
FONT = "Liberation Sans, Helvetica, Arial, sans-serif"
#: Pixels of a chart that fills the width of a report.
WIDTH = 860
#: Pixels of one row of a chart with names on its y axis.
STEP = 20
#: The shared looks as a Vega-Lite ``config``.
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": FONT,
    "padding": 4,
    "view": {"stroke": None},
    "mark": {"aria": False},
    "axis": {
        "aria": False,
        "domainColor": INK,
        "domainOpacity": 0.35,
        "gridColor": INK,
        "gridOpacity": 0.1,
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 220,
        "labelOverlap": False,
        "tickColor": INK,
        "tickOpacity": 0.35,
        "titleColor": INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "header": {"labelColor": INK, "labelFontSize": 13, "labelFontWeight": "bold", "titleColor": INK},
    "legend": {
        "aria": False,
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 220,
        "titleColor": INK,
        "orient": "top",
        "title": None,
    },
    "title": {"color": INK, "subtitleColor": INK, "anchor": "start", "fontSize": 13, "subtitleFontSize": 12},
}

_Chart = TypeVar("_Chart", bound=alt.TopLevelMixin)


def tooltip(titles: Mapping[str, str]) -> list[alt.Tooltip]:
    """Return what a tooltip says: columns, whose values are shown as they are, with what each is called."""
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def themed(chart: _Chart) -> _Chart:
    """Return the chart with the shared looks.

    They are set on the chart and not as Altair's active theme, which would be a global of the process.
    """
    return chart.configure(**CONFIG)


def noted(chart: _Chart, note: str) -> _Chart:
    """Return the chart with the shared looks and a line of plain text above it, if any."""
    title = alt.TitleParams(text=note, fontSize=12, fontWeight="normal", offset=10)
    return themed(chart.properties(title=title) if note else chart)
