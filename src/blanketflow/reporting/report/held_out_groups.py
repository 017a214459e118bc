"""The part of a data set's section that says whether the set holds at a group, such as a site, that it has not seen."""

from __future__ import annotations

import pandas as pd

from ..text import fixed, number, signed
from .run import Run
from .table import Cell, Table, cells


def held_out_groups(run: Run, dataset: str) -> Table | None:
    """Return a table of groups by selectors: the score there, and the change to groups that were seen.

    It is of the metric and the model that lead on the data set. None if no groups were held out.
    """
    metric, model = run.main_metric(dataset), run.main_model(dataset)
    found = run.rows(run.tables["held_out_groups"], dataset=dataset, metric=metric or "", model=model or "")
    if found.empty:
        return None
    names = run.present(found)
    groups = found.drop_duplicates("group")
    rows = [_row("mean", groups, found, names)]
    rows += [
        _row(group, run.rows(groups, group=group), run.rows(found, group=group), names) for group in groups["group"]
    ]
    return Table(["group", "rows", "no feature", *names], rows, caption=f"{model}, {metric}")


def _row(name: str, groups: pd.DataFrame, found: pd.DataFrame, selectors: list[str]) -> list[Cell]:
    n_rows, prior = groups["n_rows"].mean(), groups["prior"].mean()
    means = found.groupby("selector")[["value", "seen"]].mean().reindex(selectors)
    scores = [Cell(fixed(own.value), signed(own.value - own.seen), value=own.value) for own in means.itertuples()]
    return cells(name, Cell(number(n_rows, 1), value=n_rows), Cell(fixed(prior), value=prior), *scores)
