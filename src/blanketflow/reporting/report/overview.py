"""The first screen: what was run and what was found, in sentences."""

from __future__ import annotations

from ...data.splits import FINAL
from ..text import NONE, count, mean_sd
from .run import Run
from .table import Cell, Table, cells

#: Features of a union that are named.
MOST_NAMED = 40


def asked(run: Run) -> str:
    """Return in one sentence what was run."""
    splits = sorted({split for split in run.folds["split"] if split != FINAL})
    models = list(dict.fromkeys(run.tables["scores"]["model"]))
    parts = [f"{count(len(run.cards), 'data set')} and {count(len(run.selectors), 'selector')}"]
    if splits:
        parts.append(f"each selector evaluated on {count(len(splits), 'split')} with rows that it did not see")
    if models:
        parts.append(f"by {count(len(models), 'model')} ({', '.join(models)})")
    return ", ".join(parts) + "."


def summary(run: Run) -> Table:
    """Return a table of the main score and the blanket size of every selector on every data set."""
    headers = ["selector", *(_header(run, dataset) for dataset in run.cards)]
    rows = [[Cell(name), *(_result(run, dataset, name) for dataset in run.cards)] for name in run.shown]
    return Table(headers, rows)


def _header(run: Run, dataset: str) -> str:
    name, metric = run.cards[dataset].get("name", dataset), run.main_metric(dataset)
    return f"{name}: {run.main_model(dataset)} {metric}" if metric else name


def _result(run: Run, dataset: str, selector: str) -> Cell:
    if len(run.rows(run.skipped, dataset=dataset, selector=selector)):
        return Cell("skipped")
    size = count(len(run.blanket(dataset, selector)), "feature") if selector in run.ran(dataset) else ""
    size = "no feature" if selector == run.nothing else size
    metric, model = run.main_metric(dataset), run.main_model(dataset)
    score = run.rows(run.scores(dataset), selector=selector, metric=metric, model=model).dropna(subset=["mean"])
    if len(score):
        row = score.iloc[0]
        return Cell(
            mean_sd(row["mean"], row["sd"]), size or "no final blanket", best=bool(row["best"]), value=row["mean"]
        )
    failed = len(run.rows(run.outcomes, dataset=dataset, selector=selector)) > 0
    return Cell(size or ("failed" if failed else NONE))


def unions(run: Run) -> Table:
    """Return a table of the features that are in the blanket of some target, by data set and selector."""
    rows = []
    for dataset, of_targets in run.targets.items():
        for selector in run.selectors:
            if run.is_reference(selector) or not any(selector in run.ran(part) for part in of_targets.values()):
                continue
            found = run.rows(run.tables["unions"], dataset=dataset, selector=selector)
            common = int((found["n_targets"] == len(of_targets)).sum())
            names = ", ".join(found["feature"][:MOST_NAMED]) + (", …" if len(found) > MOST_NAMED else "")
            sizes = [Cell(str(n), value=n) for n in (len(found), common)]
            rows.append((Cell(dataset), Cell(selector), Cell(", ".join(of_targets)), *sizes, Cell(names)))
    headers = ["data set", "selector", "targets", "features", "of all targets", "names"]
    return Table(headers, rows, n_text=3, text_columns=(5,))


def failures(run: Run) -> tuple[Table, Table]:
    """Return the stages without a clean result, and the pairs that were not run, each with its reason."""
    ended = [
        cells(row.dataset, row.selector, row.split, row.stage, row.status, row.reason)
        for row in run.outcomes.itertuples()
    ]
    not_run = [cells(row.dataset, row.selector, row.reason) for row in run.skipped.itertuples()]
    return (
        Table(["data set", "selector", "split", "stage", "status", "reason"], ended, n_text=6),
        Table(["data set", "selector", "reason"], not_run, n_text=3),
    )
