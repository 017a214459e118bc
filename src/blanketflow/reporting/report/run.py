"""The results of a finished run for the report, with queries shared by its sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ...core.cards import Card
from ...core.prior import group_of
from ...data.splits import FINAL
from ..tables.result_table import ALL, NOTHING, is_reference, rows_where, selector_of
from ..tables.scores import leading_metrics, leading_model


@dataclass(frozen=True)
class Run:
    """The content of the report.

    `tables` has `blanketflow.reporting.tables.TABLES` by name. Other frames have the columns dataset, selector and
    split: `folds` (fold, size, chosen), `members` (fold and feature of each fold's set) and `outcomes` (stage, status
    and reason if not ``ok``); `skipped` has pairs that were not run and why. `cards` and `selectors` (specs) are in
    display order; `method_cards` are those of methods, CI tests, further kinds of targets and models. `provenance` has
    versions, seed, platform and config. By data set and selector: `verdicts` of methods on their final answers, in
    words, `told` (the same with all numbers), and `searches` for `blanketflow.read_search`. By data set: `chosen_tests`
    for ``auto`` with the reason, `unselective` (a note on p-values) and `sampled` (searches on a sample). `targets` has
    the data set of each target, by the id of a data set with several.
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
    unselective: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sampled: Mapping[str, Sequence[str]] = field(default_factory=dict)
    targets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    searches: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    told: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)

    def feature_group(self, dataset: str, selector: str, feature: str) -> str:
        """Return the group of a feature for a selector; empty if it has none."""
        of_data = (self.cards[dataset].get("prior") or {}).get("feature_groups")
        return group_of(feature, self.selectors[selector].get("feature_groups") or of_data or {})

    @property
    def baseline(self) -> str:
        """The selector of all features."""
        return selector_of(ALL, self.selectors)

    @property
    def nothing(self) -> str:
        """The selector of no features, which is scored without being run."""
        return selector_of(NOTHING, self.selectors)

    @property
    def shown(self) -> list[str]:
        """The selectors in config order, followed by that of no features if it has scores."""
        scored = self.nothing in set(self.tables["scores"]["selector"])
        return list(dict.fromkeys([*self.selectors, *([self.nothing] if scored else [])]))

    def is_reference(self, selector: str) -> bool:
        """Return whether a selector is only a reference: all features, none, or the true blanket."""
        return is_reference(selector, self.selectors)

    def answer(self, dataset: str) -> Any:
        """Return the row of the table ``answers`` for a data set, or None."""
        found = self.rows(self.tables["answers"], dataset=dataset)
        return next(found.itertuples(), None)

    def rows(self, frame: pd.DataFrame, **where: str) -> pd.DataFrame:
        """Return the rows of `frame` with the given column values."""
        return rows_where(frame, **where)

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

    def confirmed(self, dataset: str, selector: str) -> pd.DataFrame:
        """Return the confirmation of the final blanket; no rows if it was not requested."""
        return self.rows(self.tables["confirmed"], dataset=dataset, selector=selector)

    def main_metrics(self, dataset: str) -> list[str]:
        """Return the leading metrics of a data set: two if a class is rare, none without scores."""
        return leading_metrics(self.scores(dataset), self.cards[dataset], self.selectors)

    def main_metric(self, dataset: str) -> str | None:
        """Return the first leading metric; None without scores."""
        return next(iter(self.main_metrics(dataset)), None)

    def main_model(self, dataset: str) -> str | None:
        """Return the model that predicts best from all features; None without scores."""
        return leading_model(self.scores(dataset), self.main_metric(dataset), self.selectors)

    def lead_metric(self) -> str | None:
        """Return the main metric of most data sets, used to compare selectors over data sets."""
        return _most_common(self.main_metric(dataset) for dataset in self.cards)

    def lead_model(self) -> str | None:
        """Return the main model of most data sets that have this metric."""
        metric = self.lead_metric()
        return _most_common(self.main_model(name) for name in self.cards if self.main_metric(name) == metric)


def _most_common(names: Iterable[str | None]) -> str | None:
    known = Counter(name for name in names if name is not None)
    return known.most_common(1)[0][0] if known else None
