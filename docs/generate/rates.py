"""Measured error rates of the CI tests on their pages, and as an interactive chart of the site."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from blanketflow.ci.rates import ALPHA, FAMILIES, INVALID, NOT_SHOWN, POWER, VERDICTS, Rate, measured

from .markdown import table

#: Options that show what goes wrong, not how a test is used.
_TO_SHOW = ("min_samples_per_cell=0", "min_samples_per_parameter=0", "bins=")
_MARKS = {INVALID: "**", NOT_SHOWN: "*"}
#: Colours of verdicts, those of the study's pictures.
_COLOURS = ("#56B4E9", "#0072B2", "#E69F00", "#D55E00")
_STUDY = "../../studies/calibration/README.md"


def rates_section(test: str) -> str:
    """Return the section on error rates and power of a test's page; empty if none were measured.

    Examples
    --------
    >>> rates_section("fisher-z").startswith("## Error rates"), rates_section("population")
    (True, '')
    """
    of_test = [rate for rate in measured() if rate.test == test]
    nulls, power = ([rate for rate in of_test if (rate.family == POWER) == is_power] for is_power in (False, True))
    if not nulls:
        return ""
    blocks = [
        "## Error rates",
        "How often the test rejects at alpha 0.05, in per cent, where X is independent of T given some columns: the "
        f"worst design of each family in the [calibration study]({_STUDY}#false-positives). **Bold** is invalid, "
        "*slanted* is not shown to be calibrated, often for few samples; all else is calibrated or conservative. Empty "
        "cells were not measured, or have too few rows for the test.",
        _by_rows(nulls, "family"),
    ]
    if power:
        blocks += ["How often it finds dependences:", _by_rows(power, "design")]
    return "\n\n".join(blocks)


def _by_rows(rates: Iterable[Rate], what: str) -> str:
    rates = list(rates)
    columns = sorted({rate.rows for rate in rates})
    has_options = len({rate.options for rate in rates}) > 1
    order = [*FAMILIES, POWER]
    lines: dict[tuple[Any, ...], dict[int, str]] = {}
    for rate in sorted(rates, key=lambda rate: (rate.options, order.index(rate.family))):
        mark = _MARKS.get(rate.verdict, "")
        cell = f"{mark}{100 * rate.rejected:.1f}{mark}"
        lines.setdefault((rate.options, getattr(rate, what), rate.given), {})[rate.rows] = cell
    written = [
        [
            *([code(options)] if has_options else []),
            FAMILIES.get(of, of),
            str(given),
            *(by.get(n, "") for n in columns),
        ]
        for (options, of, given), by in lines.items()
    ]
    return table([*(["options"] if has_options else []), "where", "given", *(f"{n:,} rows" for n in columns)], written)


def used_options() -> dict[str, list[Rate]]:
    """Return the rates of tests with options as they are used, by label."""
    found: dict[str, list[Rate]] = {}
    for rate in measured():
        if not rate.options.startswith(_TO_SHOW):
            found.setdefault(f"{rate.test} {rate.options}".strip(), []).append(rate)
    return found


def code(text: str) -> str:
    """Return each word as code.

    Examples
    --------
    >>> code("gcm weights=3")
    '`gcm` `weights=3`'
    """
    return " ".join(f"`{part}`" for part in text.split())


def chart_files() -> dict[str, str]:
    """Return the scripts that docs/_static/rates-chart.js needs by their paths in the documentation's folder."""
    import vl_convert

    # The bundle is made for a module, which a browser loads from no file; as a function it keeps its names to itself.
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return {
        "_static/vega.js": f"(() => {{\n{bundle}\n}})();\n",
        "_static/rates-spec.js": f"const ratesChart = {json.dumps(rates_chart(), ensure_ascii=False)};\n",
    }


def rates_chart() -> dict[str, Any]:
    """Return the Vega-Lite chart of the rates by rows: a panel a test, with a family and given columns to choose.

    Examples
    --------
    >>> [one["name"] for one in rates_chart()["params"]]
    ['family', 'given']
    """
    values = [
        {
            "label": label,
            **{name: getattr(rate, name) for name in ("family", "given", "rows", "rejected", "upper", "design")},
            **{name: getattr(rate, name) for name in ("samples", "verdict", "microseconds")},
        }
        for label, rates in used_options().items()
        for rate in rates
        if rate.family != POWER
    ]
    given = sorted({value["given"] for value in values})
    x = {
        "field": "rows",
        "type": "quantitative",
        "title": "rows",
        "scale": {"type": "log", "domain": [70, 12_000]},
        "axis": {"values": [100, 1000, 10_000], "format": "~s"},
    }
    y = {
        "field": "rejected",
        "type": "quantitative",
        "title": None,
        "scale": {"type": "sqrt", "domain": [0, 1]},
        "axis": {"values": [0, 0.05, 0.2, 0.5, 1], "format": "~g"},
    }
    titles = {
        "label": "test",
        "rejected": "rejected at alpha 0.05",
        "upper": "upper 99 % bound",
        "verdict": "verdict",
        "design": "worst design",
        "rows": "rows",
        "samples": "samples",
        "microseconds": "µs a test",
    }
    colour = {
        "field": "verdict",
        "type": "nominal",
        "title": None,
        "scale": {"domain": list(VERDICTS), "range": list(_COLOURS)},
        "legend": {"orient": "top", "columns": 2},
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "white",
        "description": "Rate of rejection of each test by rows, for a family of nulls and a number of given columns",
        # The tests that were measured, and so the panels, are others for another choice.
        "autosize": {"type": "pad", "resize": True},
        "data": {"values": values},
        "params": [
            {
                "name": "family",
                "value": "bends",
                "bind": {"input": "select", "options": [*FAMILIES], "labels": [*FAMILIES.values()], "name": "where "},
            },
            {"name": "given", "value": 1, "bind": {"input": "radio", "options": given, "name": "given columns "}},
        ],
        "transform": [{"filter": "datum.family == family && datum.given == given"}],
        "facet": {
            "field": "label",
            "type": "nominal",
            "title": None,
            "header": {"labelExpr": "split(datum.label, ' ')", "labelFontSize": 11},
        },
        "columns": 5,
        "spec": {
            "width": 110,
            "height": 90,
            "layer": [
                {"mark": {"type": "rule", "strokeDash": [4, 3]}, "encoding": {"y": {"datum": ALPHA}}},
                {"mark": {"type": "line", "color": "#999", "strokeWidth": 1}, "encoding": {"x": x, "y": y}},
                {
                    "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                    "encoding": {
                        "x": x,
                        "y": y,
                        "color": colour,
                        "tooltip": [{"field": name, "title": title} for name, title in titles.items()],
                    },
                },
            ],
        },
    }
