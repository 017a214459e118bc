"""A chart as SVG text, drawn without a browser and without the network."""

from __future__ import annotations

import altair as alt
import vl_convert


def svg(chart: alt.TopLevelMixin) -> str:
    """Return the chart as an SVG element. Equal charts give equal text."""
    return vl_convert.vegalite_to_svg(chart.to_dict(), allowed_base_urls=[])
