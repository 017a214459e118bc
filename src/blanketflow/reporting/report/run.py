"""The results of a finished run that the report shows, and the questions that several sections ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ...core.cards import Card
from ...data.splits import FINAL
from ..tables import HIGHER_IS_BETTER


@dataclass(frozen=True)
class Run:
    """Everything that the report shows.

    `tables` holds all result tables of `blanketflow.reporting.tables.TABLES` by name. Every other frame has the columns
    dataset and selector, and `folds` (fold, size, chosen), `members` (fold and feature: the set of each fold) and
    `outcomes` (stage, status and reason of all that is not ``ok``) the column split; `skipped` has the reason why a
    pair was not run. `cards` are those of the data sets and `selectors` their specs, both in the order to show.
    `method_cards` are the cards of the methods and CI tests in the specs. `provenance` has the versions, the seed, the
    platform and the config. `verdicts` are what methods say of their final answers, by data set and selector, and
    `chosen_tests` the CI test that was chosen for each data set where selectors left it open, with the reason.
    """

    tables: Mapping[str, pd.DataFrame]
    folds: pd.DataFrame
    members: pd.DataFrame
    outcomes: pd.DataFrame
    skipped: pd.DataFrame
    cards: Mapping[str, Mapping[str, Any]]
    selectors: Mapping[str, Mapping[str, Any]]
    method_cards: Mapping[str, Card] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    verdicts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    chosen_tests: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def baseline(self) -> str:
        """The selector that keeps all features."""
        return next((name for name, spec in self.selectors.items() if spec.get("method") == "all"), "all")

    def is_reference(self, selector: str) -> bool:
        """Return whether a selector serves only for comparison: all features, or the true blanket."""
        return self.selectors.get(selector, {}).get("method", selector) in ("all", "true-blanket")

    def rows(self, frame: pd.DataFrame, **where: str) -> pd.DataFrame:
        """Return the rows of `frame` whose columns equal the given values."""
        for column, value in where.items():
            frame = frame[frame[column] == value]
        return frame

    def scores(self, dataset: str) -> pd.DataFrame:
        """Return the scores on one data set, with the selectors in the order of the config."""
        return self.in_order(self.rows(self.tables["scores"], dataset=dataset))

    def in_order(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows with their selectors in the order of the config."""
        order = {name: at for at, name in enumerate(self.selectors)}
        return frame.sort_values("selector", key=lambda s: s.map(order).fillna(len(order)), kind="stable")

    def ran(self, dataset: str, split: str = FINAL) -> list[str]:
        """Return the selectors that have a result on a split, in the order of the config."""
        return self.present(self.rows(self.folds, dataset=dataset, split=split))

    def present(self, frame: pd.DataFrame) -> list[str]:
        """Return the selectors that have a row in `frame`, in the order of the config."""
        names = set(frame["selector"])
        return [name for name in self.selectors if name in names]

    def blanket(self, dataset: str, selector: str) -> pd.DataFrame:
        """Return the rows of the final blanket, most important feature first."""
        return self.rows(self.tables["blankets"], dataset=dataset, selector=selector)

    def main_metric(self, dataset: str) -> str | None:
        """Return the metric that is shown first for a data set; None if there is no score."""
        known = set(self.scores(dataset).dropna(subset=["mean"])["metric"])
        return next((metric for metric in HIGHER_IS_BETTER if metric in known), None)

    def main_model(self, dataset: str) -> str | None:
        """Return the model that predicts best from all features, so that no selector influences the choice.

        Without this baseline it is the first model. None if there is no score.
        """
        metric = self.main_metric(dataset)
        if metric is None:
            return None
        known = self.rows(self.scores(dataset), metric=metric).dropna(subset=["mean"])
        baseline = self.rows(known, selector=self.baseline)
        if baseline.empty:
            return known["model"].iloc[0]
        means = baseline["mean"]
        return baseline.loc[means.idxmax() if HIGHER_IS_BETTER[metric] else means.idxmin(), "model"]

    def lead_metric(self) -> str | None:
        """Return the main metric of most data sets, by which selectors are compared over data sets."""
        return _most_common(self.main_metric(dataset) for dataset in self.cards)

    def lead_model(self) -> str | None:
        """Return the main model of most data sets that have this metric."""
        metric = self.lead_metric()
        return _most_common(self.main_model(name) for name in self.cards if self.main_metric(name) == metric)


def _most_common(names: Iterable[str | None]) -> str | None:
    known = Counter(name for name in names if name is not None)
    return known.most_common(1)[0][0] if known else None
