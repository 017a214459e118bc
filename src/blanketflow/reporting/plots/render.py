"""Turns a chart into its specification, in full or as a page holds it, or into SVG without a browser or the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import altair as alt
import vl_convert

from ...core.printable import visible
from .theme import themed


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
