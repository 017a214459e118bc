"""What the report says first of a data set: the answer with names, roles and scores, warnings, and findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...data.findings.finding import SERIOUS
from ...data.splits import FINAL
from ..tables.answers import YES
from ..tables.confirmed import in_words
from ..text import count
from .run import Run

#: The names of roles for a reader; a member is one of which the method tells none.
ROLES = {
    "parent_or_child": "parent or child",
    "parent": "parent",
    "child": "child",
    "spouse": "spouse",
    "included": "asked for, not found",
}
#: Features that are named with their roles.
MOST_NAMED = 40
#: Kinds of findings that are shown beside the serious ones.
_SHOWN = (*SERIOUS, "missing-marker", "few-rows", "imbalance", "weights")


@dataclass(frozen=True)
class Headline:
    """What the report says first of a data set.

    `features` are the names of the answer's set, each with its role or an empty text, and `n_more` are not named;
    `roles_by` are the searches that gave the roles, and `confirmed` says of how many held-out rows confirm that they
    matter. `learned` says whether models do better than without any feature,
    `warnings` which searches did not end well, and why. `serious` and `other` are the findings about the table.
    """

    selector: str
    answer: str
    scores: str = ""
    evidence: str = ""
    confirmed: str = ""
    learned: bool = False
    features: list[tuple[str, str]] = field(default_factory=list)
    n_more: int = 0
    roles_by: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    serious: list[Mapping[str, Any]] = field(default_factory=list)
    other: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def first(self) -> str:
        """The first sentence of the answer: which features to keep. A name may hold a full stop."""
        names = [name for name, _ in self.features if name in self.answer]
        named = max((self.answer.find(name) + len(name) for name in names), default=0)
        end = self.answer.find(". ", named)
        return self.answer if end < 0 else self.answer[: end + 1]

    @property
    def rest(self) -> str:
        """What the answer says after its first sentence."""
        return self.answer[len(self.first) :].strip()

    @property
    def leaks(self) -> bool:
        """Whether leakage is suspected."""
        return any(finding["kind"] == "leakage" for finding in self.serious)


def headline(run: Run, dataset: str) -> Headline:
    """Return what the report says first of a data set."""
    answer = run.answer(dataset)
    findings = [finding for finding in run.cards[dataset].get("findings", []) if finding["kind"] in _SHOWN]
    said = {
        "warnings": _warnings(run, dataset),
        "serious": [finding for finding in findings if finding["kind"] in SERIOUS],
        "other": [finding for finding in findings if finding["kind"] not in SERIOUS],
    }
    if answer is None or not answer.selector:
        text = answer.answer if answer is not None else "No selector has a result."
        return Headline("", f"{text} The reasons are listed below.", **said)
    names = list(run.blanket(dataset, answer.selector)["feature"])
    roles = _roles(run, dataset)
    listed = _in_groups(run, dataset, answer.selector, names)
    shown = [(text, ROLES[roles[name][0]] if name in roles else "") for name, text in listed[:MOST_NAMED]]
    return Headline(
        answer.selector,
        answer.answer,
        answer.scores,
        answer.evidence,
        in_words(run.confirmed(dataset, answer.selector)),
        answer.learned == YES and not any(finding["kind"] == "leakage" for finding in findings),
        shown,
        max(0, len(listed) - MOST_NAMED),
        list(dict.fromkeys(roles[name][1] for name, _ in listed[:MOST_NAMED] if name in roles)),
        **said,
    )


def _in_groups(run: Run, dataset: str, selector: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return features with the text that names them: the first of a group with all of it, the others by themselves."""
    together: dict[str, list[str]] = {}
    for name in names:
        together.setdefault(run.feature_group(dataset, selector, name) or name, []).append(name)
    return [
        (members[0], members[0] if members == [name] else f"{name} ({', '.join(members)})")
        for name, members in together.items()
    ]


def _roles(run: Run, dataset: str) -> dict[str, tuple[str, str]]:
    """Return the role of each feature and which search gave it: the first one that could make its tests."""
    doubtful = set(run.rows(run.outcomes, dataset=dataset, split=FINAL, stage="select")["selector"])
    found: dict[str, tuple[str, str]] = {}
    for selector in run.ran(dataset):
        if selector in doubtful or run.is_reference(selector):
            continue
        for row in run.blanket(dataset, selector).itertuples():
            is_better = row.feature not in found or found[row.feature][0] == "included"
            if row.role in ROLES and is_better:
                found[row.feature] = (row.role, selector)
    return found


def _warnings(run: Run, dataset: str) -> list[str]:
    """Return which searches did not end well on how many splits, and the first reason."""
    ended = run.rows(run.outcomes, dataset=dataset, stage="select")
    found = []
    for selector in run.present(ended):
        own = run.rows(ended, selector=selector)
        found.append(f"{selector}: {own['status'].iloc[0]} on {count(len(own), 'split')}, {own['reason'].iloc[0]}")
    return found
