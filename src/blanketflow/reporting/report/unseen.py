"""Report section on what was observed on unseen rows, by parts of what the leading model predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...core.cards import ORDERED, SURVIVAL
from .. import plots
from ..formatting import number
from .html import Cell, Table, cells
from .run import Run

#: Largest number of classes with a column.
MOST_CLASSES = 12
_THIRDS = {1: "lowest third", 2: "middle third", 3: "highest third"}


@dataclass(frozen=True)
class Unseen:
    """What was observed of a data set's answer; `caption` says what the chart shows and `table` the numbers below it.

    `selector` and `model` are those that lead on the data set.
    """

    selector: str
    model: str
    label: str
    caption: str
    table: Table
    chart: Any


def unseen(run: Run, dataset: str) -> Unseen | None:
    """Return what was observed for the answer's selector and the leading model.

    None for classification and regression, and without such an evaluation.
    """
    answer, model = run.answer(dataset), run.main_model(dataset)
    if answer is None or model is None:
        return None
    found = run.rows(run.tables["observed"], dataset=dataset, selector=answer.selector, model=model)
    if found.empty:
        return None
    card = run.cards[dataset]
    make = {SURVIVAL: _survival, ORDERED: _ordered}.get(card["task"], _means)
    return Unseen(answer.selector, model, *make(found, card["target"], _once(found)))


def _once(found: pd.DataFrame) -> str:
    n = int(found.drop_duplicates("part")["rows"].sum())
    return f"{n:,} test rows of the evaluation splits, each counted once"


def _survival(found: pd.DataFrame, target: Mapping[str, Any], rows: str) -> tuple[str, str, Table, Any]:
    event = f"the event ({target['event']})" if target.get("event") else "the event"
    numbers = found.dropna(subset=["at_risk"])
    times = sorted({*numbers["at"]})
    by_time = {(row.part, row.at): row for row in numbers.itertuples()}
    lines = []
    for part in sorted({*found["part"]}):
        own = [by_time[part, at] for at in times]
        at_risk = [Cell(number(row.at_risk), f"({number(row.events)})", value=row.at_risk) for row in own]
        lines.append(cells(_THIRDS[part], *at_risk))
    table = Table(
        ["predicted risk", *(f"{time:g}" for time in times)],
        lines,
        caption=f"rows at risk at some times ({target['name']}); in parentheses: with the event by then",
    )
    caption = (
        f"Kaplan-Meier curves of {rows}, by thirds of the risk that was predicted for them within their split. The "
        "further apart the curves, the more the features tell. They end when a tenth of the rows is still observed."
    )
    chart = plots.survival_curves(found, _THIRDS, target["name"], event)
    return "Survival by thirds of predicted risk; the table below has the numbers at risk", caption, table, chart


def _means(found: pd.DataFrame, target: Mapping[str, Any], rows: str) -> tuple[str, str, Table, Any]:
    what = f"mean of {target['name']}"
    if target.get("exposure"):
        what = f"rate of {target['name']} per unit of {target['exposure']}"
    lines = [
        cells(
            f"{row.part} of {row.n_parts}",
            Cell(number(row.rows), value=row.rows),
            Cell(number(row.predicted), value=row.predicted),
            Cell(number(row.observed), _between(row.low, row.high), value=row.observed),
        )
        for row in found.itertuples()
    ]
    table = Table(["part, by prediction", "rows", "predicted", "observed"], lines, caption=what)
    caption = (
        f"Observed against predicted, in tenths of {rows}, by what was predicted for them within their split. "
        "Vertical lines are 95 % intervals. Points near the dashed line mean that predictions can be taken as they are."
    )
    return (
        "Observed against predicted mean; the table below has the numbers",
        caption,
        table,
        plots.mean_by_prediction(found, what),
    )


def _between(low: float, high: float) -> str:
    return "" if low != low else f"({number(low)} to {number(high)})"


def _ordered(found: pd.DataFrame, target: Mapping[str, Any], rows: str) -> tuple[str, str, Table, Any]:
    classes = list(dict.fromkeys(found["label"]))
    lines = []
    for part, own in found.groupby("part"):
        shown = [
            Cell(f"{row.observed:.0%}", f"{row.predicted:.0%} predicted", value=row.observed)
            for row in own.itertuples()
        ]
        size = int(own["rows"].iloc[0])
        lines.append(cells(_THIRDS[int(part)], Cell(number(size), value=size), *shown[:MOST_CLASSES]))
    table = Table(
        ["predicted class", "rows", *classes[:MOST_CLASSES]], lines, caption=f"observed shares of {target['name']}"
    )
    caption = (
        f"Shares of the classes in thirds of {rows}, from the lowest predicted classes to the highest within their "
        "split. The more the bars differ, the more the features tell."
    )
    label = "Observed classes by thirds of the prediction; the table below has the numbers"
    return label, caption, table, plots.shares_by_prediction(found, _THIRDS, classes)
