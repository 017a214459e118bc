"""Tables of the scores, the stability and the cost of the selectors on one data set."""

from __future__ import annotations

import pandas as pd

from .run_frames import Run
from .table import Cell, Table, cells
from .text import NONE, count, fixed, mean_sd, number, seconds, signed


def score_table(run: Run, dataset: str, metric: str) -> Table:
    """Return a table of selectors by models: mean ± standard deviation, and below it the difference to all features."""
    scores = run.rows(run.scores(dataset), metric=metric)
    models = list(dict.fromkeys(scores["model"]))
    rows = []
    for selector in dict.fromkeys(scores["selector"]):
        own = run.rows(scores, selector=selector)
        size = own["n_features"].mean()
        row = [Cell(selector), Cell(number(size, 1), value=size)]
        rows.append(row + [_score(run, run.rows(own, model=model), selector) for model in models])
    n_splits = int(scores["n_splits"].max())
    return Table(
        ["selector", "features", *models], rows, caption=f"{metric}, mean ± sd over {count(n_splits, 'split')}"
    )


def _score(run: Run, found: pd.DataFrame, selector: str) -> Cell:
    if found.empty:
        return Cell(NONE)
    row = found.iloc[0]
    if row["n_splits"] == 0:
        return Cell(NONE, {"error": "failed"}.get(row["status"], row["status"]))
    detail = "" if selector == run.baseline else signed(row["difference"])
    shown = detail if detail != NONE else ""
    if row["status"] != "ok":
        shown = ", ".join(filter(None, (shown, f"{count(int(row['n_splits']), 'split')} only")))
    return Cell(mean_sd(row["mean"], row["sd"]), shown, best=bool(row["best"]), value=row["mean"])


def stability(run: Run, dataset: str) -> Table:
    """Return a table of how much the set that each selector chooses varies over the evaluation splits."""
    rows = []
    for row in run.in_order(run.rows(run.tables["stability"], dataset=dataset)).itertuples():
        interval = f"{fixed(row.lower, 2)} to {fixed(row.upper, 2)}" if row.lower == row.lower else NONE
        spread = f" ± {number(row.sd_size, 1)}" if row.sd_size == row.sd_size else ""
        rows.append(
            cells(
                row.selector,
                Cell(fixed(row.stability, 2), row.note, value=row.stability),
                Cell(interval, value=row.lower),
                Cell(fixed(row.jaccard, 2), value=row.jaccard),
                Cell(number(row.mean_size, 1) + spread, value=row.mean_size),
                Cell(str(row.n_sets), value=row.n_sets),
            )
        )
    return Table(["selector", "stability", "95 % interval", "Jaccard", "size", "sets"], rows)


def runtime(run: Run, dataset: str) -> Table:
    """Return a table of the number of tests and the seconds of each selector."""
    rows = [
        cells(
            row.selector,
            Cell(f"{row.n_tests:,}", value=row.n_tests),
            Cell(seconds(row.selection_seconds), value=row.selection_seconds),
            Cell(seconds(row.evaluation_seconds), value=row.evaluation_seconds),
        )
        for row in run.in_order(run.rows(run.tables["runtime"], dataset=dataset)).itertuples()
    ]
    return Table(["selector", "tests", "selection", "evaluation"], rows)
