"""The tables and the chart of README.md."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd

from blanketflow.reporting.formatting import BLUE, GREEN, ORANGE, VERMILLION
from blanketflow.reporting.plots.theme import svg_on_white
from studies.error_control.page import cells, rate
from studies.shared import page

HERE = Path(__file__).parent
RESULTS = page.ROOT / "studies" / "knockoff_packages" / "knockoff_packages.parquet"
#: Drawn in this order; ours have full lines.
LOOKS = {
    "knockoffs": (BLUE, [1, 0]),
    "knockpy": (BLUE, [4, 3]),
    "hidimstat knockoffs": (BLUE, [1, 3]),
    "dcrt": (VERMILLION, [1, 0]),
    "hidimstat dCRT": (ORANGE, [4, 3]),
    "hidimstat dCRT, fit_y=False": (ORANGE, [1, 3]),
    "stability-selection": (GREEN, [1, 0]),
}


def table(found: pd.DataFrame) -> str:
    """Return the cells as a table in Markdown, a row a design and method."""
    heads = ["design", "method", "tables"]
    heads += [f"{what}, q = {q:g}" for q in sorted(found["q"].unique()) for what in ("rate", "power")]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for (design, method), part in found.groupby(["design", "method"], sort=False):
        row = [design, method, str(part["tables"].max())]
        for one in part.sort_values("q").itertuples():
            row += [rate(one), f"{one.power:.2f}"]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def seconds(results: pd.DataFrame) -> str:
    """Return the CPU seconds that all q of a table took, in the median, as a table in Markdown."""
    whole = results[results["q"] == results["q"].max()]
    shown = whole.groupby(["method", "design"], sort=False)["seconds"].median().unstack()
    lines = [f"| method | {' | '.join(shown.columns)} |", f"|---|{'---|' * len(shown.columns)}"]
    lines += [f"| {name} | {' | '.join(f'{s:.2g}' for s in row)} |" for name, row in shown.iterrows()]
    return "\n".join(lines)


def chart(found: pd.DataFrame) -> alt.VConcatChart:
    """Draw the realised rate and the power over q, a column a design."""
    methods = [name for name in LOOKS if name in set(found["method"])]
    looks = {
        "color": alt.Color(
            "method:N",
            title=None,
            scale=alt.Scale(domain=methods, range=[LOOKS[name][0] for name in methods]),
            legend=alt.Legend(orient="bottom", columns=4, labelLimit=0, symbolType="stroke", symbolSize=300),
        ),
        "strokeDash": alt.StrokeDash(
            "method:N", title=None, scale=alt.Scale(domain=methods, range=[LOOKS[name][1] for name in methods])
        ),
    }
    x = alt.X(
        "seen:Q", title="q", scale=alt.Scale(domain=[0.03, 0.22], nice=False), axis=alt.Axis(values=[0.05, 0.1, 0.2])
    )
    designs = list(dict.fromkeys(found["design"]))
    shown = found.assign(seen=found["q"] + 0.0015 * (found["method"].map(methods.index) - len(methods) / 2))

    def row(value: str, title: str, top: float) -> alt.HConcatChart:
        panels = []
        for design in designs:
            base = alt.Chart(shown[shown["design"] == design]).encode(x=x, **looks)
            y = alt.Y(f"{value}:Q", title=title if design == designs[0] else None, scale=alt.Scale(domain=[0, top]))
            lines = base.encode(y=y)
            layers = [lines.mark_line(strokeWidth=1.8), lines.mark_point(filled=True, size=22, opacity=1)]
            if value == "rate":
                ends = pd.DataFrame({"seen": [0.03, 0.22], "rate": [0.03, 0.22]})
                layers.insert(0, alt.Chart(ends).mark_line(color="#9aa3ad").encode(x="seen:Q", y="rate:Q"))
                layers.append(lines.mark_rule(opacity=0.45).encode(y=alt.Y("low:Q"), y2="high:Q"))
            panels.append(alt.layer(*layers).properties(width=190, height=190, title=design if value == "rate" else ""))
        return alt.hconcat(*panels)

    top = min(1.0, float(np.ceil(found["high"].max() * 10) / 10))
    return alt.vconcat(row("rate", "false discovery rate", top), row("power", "power", 1.0))


def write(results: pd.DataFrame) -> None:
    """Renew the tables and the chart."""
    order = list(LOOKS)
    results = results.sort_values("method", key=lambda names: names.map(order.index), kind="stable")
    designs = {name: at for at, name in enumerate(dict.fromkeys(results.sort_values("draw", kind="stable")["design"]))}
    results = results.sort_values("design", key=lambda names: names.map(designs), kind="stable")
    found = cells(results, ["design", "method"])
    blocks = {"cells": table(found), "seconds": seconds(results)}
    page.write(HERE / "README.md", blocks)
    (HERE / "knockoff-packages.svg").write_text(svg_on_white(chart(found)), encoding="utf-8")
