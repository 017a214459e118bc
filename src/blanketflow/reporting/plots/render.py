"""Turns a chart into SVG, without a browser or the network, or into the specification that a page holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import vl_convert

from ...core.printable import visible


def svg(chart: alt.TopLevelMixin) -> str:
    """Return the chart as the text of an SVG element. Equal charts give equal text."""
    return vl_convert.vegalite_to_svg(_unchecked(chart), allowed_base_urls=[])


def spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the chart as a small Vega-Lite specification, for a page with many charts.

    It has no ``config``, which is `CONFIG` for all charts, and no ``$schema``. Equal charts give equal dicts.
    """
    full = _unchecked(chart)
    datasets = full.pop("datasets", {})
    short = {name: f"d{at}" for at, name in enumerate(datasets)}
    kept = {key: value for key, value in full.items() if key not in ("config", "$schema")}
    return _renamed(kept, short) | {"datasets": {short[name]: rows for name, rows in datasets.items()}}


def _unchecked(chart: alt.TopLevelMixin) -> dict[str, Any]:
    # Altair's validation takes more than half of the time; the tests validate every chart instead.
    return _visible(chart.to_dict(validate=False))


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
