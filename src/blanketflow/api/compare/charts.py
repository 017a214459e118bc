"""Charts of a comparison as Altair objects, equal to those of the report; defaults are the main metric and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.errors import ConfigError
from ...data.splits import FINAL
from ...reporting import plots
from .summary import blanket_of, dataset_of, one_of

if TYPE_CHECKING:
    import pandas as pd

    from ...reporting.report import Run


@dataclass(frozen=True)
class Charts:
    """The charts of a run.

    All return Altair charts and raise `ConfigError` for an unknown data set, selector, metric or model, or if there is
    no score. `dataset` is optional if there is only one. Default `metric` and `model` lead the report.
    """

    run: Run

    def score_by_selector(self, dataset: str | None = None, metric: str | None = None) -> Any:
        """Draw the score of each selector and that of all features, for each model."""
        scores, metric, _ = self._scores(dataset, metric)
        return plots.score_by_selector(scores, metric, self.run.baseline, self.run.nothing)

    def size_against_score(
        self, dataset: str | None = None, metric: str | None = None, model: str | None = None
    ) -> Any:
        """Draw the score of a model against the size of the blankets."""
        return plots.size_against_score(*self._scores(dataset, metric, model), self.run.baseline, self.run.nothing)

    def cost_against_score(
        self,
        dataset: str | None = None,
        metric: str | None = None,
        model: str | None = None,
        cost: str = "selection_seconds",
    ) -> Any:
        """Draw the score of a model against the cost of selection, in seconds or ``n_tests``."""
        scores, metric, model = self._scores(dataset, metric, model)
        runtime = self.run.rows(self.run.tables["runtime"], dataset=dataset_of(self.run, dataset))
        return plots.cost_against_score(scores, runtime, metric, model, cost, self.run.baseline, self.run.nothing)

    def selection_frequency(self, selector: str, dataset: str | None = None) -> Any:
        """Draw which folds of the final split selected which features."""
        dataset = dataset_of(self.run, dataset)
        own = {"dataset": dataset, "selector": selector, "split": FINAL}
        members, folds = (self.run.rows(frame, **own) for frame in (self.run.members, self.run.folds))
        return plots.selection_frequency(members, folds, list(blanket_of(self.run, selector, dataset)["feature"]))

    def blanket_graph(self, selector: str, dataset: str | None = None) -> Any:
        """Draw the final blanket as a graph around the target, with roles and importance."""
        dataset = dataset_of(self.run, dataset)
        return plots.blanket_graph(blanket_of(self.run, selector, dataset), self.run.cards[dataset]["target"]["name"])

    def stability_by_selector(self, dataset: str | None = None) -> Any:
        """Draw Nogueira's stability index of each selector with its interval."""
        dataset = dataset_of(self.run, dataset)
        return plots.stability_by_selector(self.run.rows(self.run.tables["stability"], dataset=dataset))

    def agreement(self, dataset: str | None = None) -> Any:
        """Draw the agreement of the final blankets of every two selectors."""
        dataset = dataset_of(self.run, dataset)
        return plots.agreement(self.run.rows(self.run.tables["agreement"], dataset=dataset), self.run.ran(dataset))

    def wins(self, metric: str | None = None, model: str | None = None) -> Any:
        """Draw on how many data sets each selector beats each other one."""
        metric, model = self._measure(metric, model)
        return plots.wins(self.run.rows(self.run.tables["wins"], metric=metric, model=model), list(self.run.selectors))

    def critical_difference(self, metric: str | None = None, model: str | None = None) -> Any:
        """Draw the mean ranks over the data sets, with bars over those that do not differ by Nemenyi's test."""
        metric, model = self._measure(metric, model)
        own = {"metric": metric, "model": model}
        test = self.run.rows(self.run.tables["friedman"], **own).iloc[0]
        ranks = self.run.rows(self.run.tables["friedman_ranks"], **own)
        return plots.critical_difference(ranks, test["critical_difference"], int(test["n_datasets"]))

    def _scores(
        self, dataset: str | None, metric: str | None, model: str | None = None
    ) -> tuple[pd.DataFrame, str, str]:
        """Return the scores of a data set, and the metric and model to draw."""
        dataset = dataset_of(self.run, dataset)
        scores = self.run.scores(dataset)
        leading = {"metric": self.run.main_metric(dataset), "model": self.run.main_model(dataset)}
        return scores, *_chosen(scores, leading, metric=metric, model=model)

    def _measure(self, metric: str | None, model: str | None) -> tuple[str, str]:
        """Return the metric and model for comparing data sets; defaults are the main ones of the first data set."""
        first = next(iter(self.run.cards))
        leading = {"metric": self.run.main_metric(first), "model": self.run.main_model(first)}
        return _chosen(self.run.tables["friedman"], leading, metric=metric, model=model)


def _chosen(frame: pd.DataFrame, leading: dict[str, Any], **asked: str | None) -> tuple[str, str]:
    """Return the named metric and model if the frame has them, or the main ones."""
    if None in leading.values():
        raise ConfigError("there are no scores to draw. Set evaluation to 2 or more, and look at outcomes.")
    known = {name: list(dict.fromkeys(frame[name])) for name in asked}
    return tuple(one_of(name, asked[name] or leading[name], known[name]) for name in ("metric", "model"))
