"""The charts of README.md and docs/many-rows.md, drawn like those of the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from blanketflow.reporting.formatting import BLUE, GREEN, INK, ORANGE, VERMILLION
from blanketflow.reporting.plots.theme import STEP, WIDTH, svg_on_white
from studies.shared.record import OWN
from studies.speed.tables import aim, entries


def write(folder: Path, contents: dict[str, dict[str, Any]]) -> list[Path]:
    """Write every chart whose numbers are there; return the files."""
    makers = {"ppfs": ratios, "scaling": growth, "overhead": parts}
    needed = {"ppfs": "warm", "scaling": "growth in B", "overhead": "single job"}
    written = []
    for name, make in makers.items():
        if name in contents and entries(contents[name], needed[name]):
            path = folder / f"performance-{name}.svg"
            # A file of its own does not take the colour of the page around it, so it brings its paper along.
            path.write_text(svg_on_white(make(contents[name])), encoding="utf-8")
            written.append(path)
    return written


def ratios(content: dict[str, Any]) -> alt.LayerChart:
    """Draw PyImpetus' time over ours, cell by cell, with spread and aim."""
    rows = []
    for entry in content["ratios"]:
        if entry["table"] == "warm":
            case = entry["case"]
            name = f"{case['data']}, B = {case['B']}, K = {case['K']}"
            rows.append({"name": name, **{k: entry[k] for k in ("median", "low", "high")}, "aim": aim("warm", case)})
    frame = pd.DataFrame(rows)
    y = alt.Y("name:N", title=None, sort=list(frame["name"]))
    title = "PyImpetus' CPU seconds over blanketflow's; the bar across is the aim"
    base = alt.Chart(frame).encode(y=y)
    return alt.layer(
        base.mark_bar(color=BLUE, opacity=0.8).encode(x=alt.X("median:Q", title=title)),
        base.mark_rule(color=INK).encode(x="low:Q", x2="high:Q"),
        base.mark_tick(color=VERMILLION, thickness=3).encode(x="aim:Q"),
    ).properties(width=WIDTH - 260, height=alt.Step(STEP))


def growth(content: dict[str, Any]) -> alt.HConcatChart:
    """Draw seconds over n, d and B on logarithmic axes."""
    charts = []
    for varied in ("n", "d", "B"):
        found = entries(content, f"growth in {varied}", OWN)
        frame = pd.DataFrame(
            {"work": m["case"]["work"], "size": m["case"][varied], "seconds": min(m["runs"])} for m in found
        )
        works = list(dict.fromkeys(m["case"]["work"] for m in entries(content, "growth in n", OWN)))
        colour = alt.Color("work:N", scale=alt.Scale(domain=works, range=[BLUE, VERMILLION, GREEN, ORANGE]), sort=works)
        axis = alt.Axis(format="~s", values=sorted(frame["size"].unique()), labelOverlap=True)
        x = alt.X("size:Q", title=varied, scale=alt.Scale(type="log", nice=False), axis=axis)
        y = alt.Y("seconds:Q", title="CPU s" if varied == "n" else None, scale=alt.Scale(type="log"))
        line = alt.Chart(frame).mark_line(point=True).encode(x=x, y=y, color=colour)
        charts.append(line.properties(width=(WIDTH - 160) // 3, height=260))
    return alt.hconcat(*charts)


def parts(content: dict[str, Any]) -> alt.Chart:
    """Draw where the CPU seconds of single jobs go."""
    rows = []
    for m in entries(content, "single job", OWN):
        for order, (part, seconds) in enumerate(m["facts"].items()):
            if part != "own":
                rows.append({"job": m["case"]["job"], "part": part, "seconds": max(seconds, 0), "order": order})
    frame = pd.DataFrame(rows)
    names = list(dict.fromkeys(frame["part"]))
    colours = ["#999999", ORANGE, "#56B4E9", VERMILLION, "#F0E442", "#CC79A7", BLUE, GREEN]
    colour = alt.Color("part:N", sort=names, scale=alt.Scale(domain=names, range=colours[: len(names)]))
    y = alt.Y("job:N", title=None, sort=list(dict.fromkeys(frame["job"])))
    x = alt.X("seconds:Q", title="CPU s")
    bars = alt.Chart(frame).mark_bar().encode(y=y, x=x, color=colour, order="order:Q")
    return bars.properties(width=WIDTH - 320, height=alt.Step(STEP))


def memory_of_a_run(profile: Sequence[tuple[float, str, float]]) -> alt.Chart:
    """Draw the resident set over a run, from seconds, the step at that time, and GB."""
    frame = pd.DataFrame(profile, columns=["second", "step", "gigabytes"])
    steps = list(dict.fromkeys(frame["step"]))
    colours = [BLUE, ORANGE, GREEN, VERMILLION, INK][: len(steps)]
    colour = alt.Color("step:N", sort=steps, scale=alt.Scale(domain=steps, range=colours), title=None)
    x = alt.X("second:Q", title="seconds since the start")
    y = alt.Y("gigabytes:Q", title="resident set, GB", scale=alt.Scale(domainMin=0))
    line = alt.Chart(frame).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    return line.properties(width=WIDTH - 160, height=200)


def by_rows(found: Sequence[tuple[str, int, float, float]]) -> alt.HConcatChart:
    """Draw CPU seconds and peak memory over the number of rows, from what was searched, rows, seconds and GB."""
    frame = pd.DataFrame(found, columns=["what", "rows", "seconds", "gigabytes"])
    whats = list(dict.fromkeys(frame["what"]))
    scale = alt.Scale(domain=whats, range=[BLUE, VERMILLION, GREEN, ORANGE][: len(whats)])
    colour = alt.Color("what:N", sort=whats, scale=scale, title=None, legend=alt.Legend(labelLimit=WIDTH))
    axis = alt.Axis(format="~s", values=sorted(frame["rows"].unique()), labelOverlap=True)
    x = alt.X("rows:Q", title="rows", scale=alt.Scale(type="log", nice=False), axis=axis)
    charts = []
    for name, title in (("seconds", "CPU s"), ("gigabytes", "peak memory, GB")):
        y = alt.Y(f"{name}:Q", title=title, scale=alt.Scale(domainMin=0))
        line = alt.Chart(frame).mark_line(point=True).encode(x=x, y=y, color=colour)
        charts.append(line.properties(width=(WIDTH - 160) // 2, height=220))
    return alt.hconcat(*charts)
