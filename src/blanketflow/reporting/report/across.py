"""The section on all data sets together: ranks, the test whether selectors differ, and wins."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ..text import NONE, count, fixed, number, p_value
from .run import Run
from .table import Cell, Table, cells

#: Level at which the sentence says that selectors differ; Nemenyi's critical difference has the same.
_ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """The selectors compared by one metric of one model."""

    metric: str
    model: str
    sentence: str


def comparisons(run: Run) -> list[Comparison]:
    """Return the comparisons by the main metric of most data sets, starting with the main model of most of them."""
    metric, lead = run.lead_metric(), run.lead_model()
    tested = run.rows(run.tables["friedman"], metric=metric) if metric else run.tables["friedman"][:0]
    found = [Comparison(row.metric, row.model, sentence(row)) for row in tested.itertuples()]
    return sorted(found, key=lambda comparison: comparison.model != lead)


def sentence(test: pd.Series) -> str:
    """Return the results of Friedman's and Nemenyi's tests in words; `test` is a row of the table ``friedman``."""
    if test.statistic != test.statistic:
        return f"No test: {test.note}."
    differ = test.p_value < _ALPHA
    text = f"Over {count(test.n_datasets, 'data set')} the {test.n_selectors} selectors "
    text += "differ" if differ else "differ no more than by chance"
    text += f" (Friedman's χ² = {number(test.statistic, 2)}, {p_value(test.p_value)}). "
    distance = fixed(test.critical_difference, 2)
    text += (
        f"Two selectors whose mean ranks are closer than {distance} do not differ"
        if differ
        else f"Mean ranks would have to be {distance} apart"
    )
    return (
        text
        + f" by Nemenyi's test at the {_ALPHA:.0%} level."
        + (f" {test.note[:1].upper()}{test.note[1:]}." if test.note else "")
    )


def tests(run: Run) -> Table:
    """Return a table of Friedman's test for every metric and model."""
    rows = [
        cells(
            row.metric,
            row.model,
            Cell(str(row.n_datasets), value=row.n_datasets),
            Cell(str(row.n_selectors), value=row.n_selectors),
            Cell(number(row.statistic, 2), value=row.statistic),
            Cell(number(row.p_value), value=row.p_value),
            Cell(number(row.f_p_value), value=row.f_p_value),
            Cell(fixed(row.critical_difference, 2), value=row.critical_difference),
            row.note,
        )
        for row in run.tables["friedman"].itertuples()
    ]
    headers = ["metric", "model", "data sets", "selectors", "χ²", "p", "p of F", "critical difference", "note"]
    return Table(headers, rows, n_text=2, text_columns=(8,))


def ranks(run: Run) -> list[Table]:
    """Return one table of mean ranks (selectors by models) per metric, the main metric first."""
    by_metric = run.tables["ranks"].groupby("metric", sort=False)
    parts = sorted(by_metric, key=lambda part: part[0] != run.lead_metric())
    return [_rank_table(run, metric, part) for metric, part in parts]


def _rank_table(run: Run, metric: str, known: pd.DataFrame) -> Table:
    models = list(dict.fromkeys(known["model"]))
    comparable = known[known["n_datasets"] == known.groupby("model")["n_datasets"].transform("max")]
    best, worst = (comparable.groupby("model")["mean_rank"].agg(of) for of in ("min", "max"))
    found = {(row.selector, row.model): row for row in known.itertuples()}
    rows = []
    for selector in run.present(known):
        row = [Cell(selector)]
        for model in models:
            rank = found.get((selector, model))
            if rank is None:
                row.append(Cell(NONE))
            else:
                is_best = rank.Index in comparable.index and rank.mean_rank == best[model] < worst[model]
                n = f"n = {rank.n_datasets}"
                row.append(Cell(fixed(rank.mean_rank, 2), n, best=is_best, value=rank.mean_rank))
        rows.append(row)
    return Table(["selector", *models], rows, caption=f"{metric}: mean rank over n data sets")
