"""The report's section on what is predicted on unseen rows, for each further kind of target."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from blanketflow.core.column import TargetColumn
from blanketflow.models.observed import UnseenRows
from blanketflow.models.predictions import Predictions
from blanketflow.models.responses import counts_of, response
from blanketflow.reporting import plots
from blanketflow.reporting.report import charts, render
from blanketflow.reporting.report.unseen import unseen
from blanketflow.reporting.tables import OBSERVED
from blanketflow.reporting.tables.result_table import frame
from blanketflow.targets.facts import facts_of
from report_frames import HOSTILE, drawn_as_svg, report_run

DATASET, N = "breast-cancer", 120


def predicted(kind):
    """A target of 120 rows, predictions of it, and the names of its parts."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=N)
    if kind == "survival":
        time = rng.exponential(np.exp(-score)) * 400 + 1
        target = TargetColumn(HOSTILE, "numeric", time, (), kind, {"event": rng.random(N) < 0.7})
        return target, Predictions(response(target, kind), score), {"event": HOSTILE}
    if kind == "ordered":
        chances = np.stack([np.exp(-score), np.ones(N), np.exp(score)], axis=1)
        chances /= chances.sum(1, keepdims=True)
        codes = np.array([rng.choice(3, p=p) for p in chances])
        target = TargetColumn("grade", "categorical", codes, (HOSTILE, "fair", "good"), kind)
        return target, Predictions(codes, chances.argmax(1), chances, np.arange(3)), {}
    exposure = rng.uniform(1, 3, N)
    target = TargetColumn("visits", "integer", rng.poisson(exposure * np.exp(score)), (), kind, {"exposure": exposure})
    return target, Predictions(counts_of(response(target, kind)), exposure * np.exp(score)), {"exposure": HOSTILE}


@pytest.fixture(params=["survival", "count", "ordered"])
def run(request):
    made, kind = report_run(datasets=(DATASET,)), request.param
    target, predictions, names = predicted(kind)
    pool = UnseenRows(kind)
    pool.add(np.arange(N), target, {"any": predictions})
    ids = {"dataset": DATASET, "selector": made.answer(DATASET).selector, "model": made.main_model(DATASET)}
    parts = pd.concat([pd.DataFrame(part) for part in pool.summary()["any"]]).reindex(columns=list(OBSERVED.columns))
    rows = parts.assign(**ids).fillna({"label": ""}).to_dict("records")
    target_card = {"name": target.name, **facts_of(target, names)}
    card = made.cards[DATASET] | {"task": kind, "target": target_card}
    tables = {**made.tables, "observed": frame(OBSERVED, rows)}
    return dataclasses.replace(made, tables=tables, cards={DATASET: card})


def test_the_section_stands_in_the_page_with_chart_and_numbers(run):
    found = unseen(run, DATASET)
    page = render(run)
    assert "What is predicted on unseen rows" in page
    assert f"{N} test rows of the evaluation splits, each counted once" in page
    assert HOSTILE not in page.replace("\\u003c", "")  # names are text
    drawn = charts(run)
    assert f"{DATASET}/unseen" in drawn
    assert drawn_as_svg(found.chart).startswith("<svg")
    found.chart.to_dict()  # which validates it
    assert plots.full_spec(found.chart) == plots.full_spec(unseen(run, DATASET).chart)
    n_rows = {"survival": 3, "ordered": 3, "count": 10}[run.cards[DATASET]["task"]]
    assert len(found.table.rows) == n_rows


def test_numbers_at_risk_begin_with_all_rows(run):
    if run.cards[DATASET]["task"] == "survival":
        found = unseen(run, DATASET)
        assert [row[1].text for row in found.table.rows] == ["40", "40", "40"]
        assert found.table.headers[:3] == ["predicted risk", "0", "200"]


def test_without_an_evaluation_that_keeps_it_there_is_no_section():
    made = report_run(datasets=(DATASET,))
    assert unseen(made, DATASET) is None
    assert "What is predicted on unseen rows" not in render(made)
