"""Renders sections, style, scripts and charts into the page template."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .. import plots
from ..formatting import linked, plain
from ..tables.scores import is_rare, metrics_in_order
from . import dataset, html, overview
from .dataset import headline
from .drift import drift
from .figures import charts as all_charts
from .figures import narrow_charts
from .overview import methods
from .run import Run
from .unseen import unseen


def render(run: Run, charts: Mapping[str, Any] | None = None, title: str = "Markov-blanket feature selection") -> str:
    """Return the report as one self-contained HTML page; missing `charts` are made here.

    Without JavaScript only the charts are missing. The page has no date, so equal input gives equal text.
    """
    charts = all_charts(run) if charts is None else charts
    environment = html.environment()
    vega, own = html.vega(), html.own()
    environment.globals |= {
        "specs": _specs(charts),
        "narrow": _specs(narrow_charts(run)) if charts else {},
    }
    ended, not_run = overview.failures(run)
    truths = {name: dataset.truth_table(run, name) for name in run.cards}
    page = environment.get_template("page.html").render(
        title=title,
        policy=html.policy((vega, own)),
        scripts=(vega, own),
        chart_config=html.as_json(plots.CONFIG),
        asked=overview.asked(run),
        summary=overview.summary(run),
        found=overview.found(run),
        unions=overview.unions(run),
        sections=[_section(run, name, at) for at, name in enumerate(run.cards, start=1)],
        comparisons=overview.comparisons(run),
        tests=overview.tests(run),
        ranks=overview.ranks(run),
        truths=[(run.cards[name].get("name", name), table) for name, table in truths.items() if table],
        ended=ended,
        not_run=not_run,
        methods=methods(run),
        baseline=run.baseline,
        nothing=run.nothing,
        without=overview.without_features(run),
        provenance=[*_provenance(run.provenance), ("charts", f"{html.vega_versions()} (BSD-3-Clause)")],
        packages=[(name, plain(version)) for name, version in sorted(dict(run.provenance.get("packages", {})).items())],
        searches=html.as_json(run.searches),
        config=_config(run.provenance.get("config")),
        nogueira=linked("Nogueira, Sechidis and Brown (2018), JMLR 18(174)"),
        sechidis=linked("Sechidis and others (2020), doi:10.1007/978-3-030-46150-8_20"),
        demsar=linked("Demšar (2006), JMLR 7, 1-30"),
    )
    return page.replace("(95 % interval", "(95\N{NO-BREAK SPACE}% interval")  # a line does not end within the number


def _specs(charts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: html.as_json(html.compact(plots.short_spec(chart))) for name, chart in charts.items()}


def _section(run: Run, name: str, at: int) -> dict[str, Any]:
    leading = run.main_metrics(name)
    known = set(run.scores(name)["metric"])
    in_order = metrics_in_order(run.cards[name], run.selectors)
    others = [metric for metric in in_order if metric in known and metric not in leading]
    over_time = drift(run, name)
    return {
        "id": f"data-{at}",
        "key": name,
        "name": run.cards[name].get("name", name),
        "headline": headline(run, name, [over_time.sentence] if over_time is not None and over_time.is_large else []),
        "picture": dataset.picture(run, name),
        "facts": dataset.facts(
            run.cards[name], run.chosen_tests.get(name), run.unselective.get(name, ()), run.sampled.get(name, ())
        ),
        "blankets": dataset.blankets(run, name),
        "stability": dataset.stability(run, name),
        "model": run.main_model(name),
        "metric": run.main_metric(name),
        "is_rare": is_rare(run.cards[name]),
        "scores": [(metric, dataset.score_table(run, name, metric)) for metric in leading],
        "other_scores": [dataset.score_table(run, name, metric) for metric in others],
        "unseen": unseen(run, name),
        "drift": over_time,
        "held_out_groups": dataset.held_out_groups(run, name),
        "runtime": dataset.runtime(run, name),
        "has_truth": run.cards[name].get("truth") is not None,
    }


def _provenance(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, plain(value)) for key, value in known.items() if key not in ("packages", "config")]


def _config(config: Any) -> str:
    if config is None or isinstance(config, str):
        return config or ""
    return json.dumps(config, indent=2, ensure_ascii=False)
