"""Colours, fonts and sizes that all charts share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import altair as alt
import pandas as pd

from ..colours import INK

FONT = "Liberation Sans, Helvetica, Arial, sans-serif"
#: Width in pixels of a chart that fills the width of a report.
WIDTH = 860
#: Height in pixels of one row of a chart with names on its y axis.
STEP = 20
#: Significant digits of the numbers in a chart, finer than a pixel.
_DIGITS = 6
#: The shared style as a Vega-Lite ``config``.
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
    """Return the tooltip that shows some columns unformatted, given the title of each column."""
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def themed(chart: _Chart) -> _Chart:
    """Give a chart the shared style, and return it.

    The style is set on the chart and not as Altair's active theme, which is global state of the process. The chart is
    changed, since Altair's methods copy all that it holds.
    """
    chart.config = alt.Config(**CONFIG)
    return chart


def noted(chart: _Chart, note: str) -> _Chart:
    """Give a chart the shared style, and a note above it unless the note is empty, and return it."""
    if note:
        chart.title = alt.TitleParams(text=note, fontSize=12, fontWeight="normal", offset=10)
    return themed(chart)


def rounded(values: pd.Series) -> pd.Series:
    """Return numbers without the digits that are finer than a pixel, which would enlarge the page."""
    return values.astype("float64").map(lambda value: float(f"{value:.{_DIGITS}g}"))
