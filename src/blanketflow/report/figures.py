"""Which charts the report shows, and their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import plots
from .run import FINAL, Run


def charts(run: Run) -> dict[str, Any]:
    """Return every chart as an Altair chart, by name.

    Names are ``{dataset}/{kind}``, ``{dataset}/{kind}/{selector}`` and ``across/{kind}/{metric}/{model}``. A chart that
    would show nothing is left out: scores of no model, folds of a selector that ran on fewer than two.
    """
    found = {f"{dataset}/{name}": chart for dataset in run.cards for name, chart in _of_dataset(run, dataset)}
    return found


def _of_dataset(run: Run, dataset: str) -> Iterator[tuple[str, Any]]:
    for selector in run.ran(dataset):
        yield from _of_blanket(run, dataset, selector)
    metric, model = run.main_metric(dataset), run.main_model(dataset)
    if metric is not None and model is not None:
        scores = run.scores(dataset)
        yield "score-by-selector", plots.score_by_selector(scores, metric, run.baseline)
        yield "size-against-score", plots.size_against_score(scores, metric, model, run.baseline)


def _of_blanket(run: Run, dataset: str, selector: str) -> Iterator[tuple[str, Any]]:
    blanket = run.blanket(dataset, selector)
    folds = run.rows(run.folds, dataset=dataset, selector=selector, split=FINAL)
    members = run.rows(run.members, dataset=dataset, selector=selector, split=FINAL)
    if folds["fold"].nunique() > 1 and len(members):
        chart = plots.selection_frequency(members, folds, list(blanket["feature"]))
        yield f"selection-frequency/{selector}", chart
