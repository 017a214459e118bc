"""The two charts of README.md, drawn like those of the report."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import pandas as pd

from blanketflow.ci.rates import VERDICTS
from blanketflow.reporting.formatting import BLUE, INK, ORANGE, SKY, VERMILLION
from blanketflow.reporting.plots.theme import WIDTH, svg_on_white
from studies.calibration.study import ALPHAS, NULL_ROWS, POWER_ROWS, SET_SIZES, TOLERATED

ALPHA = ALPHAS["05"]
KINDS = (f"false positives at most {TOLERATED:g} alpha, given nothing", "more than that")
#: Tests whose false positives are drawn, and the colours of verdicts.
DRAWN = ("auto", "spline", "hsic trace_error=0.01", "fisher-z", "lr-mixed", "g2")
COLOURS = dict(zip(VERDICTS, (SKY, BLUE, ORANGE, VERMILLION), strict=True))
#: Pixels of the names at the left of a chart.
NAMES = 250
#: Pixels that one n takes in a row of several.
ROW = 7


def write(folder: Path, table: pd.DataFrame) -> None:
    """Write both charts into a folder."""
    judged = table[(table["verdict"] != "") & table["label"].isin(DRAWN)]
    charts = {
        "ci-tests-false-positives.svg": false_positives(judged),
        "ci-tests-power.svg": power(table[~table["is_null"]], _uncalibrated(table)),
    }
    for name, chart in charts.items():
        # A file of its own does not take the colour of the page around it, so it brings its paper along.
        (folder / name).write_text(svg_on_white(chart), encoding="utf-8")


def false_positives(nulls: pd.DataFrame) -> alt.FacetChart:
    """Draw the rate at alpha 0.05: a row a null, within it one for each n, a column a test."""
    shown = nulls.assign(name=nulls["label"].map(_short), given=nulls["k"].astype(str), line=ALPHA)
    looks = {
        "title": None,
        "scale": alt.Scale(type="sqrt", domain=[0, 1]),
        "axis": alt.Axis(values=[0, 0.05, 0.2, 0.5, 1], format="~g"),
    }
    y = alt.Y("design:N", title=None, sort=list(dict.fromkeys(shown["design"])))
    offset = alt.YOffset("n:O", sort=list(NULL_ROWS))
    colour = alt.Color("verdict:N", scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())))
    shape = alt.Shape("given:N", scale=alt.Scale(domain=list(map(str, SET_SIZES))), title="|Z|")
    layers = [
        alt.Chart().mark_rule(color=INK, strokeDash=[4, 3]).encode(x=alt.X("line:Q", **looks)),
        alt.Chart()
        .mark_point(filled=True, size=22, opacity=1)
        .encode(x=alt.X("rate_05:Q", **looks), y=y, yOffset=offset, color=colour, shape=shape),
    ]
    names = list(map(_short, DRAWN))
    column = alt.Column("name:N", title="false-positive rate at alpha 0.05", sort=names)
    width = (WIDTH - NAMES // 2) // len(names)
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
    return set(table.loc[table["is_null"] & (table["k"] == 0) & (table["low_05"] > TOLERATED * ALPHA), "label"])


def _short(label: str) -> str:
    """Return a test's name and the values of its options, without their names."""
    test, *options = label.split()
    values = [option.partition("=")[2] for option in options if not option.startswith("min_samples")]
    return f"{test} ({', '.join(values)})" if values else test
