"""Tables over all data sets: ranks, stability and cost."""

from __future__ import annotations

import pandas as pd

from .run import Run
from .table import Cell, Table, cells
from .text import NONE, fixed, number, seconds


def ranks(run: Run) -> list[Table]:
    """Return a table of mean ranks for each metric, selectors by models."""
    return [_rank_table(run, metric, part) for metric, part in run.tables["ranks"].groupby("metric", sort=False)]


def _rank_table(run: Run, metric: str, known: pd.DataFrame) -> Table:
    models = list(dict.fromkeys(known["model"]))
    comparable = known[known["n_datasets"] == known.groupby("model")["n_datasets"].transform("max")]
    best = comparable.groupby("model")["mean_rank"].min()
    found = {(row.selector, row.model): row for row in known.itertuples()}
    rows = []
    for selector in (name for name in run.selectors if name in set(known["selector"])):
        row = [Cell(selector)]
        for model in models:
            rank = found.get((selector, model))
            if rank is None:
                row.append(Cell(NONE))
            else:
                text = fixed(rank.mean_rank, 2)
                row.append(
                    Cell(
                        text,
                        f"n = {rank.n_datasets}",
                        best=rank.Index in comparable.index and rank.mean_rank == best[model],
                    )
                )
        rows.append(row)
    return Table(["selector", *models], rows, caption=f"{metric}: mean rank, n data sets")


def stability(run: Run) -> Table:
    """Return how much the chosen sets vary over the evaluation splits."""
    rows = []
    for row in _ordered(run, run.tables["stability"]).itertuples():
        interval = f"{fixed(row.lower, 2)} to {fixed(row.upper, 2)}" if row.lower == row.lower else NONE
        rows.append(
            cells(
                row.dataset,
                row.selector,
                Cell(fixed(row.stability, 2), row.note),
                interval,
                fixed(row.jaccard, 2),
                number(row.mean_size, 1) + (f" ± {number(row.sd_size, 1)}" if row.sd_size == row.sd_size else ""),
                str(row.n_sets),
            )
        )
    return Table(["data set", "selector", "stability", "95 % interval", "Jaccard", "size", "sets"], rows, n_text=2)


def runtime(run: Run) -> Table:
    """Return tests and seconds."""
    rows = [
        cells(
            row.dataset,
            row.selector,
            f"{row.n_tests:,}",
            seconds(row.selection_seconds),
            seconds(row.evaluation_seconds),
        )
        for row in _ordered(run, run.tables["runtime"]).itertuples()
    ]
    return Table(["data set", "selector", "tests", "selection", "evaluation"], rows, n_text=2)


def _ordered(run: Run, frame: pd.DataFrame) -> pd.DataFrame:
    places = {name: at for known in (run.cards, run.selectors) for at, name in enumerate(known)}
    return frame.sort_values(["dataset", "selector"], key=lambda s: s.map(places).fillna(len(places)), kind="stable")
