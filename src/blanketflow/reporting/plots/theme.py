"""Colours, fonts and sizes of all charts, and charts as specifications and SVG."""

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
#: Significant digits in charts, finer than a pixel.
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
    """Return a tooltip of unformatted columns, given their titles."""
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def themed(chart: _Chart) -> _Chart:
    """Apply the shared style to a chart in place and return it.

    Altair's active theme would be global state, and its methods would copy all data.
    """
    chart.config = alt.Config(**CONFIG)
    return chart


def noted(chart: _Chart, note: str) -> _Chart:
    """Apply the shared style to a chart, with a note above it unless empty, and return it."""
    if note:
        chart.title = alt.TitleParams(text=note, fontSize=12, fontWeight="normal", offset=10)
    return themed(chart)


def rounded(values: pd.Series) -> pd.Series:
    """Return numbers without digits finer than a pixel, which would enlarge the page."""
    return values.astype("float64").map(lambda value: float(f"{value:.{_DIGITS}g}"))


# --- charts as full or short specifications, or as SVG without browser or network -------------------------------------


@contextmanager
def unchecked() -> Iterator[None]:
    """Disable Altair's validation, a third of the drawing time; tests validate every chart."""
    with alt.utils.schemapi.debug_mode(False):
        yield


def full_spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart without validation. Equal charts give equal dicts."""
    return _visible(chart.to_dict(validate=False))


def svg(spec: Mapping[str, Any]) -> str:
    """Return a chart, given its full specification, as an SVG element."""
    return vl_convert.vegalite_to_svg(dict(spec), allowed_base_urls=[])


def svg_on_white(chart: alt.TopLevelMixin) -> str:
    """Return a chart with the shared style as SVG on white, for pages with a dark background."""
    return svg(full_spec(themed(chart).properties(background="white")))


def short_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification of a chart on a page with many charts, given the full one.

    It lacks ``config`` (`CONFIG` for all charts) and ``$schema``, and its data have short names.
    """
    full = dict(spec)
    datasets = full.pop("datasets", {})
    short = {name: f"d{at}" for at, name in enumerate(datasets)}
    kept = {key: value for key, value in full.items() if key not in ("config", "$schema")}
    return _renamed(kept, short) | {"datasets": {short[name]: rows for name, rows in datasets.items()}}


def _visible(node: Any) -> Any:
    """Return a part of a specification without control characters, which SVG forbids."""
    if isinstance(node, list):
        return [_visible(child) for child in node]
    if isinstance(node, Mapping):
        return {key: _visible(value) for key, value in node.items()}
    return visible(node) if isinstance(node, str) else node


def _renamed(node: Any, short: Mapping[str, str]) -> Any:
    """Return a part of a specification with short names for its data."""
    if isinstance(node, list):
        return [_renamed(child, short) for child in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: {"name": short[value["name"]]} if key == "data" and "name" in value else _renamed(value, short)
        for key, value in node.items()
    }
