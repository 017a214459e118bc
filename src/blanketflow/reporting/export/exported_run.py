"""A finished run with the choice of what is exported of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...core.cards import Card

#: Asks for a test that suits the data set.
AUTO = "auto"

if TYPE_CHECKING:
    from ..report import Run


@dataclass(frozen=True)
class ExportedRun:
    """The content of a run's report and what is exported of it.

    `datasets` are exported, with the set of `selector`, or else of the selector of each data set's answer. `itself` is
    the content of CITATION.cff. `files` are the results that can be given away, without rows of tables, by their names.
    The run `ended` so many seconds after 1970-01-01 00:00 UTC.
    """

    run: Run
    datasets: Sequence[str]
    selector: str | None = None
    itself: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    ended: float = 0.0

    def chosen(self, dataset: str) -> str:
        """Return the selector whose set is exported; empty if none has a result."""
        answer = self.run.answer(dataset)
        return self.selector or (answer.selector if answer is not None else "")

    @cached_property
    def searched(self) -> list[str]:
        """The selectors that searched, in the order of the config."""
        statuses = self.run.tables["statuses"]
        own = statuses[statuses["dataset"].isin(self.datasets) & (statuses["stage"] == "select")]
        return self.run.present(own)

    def test_of(self, dataset: str, selector: str) -> Mapping[str, Any]:
        """Return type and options of the CI test of a search; empty for methods without one."""
        asked = self.run.searches.get(dataset, {}).get(selector, self.run.selectors[selector]).get("ci_test")
        if asked == AUTO:
            asked = self.run.provenance["config"]["ci_tests"][self.run.chosen_tests[dataset][0]]
        return asked or {}

    def used(self) -> tuple[list[Card], list[str]]:
        """Return the cards of methods, CI tests, kinds of targets and models that the run used, and ids without one."""
        ids = list(dict.fromkeys(self._ids()))
        known = self.run.method_cards
        return [known[name] for name in ids if name in known], [name for name in ids if ":" in name]

    def _ids(self) -> Iterator[str]:
        run = self.run
        for dataset in self.datasets:
            for selector in self.searched:
                yield run.selectors[selector]["method"]
                if test := self.test_of(dataset, selector):
                    yield test["type"]
            yield run.cards[dataset]["task"]
            yield from run.scores(dataset)["model"]
