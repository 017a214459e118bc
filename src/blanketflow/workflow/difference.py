"""Compares two folders of results: config, data, blankets and scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import ArtefactError, DataError
from ..data.artefacts import read_json
from ..data.splits import FINAL
from ..data.storage import feature_names
from .read_results import Results

#: Smaller differences between means come from the order of summation.
SAME = 1e-12
#: Sections of a config with entries by name.
_ENTRIES = ("datasets", "ci_tests", "selectors")
#: Facts on the card of a data set that are compared.
_FACTS = ("n_rows", "n_features", "kinds", "task", "target", "missing", "n_groups")


@dataclass(frozen=True)
class Change:
    """One difference, with its value in the first and second run (None if absent) and a line of `words`."""

    what: str
    before: Any
    after: Any
    words: str


@dataclass(frozen=True)
class Difference:
    """What changed between two runs.

    Runs are equal if `config`, `data`, `blankets` and `scores` are; `software` lists differing versions.
    """

    config: list[Change] = field(default_factory=list)
    data: list[Change] = field(default_factory=list)
    blankets: list[Change] = field(default_factory=list)
    scores: list[Change] = field(default_factory=list)
    software: list[Change] = field(default_factory=list)

    @property
    def is_none(self) -> bool:
        """Whether config, data, blankets and scores are equal."""
        return not (self.config or self.data or self.blankets or self.scores)


def difference(before: str | Path, after: str | Path) -> Difference:
    """Compare two finished runs; raises `DataError` for unfinished ones and `ArtefactError` for wrong files.

    A data set or selector that only one run has is a change of the config; its blankets and scores are not compared.
    """
    runs = [Results(Path(folder)) for folder in (before, after)]
    for run in runs:
        if not run.is_finished():
            raise DataError(f"{run.folder} holds no finished run ({run.at('report')} is not there).")
    first, second = (run.config() for run in runs)
    shared = [name for name in first["order"]["datasets"] if name in second["order"]["datasets"]]
    pairs = {
        (dataset, selector)
        for dataset in shared
        for selector in first["order"]["selectors"]
        if selector in second["order"]["selectors"]
    }
    return Difference(
        config=list(_of_config(first, second)),
        data=[change for dataset in shared for change in _of_data(*runs, dataset)],
        blankets=list(_of_blankets(*runs, pairs)),
        scores=list(_of_scores(*runs, pairs)),
        software=list(_changes(*(_versions(run) for run in runs))),
    )


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for what in [*before, *(key for key in after if key not in before)]:
        if what not in after:
            yield Change(what, before[what], None, f"{what}: {_shown(before[what])}, gone")
        elif what not in before:
            yield Change(what, None, after[what], f"{what}: {_shown(after[what])}, new")
        elif before[what] != after[what]:
            yield Change(what, before[what], after[what], f"{what}: {_shown(before[what])} -> {_shown(after[what])}")


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


def _of_config(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the settings that differ; an entry of only one run, such as a selector, is one change."""
    for section in _ENTRIES:
        before, after = (config.get(section) or {} for config in (first, second))
        for name in [*before, *(name for name in after if name not in before)]:
            what = f"{section}.{name}"
            if name not in after:
                yield Change(what, before[name], None, f"{what}: gone")
            elif name not in before:
                yield Change(what, None, after[name], f"{what}: new")
            else:
                yield from _changes(_flat(what, before[name]), _flat(what, after[name]))
    rest = ({k: v for k, v in config.items() if k not in (*_ENTRIES, "order")} for config in (first, second))
    yield from _changes(*(_flat("", config) for config in rest))


