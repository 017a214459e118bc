"""The page: the sections filled into the template, with style and charts inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import across, dataset, overview
from .figures import draw
from .methods import methods
from .run import Run
from .text import count, linked, plain

_HERE = Path(__file__).parent


def render(run: Run, figures: Mapping[str, str] | None = None, title: str = "Markov-blanket feature selection") -> str:
    """Return the report as one HTML page that loads nothing and runs no script.

    Equal input gives equal text: the page holds no date.

    Parameters
    ----------
    run : Run
        What to report.
    figures : mapping of str to str, optional
        The charts, as :func:`draw` returns; drawn here if not given.
    title : str
        The page's heading.
    """
    figures = draw(run) if figures is None else figures
    # Names of data sets, features and classes come from people's files: everything but our own SVG is escaped.
    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals |= {"count": count}
    ended, not_run = overview.failures(run)
    return environment.get_template("template.html").render(
        title=title,
        asked=overview.asked(run),
        summary=overview.summary(run),
        sections=[_section(run, name, at, figures) for at, name in enumerate(run.cards, start=1)],
        ranks=across.ranks(run),
        stability=across.stability(run),
        runtime=across.runtime(run),
        ended=ended,
        not_run=not_run,
        methods=methods(run),
        baseline=run.baseline,
        provenance=_provenance(run.provenance),
        packages=[(name, plain(version)) for name, version in sorted(dict(run.provenance.get("packages", {})).items())],
        config=_config(run.provenance.get("config")),
        reference=linked("Nogueira, Sechidis and Brown (2018), JMLR 18(174)"),
    )


def _section(run: Run, name: str, at: int, figures: Mapping[str, str]) -> dict[str, Any]:
    metric = run.main_metric(name)
    metrics = list(dict.fromkeys(run.scores(name)["metric"]))
    found = dataset.blankets(run, name)
    return {
        "id": f"data-{at}",
        "name": run.cards[name].get("name", name),
        "sentence": overview.sentence(run, name),
        "lead": overview.lead(run, name),
        "facts": dataset.facts(run.cards[name]),
        "blankets": found,
        "model": run.main_model(name),
        "metric": metric,
        "scores": dataset.score_table(run, name, metric) if metric else None,
        "other_scores": [dataset.score_table(run, name, other) for other in metrics if other != metric],
        "truth": dataset.truth_table(run, name),
        "charts": {kind: figures.get(f"{name}/{kind}") for kind in ("score-by-selector", "size-against-score")},
        "heatmaps": {b.selector: figures.get(f"{name}/selection-frequency/{b.selector}") for b in found},
    }


def _provenance(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, plain(value)) for key, value in known.items() if key not in ("packages", "config")]


def _config(config: Any) -> str:
    if config is None or isinstance(config, str):
        return config or ""
    return json.dumps(config, indent=2, ensure_ascii=False)
