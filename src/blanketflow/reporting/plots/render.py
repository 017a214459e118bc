"""A chart as SVG text, drawn without a browser and without the network, or as the specification of a page's chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import vl_convert

from ...core.printable import visible


def svg(chart: alt.TopLevelMixin) -> str:
    """Return the chart as an SVG element. Equal charts give equal text."""
    return vl_convert.vegalite_to_svg(_unchecked(chart), allowed_base_urls=[])


def spec(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return the chart as a small Vega-Lite specification, for a page that holds many of them.

    It has neither ``config``, which is `CONFIG` for all charts, nor ``$schema``. Equal charts give equal dicts.
    """
    full = _unchecked(chart)
    datasets = full.pop("datasets", {})
    short = {name: f"d{at}" for at, name in enumerate(datasets)}
    kept = {key: value for key, value in full.items() if key not in ("config", "$schema")}
    return _renamed(kept, short) | {"datasets": {short[name]: rows for name, rows in datasets.items()}}


def _unchecked(chart: alt.TopLevelMixin) -> dict[str, Any]:
    # Altair's check against the schema takes more than half of the time, and the tests do it for every chart.
    return _visible(chart.to_dict(validate=False))


def _visible(node: Any) -> Any:
    """Return a part of a specification whose texts a page can show: of an SVG file, control characters are no part."""
    if isinstance(node, list):
        return [_visible(child) for child in node]
    if isinstance(node, Mapping):
        return {key: _visible(value) for key, value in node.items()}
    return visible(node) if isinstance(node, str) else node


def _renamed(node: Any, short: Mapping[str, str]) -> Any:
    """Return a part of a specification with the data that it names by their short names."""
    if isinstance(node, list):
        return [_renamed(child, short) for child in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: {"name": short[value["name"]]} if key == "data" and "name" in value else _renamed(value, short)
        for key, value in node.items()
    }
