"""The two charts of docs/ci-tests.md, drawn like those of the report."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pandas as pd

from blanketflow.reporting.colours import BLUE, GREEN, INK, ORANGE, VERMILLION
from blanketflow.reporting.plots.render import svg_on_white
from blanketflow.reporting.plots.theme import WIDTH

from .study import NULL_ROWS, POWER_ROWS, SET_SIZES

ALPHA = 0.05
KINDS = ("false positives at most twice alpha, given nothing", "more than that")
#: Pixels of the names at the left of a chart.
NAMES = 250
#: Pixels that one n takes in a row of three.
ROW = 8


def write(folder: Path, table: pd.DataFrame) -> None:
    """Write both charts into a folder."""
    reliable = table[~table["is_unreliable"]]
    charts = {
        "ci-tests-false-positives.svg": false_positives(reliable[reliable["is_null"]]),
        "ci-tests-power.svg": power(table[~table["is_null"]], _uncalibrated(table)),
    }
    for name, chart in charts.items():
        # A file of its own does not take the colour of the page around it, so it brings its paper along.
        (folder / name).write_text(svg_on_white(chart), encoding="utf-8")


def false_positives(nulls: pd.DataFrame) -> alt.FacetChart:
    """Draw the rate at alpha 0.05 and its interval: a row a test and null, a column a size of the conditioning set."""
    shown = nulls.assign(name=nulls["label"].map(_short) + ", " + nulls["design"], given=_given(nulls["k"]), line=ALPHA)
    looks = {
        "title": "false-positive rate at alpha 0.05",
        "scale": alt.Scale(type="sqrt", domain=[0, 1]),
        "axis": alt.Axis(values=[0, 0.05, 0.2, 0.5, 1], format="~g"),
    }
    rate, low = alt.X("rate_05:Q", **looks), alt.X("low_05:Q", **looks)
    y = alt.Y("name:N", title=None, sort=list(dict.fromkeys(shown["name"])))
    offset = alt.YOffset("n:O", sort=list(NULL_ROWS))
    colour = alt.Color("n:O", scale=alt.Scale(domain=list(NULL_ROWS), range=[ORANGE, GREEN, BLUE]), title="n")
    base = alt.Chart().encode(y=y, yOffset=offset, color=colour)
    layers = [
        alt.Chart().mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("line:Q", **looks)),
        base.mark_rule(strokeWidth=1.5).encode(x=low, x2="high_05:Q"),
        base.mark_point(filled=True, size=22, opacity=1).encode(x=rate),
    ]
    column = alt.Column("given:N", title=None)
    width = (WIDTH - NAMES) // len(SET_SIZES)
    return alt.layer(*layers, data=shown).properties(width=width, height=alt.Step(ROW)).facet(column=column)


def power(alternatives: pd.DataFrame, uncalibrated: set[str]) -> alt.FacetChart:
    """Draw the power at alpha 0.05 over n: a row a test, a column an alternative."""
    shown = alternatives.assign(
        name=alternatives["label"].map(_short),
        kind=alternatives["label"].isin(uncalibrated).map({False: KINDS[0], True: KINDS[1]}),
    )
    names, designs = (list(dict.fromkeys(shown[column])) for column in ("name", "design"))
    # A facet grid with a hole would slip by one column, so what was not measured is there, without a rate.
    grid = pd.MultiIndex.from_product([names, designs, POWER_ROWS], names=["name", "design", "n"])
    shown = shown.set_index(["name", "design", "n"]).reindex(grid).reset_index()
    shown["kind"] = shown["kind"].fillna(KINDS[0])
    x = alt.X(
        "n:Q",
        title="n",
        scale=alt.Scale(type="log", domain=[POWER_ROWS[0], POWER_ROWS[-1]]),
        axis=alt.Axis(values=[50, 200, 1000], format="d"),
    )
    axis = alt.Axis(values=[0, 0.5, 1])
    y = alt.Y("rate_05:Q", title=None, scale=alt.Scale(domain=[0, 1]), axis=axis)
    scale = alt.Scale(domain=list(KINDS), range=[BLUE, VERMILLION])
    colour = alt.Color("kind:N", scale=scale, legend=alt.Legend(symbolOpacity=1, labelLimit=400))
    band = alt.Chart().mark_area(opacity=0.2).encode(x=x, y=alt.Y("low_05:Q", axis=axis, title=None), y2="high_05:Q")
    line = alt.Chart().mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.5).encode(x=x, y=y)
    width = (WIDTH - NAMES) // len(designs)
    return (
        alt.layer(band.encode(color=colour), line.encode(color=colour), data=shown)
        .properties(width=width, height=48)
        .facet(
            row=alt.Row(
                "name:N",
                title=None,
                sort=names,
                header=alt.Header(labelAngle=0, labelAlign="left", labelFontWeight="normal", labelFontSize=12),
            ),
            column=alt.Column("design:N", title=None, sort=designs, header=alt.Header(labelFontSize=12)),
            spacing={"row": 10, "column": 18},
        )
    )


def _uncalibrated(table: pd.DataFrame) -> set[str]:
    """Return the tests that reject far too often given nothing, whose power is not to be compared with the others'."""
    return set(table.loc[table["is_null"] & (table["k"] == 0) & (table["low_05"] > 2 * ALPHA), "label"])


def _given(k: pd.Series) -> pd.Series:
    return "|Z| = " + k.astype(str)


def _short(label: str) -> str:
    """Return a test's name and the values of its options, without their names."""
    test, *options = label.split()
    values = [option.partition("=")[2] for option in options if not option.startswith("min_samples")]
    return f"{test} ({', '.join(values)})" if values else test
