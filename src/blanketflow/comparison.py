"""What a comparison found: tables as frames, charts as objects, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .artefacts import write_text
from .core.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from .report import Run


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The outcome of `blanketflow.compare`, shown in a notebook as a table of scores.

    Result tables are attributes, with the columns that the workflow's have. Charts are methods, which return Altair
    charts; where there is one data set it need not be named.

    Attributes
    ----------
    run : blanketflow.report.Run
        Everything that the report shows.
    """

    run: Run

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every result table by name."""
        return dict(self.run.tables)

    @property
    def scores(self) -> pd.DataFrame:
        """Mean and standard deviation of each metric over the evaluation splits, and the difference to all features."""
        return self.run.tables["scores"]

    @property
    def blankets(self) -> pd.DataFrame:
        """The features of each final blanket, most important first."""
        return self.run.tables["blankets"]

    @property
    def stability(self) -> pd.DataFrame:
        """How much the sets of a selector vary over the splits: Nogueira's index with its interval."""
        return self.run.tables["stability"]

    @property
    def agreement(self) -> pd.DataFrame:
        """How alike the sets of two selectors are."""
        return self.run.tables["agreement"]

    @property
    def ranks(self) -> pd.DataFrame:
        """Mean rank of each selector over the data sets."""
        return self.run.tables["ranks"]

    @property
    def wins(self) -> pd.DataFrame:
        """On how many data sets one selector beats another."""
        return self.run.tables["wins"]

    @property
    def friedman(self) -> pd.DataFrame:
        """Whether the ranks of the selectors differ over the data sets."""
        return self.run.tables["friedman"]

    @property
    def runtime(self) -> pd.DataFrame:
        """Number of tests and seconds of each selector."""
        return self.run.tables["runtime"]

    @property
    def truth(self) -> pd.DataFrame:
        """Precision, recall and F1 against the true blanket, where it is known."""
        return self.run.tables["truth"]

    @property
    def folds(self) -> pd.DataFrame:
        """One row a data set, selector, split and fold: size, z, chosen, n_tests, seconds."""
        return self.run.folds

    @property
    def outcomes(self) -> pd.DataFrame:
        """What was not ``ok``: dataset, selector, split, stage, status, reason."""
        return self.run.outcomes

    @property
    def skipped(self) -> pd.DataFrame:
        """Pairs that do not suit each other: dataset, selector, reason."""
        return self.run.skipped

    def blanket(self, selector: str, dataset: str | None = None) -> list[str]:
        """Return the features of a selector's final blanket, most important first.

        Raises
        ------
        ConfigError
            If there is no such selector or data set, or the selector has no final blanket there; the message says why.
        """
        dataset = self._dataset(dataset)
        if selector not in self.run.selectors:
            raise ConfigError(f"there is no selector {selector!r}. {did_you_mean(selector, self.run.selectors)}")
        if selector not in self.run.ran(dataset):
            raise ConfigError(f"{selector} has no final blanket on {dataset}: {self._why_none(selector, dataset)}.")
        return list(self.run.blanket(dataset, selector)["feature"])

    def report(self, path: str | Path) -> Path:
        """Write the report, one HTML page that opens offline, and return its path."""
        from .report import render

        write_text(path, render(self.run))
        return Path(path)

    # --- charts ------------------------------------------------------------------------------------------------------

    def score_by_selector(self, dataset: str | None = None, metric: str | None = None) -> Any:
        """Draw the score of each selector beside that of all features, for each model."""
        from . import plots

        dataset = self._dataset(dataset)
        return plots.score_by_selector(self.run.scores(dataset), self._metric(dataset, metric), self.run.baseline)

    def size_against_score(
        self, dataset: str | None = None, metric: str | None = None, model: str | None = None
    ) -> Any:
        """Draw how small the blankets are against how well a model predicts from them."""
        from . import plots

        dataset = self._dataset(dataset)
        metric, model = self._metric(dataset, metric), model or self.run.main_model(dataset)
        return plots.size_against_score(self.run.scores(dataset), metric, model, self.run.baseline)

    def selection_frequency(self, selector: str, dataset: str | None = None) -> Any:
        """Draw which fold of the final split chose which feature."""
        from . import plots

        dataset = self._dataset(dataset)
        blanket = self.blanket(selector, dataset)
        own = {"dataset": dataset, "selector": selector, "split": "full"}
        return plots.selection_frequency(
            self.run.rows(self.run.members, **own), self.run.rows(self.run.folds, **own), blanket
        )

    # --- what a notebook shows ---------------------------------------------------------------------------------------

    def summary(self) -> pd.DataFrame:
        """Return one row a data set and selector: size of the final blanket, and the score of each model.

        Scores are mean ± standard deviation over the evaluation splits, of the data set's leading metric.
        """
        rows = []
        for dataset in self.run.cards:
            metric = self.run.main_metric(dataset)
            scores = self.run.rows(self.run.scores(dataset), metric=metric) if metric else self.scores[:0]
            final = set(self.run.ran(dataset))
            for selector in self.run.selectors:
                own = scores[scores["selector"] == selector]
                size = len(self.run.blanket(dataset, selector)) if selector in final else ""
                shown = {f"{s.model}, {s.metric}": _score(s.mean, s.sd) for s in own.itertuples()}
                rows.append({"dataset": dataset, "selector": selector, "features": size, **shown})
        return pd.DataFrame(rows).fillna("").set_index(["dataset", "selector"])

    def __repr__(self) -> str:
        return f"{self.summary().to_string()}{''.join(f'{chr(10)}{line}' for line in self._notes())}"

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(line)}</li>" for line in self._notes())
        return self.summary().to_html() + (f"<ul>{notes}</ul>" if notes else "")

    def _notes(self) -> list[str]:
        """Return in words what did not run or did not end well, once a pair."""
        skipped = [f"{s.dataset}, {s.selector}: skipped, {s.reason}" for s in self.skipped.itertuples()]
        ended = [f"{o.dataset}, {o.selector}: {o.status}, {o.reason}" for o in self.outcomes.itertuples()]
        return list(dict.fromkeys([*skipped, *ended]))

    def _why_none(self, selector: str, dataset: str) -> str:
        pair = {"dataset": dataset, "selector": selector}
        told = [*self.run.rows(self.skipped, **pair)["reason"], *self.run.rows(self.outcomes, **pair)["reason"]]
        return told[0] if told else "none was asked for; set final=True"

    def _dataset(self, dataset: str | None) -> str:
        known = list(self.run.cards)
        if dataset is None and len(known) > 1:
            raise ConfigError(f"name one of the data sets: {', '.join(known)}.")
        if dataset is not None and dataset not in known:
            raise ConfigError(f"there is no data set {dataset!r}. {did_you_mean(dataset, known)}")
        return known[0] if dataset is None else dataset

    def _metric(self, dataset: str, metric: str | None) -> str:
        known = list(dict.fromkeys(self.run.scores(dataset)["metric"]))
        if not known:
            raise ConfigError(f"{dataset}: there are no scores. Set evaluation to 2 or more.")
        if metric is not None and metric not in known:
            raise ConfigError(f"{dataset}: there is no metric {metric!r}. {did_you_mean(metric, known)}")
        return metric or self.run.main_metric(dataset) or known[0]


def _score(mean: float, sd: float) -> str:
    return "" if pd.isna(mean) else f"{mean:.3f}" if pd.isna(sd) else f"{mean:.3f} ± {sd:.3f}"
