"""The page README.md, to which several measurements write, each a block of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from blanketflow.ci.multiple_testing import holm
from blanketflow.reporting.formatting import BLUE, ORANGE
from blanketflow.reporting.plots.theme import svg_on_white
from studies.shared import page

if TYPE_CHECKING:
    from studies.error_control.designs import Design

HERE = Path(__file__).parent
RESULTS = page.ROOT / "studies" / "error_control" / "error_control.parquet"
#: What a cell must exceed q by chance at most, over all cells together.
LEVEL = 0.05
KNOWN, NOT_KNOWN = "law known: proved", "law estimated or wrong: not proved"


def write(block: str, table: str) -> None:
    """Renew a block of the page."""
    page.write(HERE / "README.md", {block: table.rstrip()})


def interval(values: ArrayLike, digits: int) -> str:
    """Return the 95 % interval of the mean of some values that are never negative, in words."""
    values = np.asarray(values, dtype=float)
    margin = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return f"{max(values.mean() - margin, 0):.{digits}f} to {values.mean() + margin:.{digits}f}"


def cells(results: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return a row for each cell: means, 95 % intervals of the rate, and whether it is above q after Holm."""
    found = results.groupby([*by, "q"], sort=False).agg(
        tables=("draw", "size"), rate=("false", "mean"), deviation=("false", "std"), power=("power", "mean")
    )
    found = found.reset_index()
    found = found[found["tables"] > 1].reset_index(drop=True)
    error, degrees = found["deviation"] / np.sqrt(found["tables"]), found["tables"] - 1
    margin = stats.t.ppf(0.975, degrees) * error
    found["low"], found["high"] = (found["rate"] - margin).clip(lower=0), (found["rate"] + margin).clip(upper=1)
    above = (found["rate"] - found["q"]).where(error > 0, -1.0) / error.where(error > 0, 1.0)
    found["p"] = stats.t.sf(above, degrees)
    found["is_above"] = np.array(holm(found["p"].tolist())) <= LEVEL
    return found


def rate(cell: pd.Series) -> str:
    """Return a cell's rate and interval, bold where it is above q for sure."""
    said = f"{cell.rate:.3f} ({cell.low:.3f} to {cell.high:.3f})"
    return f"**{said}**" if cell.is_above else said


def study_table(found: pd.DataFrame) -> str:
    """Return the cells of the designs as a table in Markdown, a row for each design."""
    levels = sorted(found["q"].unique())
    heads = ["design", "law known", *(f"{what}, q = {q:g}" for q in levels for what in ("rate", "power")), "tables"]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for design, part in found.groupby("design", sort=False):
        of_q = [one for _, one in part.sort_values("q").iterrows()]
        shown = [text for one in of_q for text in (rate(one), f"{one.power:.2f}")]
        row = [design, "yes" if of_q[0].law == KNOWN else "no", *shown, str(of_q[0].tables)]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def study_chart(found: pd.DataFrame) -> alt.HConcatChart:
    """Draw the rate of each design with its interval beside a line at q, and its power, two columns for each q."""
    order = list(dict.fromkeys(found["design"]))
    colour = alt.Color(
        "law:N",
        title=None,
        scale=alt.Scale(domain=[KNOWN, NOT_KNOWN], range=[BLUE, ORANGE]),
        legend=alt.Legend(orient="bottom", labelLimit=0),
    )

    def panel(q: float, what: str, title: str, ticks: list[float]) -> alt.LayerChart:
        axis = alt.Axis(labelLimit=330) if q == found["q"].min() and what == "rate" else None
        base = alt.Chart(found[found["q"] == q]).encode(y=alt.Y("design:N", sort=order, title=None, axis=axis))
        scale = alt.Scale(domain=[ticks[0], ticks[-1]], nice=False)
        x = alt.X(f"{what}:Q", title=title, scale=scale, axis=alt.Axis(values=ticks))
        layers = [base.encode(x=x, color=colour).mark_point(filled=True, size=34, opacity=1)]
        if what == "rate":
            at_q = alt.Chart(pd.DataFrame({"rate": [q]})).encode(x="rate:Q")
            ends = base.encode(x=alt.X("low:Q"), x2="high:Q", color=colour).mark_rule()
            layers = [at_q.mark_rule(color="#9aa3ad", strokeWidth=1.5), ends, *layers]
        heading = alt.TitleParams(f"q = {q:g}" if what == "rate" else "", anchor="start", frame="group")
        return alt.layer(*layers).properties(width=140, height=330, title=heading)

    panels = []
    for q in sorted(found["q"].unique()):
        top = float(np.ceil(found.loc[found["q"] == q, "high"].max() / q)) * q
        rates = np.arange(0, max(top, 2 * q) + q / 2, q).round(10).tolist()
        panels += [panel(q, "rate", "false discovery rate", rates), panel(q, "power", "power", [0, 0.5, 1])]
    return alt.hconcat(*panels, spacing=14)


def write_study(results: pd.DataFrame, designs: Mapping[str, Design]) -> None:
    """Renew the table and the chart of knockoffs."""
    order = list(designs)
    results = results.sort_values("design", key=lambda names: names.map(order.index), kind="stable")
    found = cells(results, ["design"])
    found["law"] = [KNOWN if designs[name].is_valid else NOT_KNOWN for name in found["design"]]
    write("measured", study_table(found))
    (HERE / "error-control.svg").write_text(svg_on_white(study_chart(found)), encoding="utf-8")
