"""The summary of a comparison, and lookup of its data sets, selectors and blankets by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ...core.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from ...reporting.report import Run


def summary_rows(run: Run) -> list[dict[str, Any]]:
    """Return the rows of the summary, with scores as pairs of mean and standard deviation."""
    rows = []
    for dataset in run.cards:
        metric = run.main_metric(dataset)
        scores = run.rows(run.scores(dataset), metric=metric) if metric else run.tables["scores"][:0]
        final = set(run.ran(dataset))
        for selector in run.shown:
            own = scores[scores["selector"] == selector]
            size: Any = len(run.blanket(dataset, selector)) if selector in final else ""
            size = 0 if selector == run.nothing else size
            shown = {f"{s.model}, {s.metric}": (s.mean, s.sd) for s in own.itertuples()}
            rows.append({"dataset": dataset, "selector": selector, "features": size, **shown})
    return rows


def score_text(mean: float, sd: float) -> str:
    """Return mean ± standard deviation as text; missing parts are left out."""
    return "" if pd.isna(mean) else f"{mean:.3f}" if pd.isna(sd) else f"{mean:.3f} ± {sd:.3f}"


def dataset_of(run: Run, dataset: str | None) -> str:
    """Return the named data set, or the only one."""
    known = list(run.cards)
    if dataset is None and len(known) > 1:
        raise ConfigError(f"name one of the data sets: {', '.join(known)}.")
    return known[0] if dataset is None else one_of("data set", dataset, known)


def blanket_of(run: Run, selector: str, dataset: str) -> pd.DataFrame:
    """Return the final blanket of a selector on a data set; raises `ConfigError` with the reason if there is none."""
    one_of("selector", selector, list(run.selectors))
    if selector not in run.ran(dataset):
        pair = {"dataset": dataset, "selector": selector}
        told = [reason for frame in (run.skipped, run.outcomes) for reason in run.rows(frame, **pair)["reason"]]
        why = told[0] if told else "none was asked for; set final to true"
        raise ConfigError(f"{selector} has no final blanket on {dataset}: {why.removesuffix('.')}.")
    return run.blanket(dataset, selector)


def one_of(what: str, name: str, known: list[str]) -> str:
    """Return a known name; raises `ConfigError` for others."""
    if name not in known:
        raise ConfigError(f"there is no {what} {name!r}. {did_you_mean(name, known)}")
    return name
