"""Which charts the report shows, and their names."""

from __future__ import annotations

from .. import plots
from .run import FINAL, Run


def draw(run: Run) -> dict[str, str]:
    """Return every chart as SVG text, by name.

    Names are ``{dataset}/score-by-selector``, ``{dataset}/size-against-score`` and
    ``{dataset}/selection-frequency/{selector}``. A chart that would show nothing is left out: scores of no model,
    folds of a selector that ran on fewer than two.
    """
    charts = {}
    for dataset in run.cards:
        metric, model = run.main_metric(dataset), run.main_model(dataset)
        if metric is not None and model is not None:
            scores = run.scores(dataset)
            charts[f"{dataset}/score-by-selector"] = plots.score_by_selector(scores, metric, run.baseline)
            charts[f"{dataset}/size-against-score"] = plots.size_against_score(scores, metric, model, run.baseline)
        for selector in run.ran(dataset):
            folds = run.rows(run.folds, dataset=dataset, selector=selector, split=FINAL)
            members = run.rows(run.members, dataset=dataset, selector=selector, split=FINAL)
            if folds["fold"].nunique() > 1 and len(members):
                blanket = list(run.blanket(dataset, selector)["feature"])
                charts[f"{dataset}/selection-frequency/{selector}"] = plots.selection_frequency(members, folds, blanket)
    return {name: plots.svg(chart) for name, chart in charts.items()}