def _flat(within: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings below a key by path, with the options of a method among its other settings."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        path = within if key == "options" else f"{within}.{key}" if within else key
        found |= _flat(path, value) if isinstance(value, Mapping) and value else {path: value}
    return found


def _versions(run: Results) -> dict[str, Any]:
    said = read_json(run.at("provenance"))
    packages = said.get("packages")
    return {name: said.get(name) for name in ("blanketflow", "python")} | dict(
        packages if isinstance(packages, Mapping) else {}
    )


def _of_data(first: Results, second: Results, dataset: str) -> Iterator[Change]:
    cards = [read_json(run.at("card", dataset=dataset)) for run in (first, second)]
    hashes = [card.get("content_hash") for card in cards]
    if hashes[0] == hashes[1]:
        return
    facts = [{f"{dataset} {fact}": card.get(fact) for fact in _FACTS} for card in cards]
    names = [feature_names(run.at("table", dataset=dataset)) for run in (first, second)]
    gone, new = ([name for name in one if name not in set(other)] for one, other in (names, reversed(names)))
    columns = "; ".join(f"{what} {_some(these)}" for what, these in (("without", gone), ("with", new)) if these)
    yield Change(f"{dataset} content", *hashes, f"{dataset}: other content{f' ({columns})' if columns else ''}")
    yield from _changes(*facts)


def _some(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _of_blankets(first: Results, second: Results, pairs: set[tuple[str, str]]) -> Iterator[Change]:
    ended = [_final_status(run, pairs) for run in (first, second)]
    found = [_final_blankets(run, pairs) for run in (first, second)]
    for pair in sorted(pairs):
        name = " ".join(pair)
        statuses = [of.get(pair, "no result") for of in ended]
        if statuses[0] != statuses[1]:
            yield Change(f"{name} status", *statuses, f"{name}: {statuses[0]} -> {statuses[1]}")
        before, after = (of.get(pair, {}) for of in found)
        gone, new = [f for f in before if f not in after], [f for f in after if f not in before]
        told = [f"{sign} {_some(names)}" for sign, names in (("without", gone), ("with", new)) if names]
        roles = [f"{f} {before[f]} -> {after[f]}" for f in before if f in after and before[f] != after[f]]
        told += [f"role of {_some(roles)}"] if roles else []
        if told:
            sizes = f"{len(before)} -> {len(after)} features" if len(before) != len(after) else f"{len(after)} features"
            yield Change(name, before, after, f"{name}: {sizes}, {', '.join(told)}")


def _final_blankets(run: Results, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], dict[str, str]]:
    """Return the features of each final blanket with their roles."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    for dataset, selector, feature, role in run.rows("blankets", "dataset", "selector", "feature", "role"):
        if (dataset, selector) in pairs:
            found.setdefault((dataset, selector), {})[feature] = role
    return found


def _final_status(run: Results, pairs: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    rows = run.rows("statuses", "dataset", "selector", "split", "stage", "status")
    return {row[:2]: row[4] for row in rows if row[:2] in pairs and row[2] == FINAL and row[3] == "select"}


def _of_scores(first: Results, second: Results, pairs: set[tuple[str, str]]) -> Iterator[Change]:
    means = [_means(run, pairs) for run in (first, second)]
    changed = []
    for key, before in means[0].items():
        after = means[1].get(key)
        if after is None or _equal(before, after):
            continue
        name = " ".join(key)
        size = after - before if before == before and after == after else math.inf
        words = f"{name}: {before:.4f} -> {after:.4f} ({size:+.4f})"
        changed.append((-abs(size), Change(name, before, after, words)))
    yield from (change for _, change in sorted(changed, key=lambda one: one[0]))


def _equal(a: float, b: float) -> bool:
    return (a != a and b != b) or abs(a - b) <= SAME * max(1.0, abs(a))


def _means(run: Results, pairs: set[tuple[str, str]]) -> dict[tuple[str, ...], float]:
    rows = run.rows("scores", "dataset", "selector", "model", "metric", "mean")
    try:
        return {row[:4]: float("nan") if row[4] is None else float(row[4]) for row in rows if row[:2] in pairs}
    except (TypeError, ValueError) as error:
        raise ArtefactError(f"{run.at('result_table', table='scores')} holds a mean that is not a number.") from error
