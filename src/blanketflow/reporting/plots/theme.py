"""Colours, fonts and sizes that all charts share, and their specifications and SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import altair as alt
import pandas as pd
import vl_convert

from ...core.printable import visible
from ..formatting import INK

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


# --- a chart as its specification, in full or as a page holds it, or as SVG without a browser or the network ----------


@contextmanager
def unchecked() -> Iterator[None]:
    """Have Altair not check what is drawn meanwhile, which takes a third of the time; tests check every chart."""
    with alt.utils.schemapi.debug_mode(False):
        yield


def full_spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the chart as a Vega-Lite specification, unchecked. Equal charts give equal dicts."""
    return _visible(chart.to_dict(validate=False))


def svg(spec: Mapping[str, Any]) -> str:
    """Return a chart, given its full specification, as the text of an SVG element."""
    return vl_convert.vegalite_to_svg(dict(spec), allowed_base_urls=[])


def svg_on_white(chart: alt.TopLevelMixin) -> str:
    """Return a chart with the shared style on a white background as SVG, for pages that may be dark."""
    return svg(full_spec(themed(chart).properties(background="white")))


def short_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a chart on a page with many charts, given the full one.

    It has no ``config``, which is `CONFIG` for all charts, and no ``$schema``, and its data have short names.
    """
    full = dict(spec)
    datasets = full.pop("datasets", {})
    short = {name: f"d{at}" for at, name in enumerate(datasets)}
    kept = {key: value for key, value in full.items() if key not in ("config", "$schema")}
    return _renamed(kept, short) | {"datasets": {short[name]: rows for name, rows in datasets.items()}}


def _visible(node: Any) -> Any:
    """Return a part of a specification without control characters, which an SVG file may not contain."""
    if isinstance(node, list):
        return [_visible(child) for child in node]
    if isinstance(node, Mapping):
        return {key: _visible(value) for key, value in node.items()}
    return visible(node) if isinstance(node, str) else node


def _renamed(node: Any, short: Mapping[str, str]) -> Any:
    """Return a part of a specification with the names of its data replaced by short names."""
    if isinstance(node, list):
        return [_renamed(child, short) for child in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: {"name": short[value["name"]]} if key == "data" and "name" in value else _renamed(value, short)
        for key, value in node.items()
    }
