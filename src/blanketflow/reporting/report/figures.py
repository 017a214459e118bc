"""The charts of the report and their names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ...data.splits import FINAL
from .. import plots
from . import overview
from .run import Run
from .unseen import unseen

#: The cost of a selector: name of the chart to column of the table ``runtime``.
COSTS = {"tests": "n_tests", "seconds": "selection_seconds"}


def charts(run: Run) -> dict[str, Any]:
    """Return the full Vega-Lite specification of every chart by name.

    Names are ``{dataset}/{kind}``, ``{dataset}/{kind}/{selector}`` and ``across/{kind}/{metric}/{model}``. Empty charts
    are left out: scores without evaluation, and folds if a selector has fewer than two.
    """
    with plots.unchecked():
        of_datasets = (
            (f"{dataset}/{name}", chart) for dataset in run.cards for name, chart in _of_dataset(run, dataset)
        )
        across_datasets = ((f"across/{name}", chart) for name, chart in _across(run))
        return {name: plots.full_spec(chart) for name, chart in chain(of_datasets, across_datasets)}


def _of_dataset(run: Run, dataset: str) -> Iterator[tuple[str, Any]]:
    compared = [name for name in run.ran(dataset) if name not in (run.baseline, run.nothing)]
    for selector in compared:
        yield from _of_blanket(run, dataset, selector)
    stability = run.in_order(run.rows(run.tables["stability"], dataset=dataset)).dropna(subset=["stability"])
    if len(stability):
        yield "stability", plots.stability_by_selector(stability)
    metric, model = run.main_metric(dataset), run.main_model(dataset)
    if metric is not None and model is not None:
        scores, runtime = run.scores(dataset), run.rows(run.tables["runtime"], dataset=dataset)
        references = {"baseline": run.baseline, "nothing": run.nothing}
        yield "score-by-selector", plots.score_by_selector(scores, metric, **references)
        yield "size-against-score", plots.size_against_score(scores, metric, model, **references)
        for name, cost in COSTS.items():
            chart = plots.cost_against_score(scores, runtime, metric, model, cost, **references)
            yield f"score-against-{name}", chart
    if (seen := unseen(run, dataset)) is not None:
        yield "unseen", seen.chart
    agreement = run.rows(run.tables["agreement"], dataset=dataset)
    if len(compared) > 1:
        yield "agreement", plots.agreement(agreement, compared)


def narrow_charts(run: Run) -> dict[str, Any]:
    """Return the charts that replace others on narrow screens, by the same names."""
    found = {}
    with plots.unchecked():
        for dataset, card in run.cards.items():
            for selector in run.ran(dataset):
                blanket = run.blanket(dataset, selector)
                if len(blanket) and selector not in (run.baseline, run.nothing):
                    chart = plots.blanket_tree(blanket, str(card["target"]["name"]))
                    found[f"{dataset}/blanket/{selector}"] = plots.full_spec(chart)
    return found


def _of_blanket(run: Run, dataset: str, selector: str) -> Iterator[tuple[str, Any]]:
    blanket = run.blanket(dataset, selector)
    if len(blanket):
        target = str(run.cards[dataset]["target"]["name"])
        shown = blanket[["feature", "role", "importance", "frequency"]]
        yield f"blanket/{selector}", plots.blanket_graph(shown, target)
    paths = run.told.get((dataset, selector), {}).get("paths")
    if paths and paths["shares"]:
        yield f"stability-paths/{selector}", plots.stability_paths(paths, set(blanket["feature"]))
    folds = run.rows(run.folds, dataset=dataset, selector=selector, split=FINAL)
    members = run.rows(run.members, dataset=dataset, selector=selector, split=FINAL)
    if folds["fold"].nunique() > 1 and len(members):
        chart = plots.selection_frequency(members, folds, list(blanket["feature"]))
        yield f"selection-frequency/{selector}", chart


def _across(run: Run) -> Iterator[tuple[str, Any]]:
    if len(run.cards) < 2:
        return
    for comparison in overview.comparisons(run):
        where = {"metric": comparison.metric, "model": comparison.model}
        name = f"{comparison.metric}/{comparison.model}"
        (test,) = run.rows(run.tables["friedman"], **where).itertuples()
        ranks = run.rows(run.tables["friedman_ranks"], **where)
        if test.critical_difference == test.critical_difference:
            chart = plots.critical_difference(ranks, test.critical_difference, test.n_datasets)
            yield f"critical-difference/{name}", chart
        won = run.rows(run.tables["wins"], **where)
        if len(won):
            yield f"wins/{name}", plots.wins(won, run.present(won))
